"""Files of tasks: what kind they are, where errors stand, and that no input ends badly."""

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from trainway.api.task import task
from trainway.api.task.task_file import TaskFile, looks_like_tasks, parse, serialise
from trainway.api.task.testing import Case
from trainway.errors import ManifestError


def errors(text: str) -> list[str]:
    return [str(error) for error in parse(text).errors]


def file_of(text: str) -> TaskFile:
    parsed = parse(text)
    assert parsed.file is not None, parsed.errors
    return parsed.file


@pytest.mark.parametrize(
    "case",
    [
        Case("one", "name: a\nrun: x", ("", "a", ["a"])),
        Case("name alone", "name: a", ("", "a", ["a"])),
        Case("header alone", "name: a\nexecution: serial", ("", "a", ["a"])),
        Case("chain", "name: a\nrun: x\n---\nrun: y", ("serial", "a", ["a", ""])),
        Case("header", "name: p\n---\nname: a\n---\nname: b", ("serial", "p", ["a", "b"])),
        Case(
            "group",
            "name: g\nexecution: PARALLEL\n---\nname: a\n---\nname: b",
            ("parallel", "g", ["a", "b"]),
        ),
        Case("empty documents", "---\n---\nname: a\nrun: x\n---\n", ("", "a", ["a"])),
    ],
    ids=lambda case: case.name,
)
def test_kinds_of_files(case: Case) -> None:
    file = file_of(case.text)

    assert (file.execution, file.name, [item.name for item in file.tasks]) == case.expected


@pytest.mark.parametrize(
    "case",
    [
        Case("value", "run: x\nnum_nodes: 0", "line 2, column 12"),
        Case("key", "run: x\n\n  \nnumber: 1", "line 4, column 1"),
        Case("in a list", "resources:\n  any_of:\n  - cpus: 1\n  - cpu: 1", "line 4, column 5"),
        Case("missing", "workdir:\n  ref: a", "line 2, column 3"),
        Case("flow", "resources: {cpus: 1, memory: x}", "line 1, column 30"),
        Case("alias", "envs: &a {B: c}\nresources: *a", "line 2, column 12"),
        Case("merge", "resources: {<<: {cpu: 1}}", "line 1, column 12"),
        Case("second document", "run: x\n---\nnme: y", "line 3, column 1"),
        Case("map key", "run: x\nfile_mounts:\n  /a/: b", "line 3, column 3"),
    ],
    ids=lambda case: case.name,
)
def test_where_errors_stand(case: Case) -> None:
    (error,) = errors(case.text)

    assert error.startswith(f"{case.expected}: ")


@pytest.mark.parametrize(
    "case",
    [
        Case("what a node has", "cpus: 2", "it belongs in resources"),
        Case("places", "any_of: [{infra: local}]", "it belongs in resources"),
        Case("recovery", "job_recovery: FAILOVER", "it belongs in resources"),
        Case("in recovery", "strategy: FAILOVER", "it belongs in resources.job_recovery"),
        Case("an option", "timeout: 3h", "give it with trainway run --timeout"),
        Case("another word", "command: y", 'did you mean "run"?'),
        Case("mistyped", "nodes: 2", 'did you mean "num_nodes"?'),
    ],
    ids=lambda case: case.name,
)
def test_what_stands_in_the_wrong_place_is_told_where_it_belongs(case: Case) -> None:
    name = case.text.partition(":")[0]
    expected = f"line 2, column 1: {name}: Unknown field: {case.expected}"
    assert errors(f"run: x\n{case.text}") == [expected]


def test_a_key_twice_is_unreadable() -> None:
    with pytest.raises(ManifestError, match=r'line 3, column 1: the key "run" appears twice'):
        parse("run: a\nname: b\nrun: c")


def test_a_document_that_is_no_object() -> None:
    assert errors("- a") == ['line 1, column 1: Invalid value: ["a"]: a task must be an object']
    assert errors("") == ["Required value: the file contains no task"]


