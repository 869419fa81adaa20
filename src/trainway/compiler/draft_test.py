"""Texts that are still being written."""

from dataclasses import dataclass

import pytest

from trainway.api.document import Place
from trainway.api.task.task_object import Origin
from trainway.compiler.draft import Finding, read_draft, steps_of

_JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata:
  name: a
spec:
  runtimeRef:
    name: torch-distributed
  trainer:
    numNodes: 2
"""


@dataclass(frozen=True)
class Case:
    name: str
    text: str
    findings: tuple[Finding, ...]


@pytest.mark.parametrize(
    "case",
    [
        Case("nothing", " \n", (Finding("there is nothing here yet"),)),
        Case("only a comment", "# x", (Finding("there is nothing here yet"),)),
        Case(
            "a task",
            "run: echo\nnum_nodes: many\n",
            (
                Finding(
                    'num_nodes: Invalid value: "many": must be an integer',
                    "num_nodes",
                    "nodes",
                    (2, 12),
                ),
            ),
        ),
    ],
    ids=lambda case: case.name,
)
def test_what_is_wrong_with_a_text_has_its_place(case: Case) -> None:
    assert tuple(read_draft(case.text, Origin()).findings) == case.findings


def test_a_text_that_is_not_yaml_says_where() -> None:
    (finding,) = read_draft("a: [1\nb: 2", Origin()).findings
    assert finding.place is not None
    assert finding.place[0] == 2


@pytest.mark.parametrize(
    ("refusal", "path", "field", "place"),
    [
        (
            "TrainJob/a: spec.trainer.numNodes: Invalid value: 0: must be more",
            "spec.trainer.numNodes",
            "nodes",
            (9, 5),
        ),
        (
            "TrainJob/a: spec.trainer.image: Required value",
            "spec.trainer.image",
            "image",
            (8, 3),
        ),
        ("TrainJob/a: metadata.name: Required value", "metadata.name", "name", (4, 3)),
        ("it is too large", "", "", None),
        ("more than one job: TrainJob/a, TrainJob/b", "", "", None),
    ],
)
def test_a_refusal_finds_its_field(
    refusal: str, path: str, field: str, place: Place | None
) -> None:
    finding = read_draft(_JOB, Origin()).finding(refusal)
    assert (finding.path, finding.input, finding.place) == (path, field, place)
    assert finding.message == refusal.removeprefix("TrainJob/a: ")


def test_a_task_becomes_the_object_that_is_submitted() -> None:
    draft = read_draft("name: My_Task\nrun: echo\n", Origin(by="me"))
    (task,) = draft.objects
    assert (task["kind"], task["metadata"]["name"], task["origin"]) == (
        "Task",
        "my-task",
        {"by": "me"},
    )
    assert draft.form is not None
    assert not draft.brings_files
    assert read_draft("workdir: .\nrun: ls\n", Origin()).brings_files


def test_several_documents_are_more_than_a_form() -> None:
    draft = read_draft(f"{_JOB}---\napiVersion: v1\nkind: ConfigMap\n", Origin())
    assert (len(draft.objects), draft.form, draft.findings) == (2, None, [])
    finding = draft.finding("TrainJob/a: spec.trainer: Invalid value: 1: no")
    assert finding.place == (8, 3)


def test_the_steps_of_a_path() -> None:
    assert steps_of("spec.env[0][a/b.c].x") == ("spec", "env", 0, "a/b.c", "x")