@pytest.mark.parametrize(
    "case",
    [
        Case("task", "{run: x}", True),
        Case("misspelt", "{runn: x}", True),
        Case("header", "{name: x}", True),
        Case("kubernetes", "{kind: Job}", False),
        Case("spec alone", "{spec: {}}", False),
        Case("anything", "{a: 1}", False),
        Case("empty", "{}", False),
        Case("list", "[1]", False),
    ],
    ids=lambda case: case.name,
)
def test_what_looks_like_a_task(case: Case) -> None:
    assert looks_like_tasks([yaml.safe_load(case.text)]) is case.expected


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT
WORDS = st.sampled_from(
    ["A100:8", "80GB+", "aws/x", "k8s", "4+", "10h", "s3://b/p", "./x", "$A", "${A}", "none", "a"]
)
VALUES = st.recursive(
    SCALARS | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT | WORDS, inner, max_size=3),
    max_leaves=8,
)
RESOURCES = st.dictionaries(
    st.sampled_from(
        ["infra", "cloud", "accelerators", "gpus", "cpus", "memory", "ports", "image_id", "labels",
         "autostop", "job_recovery", "priority", "disk_size", "any_of", "ordered", "volumes"]
    ),
    VALUES,
    max_size=4,
)  # fmt: skip
DOCUMENTS = st.dictionaries(
    st.sampled_from([*task.SHAPE.fields, "execution", "x"]), VALUES
).flatmap(
    lambda document: (
        st.just(document) | RESOURCES.map(lambda resources: {**document, "resources": resources})
    )
)


def written(documents: list[Any]) -> str:
    return yaml.safe_dump_all(documents, allow_unicode=True)


@given(st.lists(DOCUMENTS, min_size=1, max_size=3))
def test_no_document_ends_badly(documents: list[Any]) -> None:
    try:
        parsed = parse(written(documents))
    except ManifestError:
        return

    assert (parsed.file is None) == (bool(parsed.errors) or parsed.is_volume)
    assert all(str(error) for error in parsed.errors)


@given(st.text(max_size=60))
def test_no_text_ends_badly(text: str) -> None:
    try:
        said = [str(error) for error in parse(text).errors]
    except ManifestError as error:
        said = [str(error)]

    assert all(line.startswith("line ") or "contains no task" in line for line in said)


VARIABLES = st.dictionaries(
    st.from_regex(r"[A-Z_][A-Z0-9_]{0,4}", fullmatch=True),
    st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT.map(
        lambda text: text.replace("\0", "")
    ),
    max_size=4,
)  # fmt: skip
TASKS = st.fixed_dictionaries(
    {"run": TEXT},
    optional={
        "name": st.from_regex(r"[a-zA-Z0-9]{1,4}([._-][a-z0-9]{1,3})?", fullmatch=True),
        "num_nodes": st.integers(1, 9),
        "setup": TEXT,
        "envs": VARIABLES,
        "workdir": st.sampled_from([".", "$A/b", "${UNKNOWN}"]),
        "file_mounts": st.dictionaries(st.sampled_from(["/a", "~/b", "/$A"]), WORDS, max_size=1),
        "resources": st.fixed_dictionaries(
            {},
            optional={
                "cpus": st.sampled_from([1, 2.5, "4", "4+"]),
                "memory": st.sampled_from([1, "64GB", "32+"]),
                "accelerators": st.sampled_from(["A100:8", {"A": 1, "B": None}, ["X:1", "Y"]]),
                "labels": st.dictionaries(TEXT, TEXT, max_size=2),
                "autostop": st.sampled_from([True, 5, "10h", {"down": True}]),
            },
        ),
        "config": st.just({"kubernetes": {"pod_config": {"spec": {"a": None, "b": [1, 2.5]}}}}),
    },
)


@given(st.lists(TASKS, min_size=1, max_size=3))
def test_parse_serialise_parse_is_the_identity(documents: list[Any]) -> None:
    first = parse(written(documents))
    assert first.file is not None, first.errors

    assert parse(serialise(first.file)).file == first.file
