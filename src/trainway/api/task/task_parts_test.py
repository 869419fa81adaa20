"""A Task of several tasks as Tasks of one: nothing of one gets to another."""

import pytest

from trainway.api.task import task_object
from trainway.api.task.task_file import parse
from trainway.api.task.task_object import Brought, Origin, files_name, objects_of
from trainway.api.task.task_parts import part_name, parts, with_outputs
from trainway.json_types import Json

TEXT = """\
name: p
---
{name: a, run: x, secrets: {KEY: one}, workdir: here}
---
{name: b, run: y, secrets: {KEY: two, MORE: three}, workdir: there, depends_on: [a]}
---
{name: c, run: z}
"""
FILES = [
    Brought("0/workdir/x", b"1"),
    Brought("1/workdir/x", b"2", is_program=True),
    Brought("1/mount-0", b"3"),
]


def split() -> list[list[Json]]:
    file = parse(TEXT).file
    assert file is not None
    made = objects_of(file, "p", Origin(by="me"), notes=["note"], files=FILES)
    maps = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": files_name("p")},
        "binaryData": {item.key: item.content.decode() for item in FILES},
    }
    others = [maps, {"kind": "ConfigMap", "metadata": {"name": "own"}}, *made[:-1]]
    job, errors = task_object.read(made[-1])
    assert job is not None, errors
    return parts(made[-1], job, others, ["a", "b", "c"])


def of_kind(objects: list[Json], kind: str, name: str) -> Json | None:
    found = [o for o in objects if o["kind"] == kind and o["metadata"]["name"] == name]
    return found[0] if found else None


def test_each_part_is_a_task_by_itself() -> None:
    for objects, role in zip(split(), "abc", strict=True):
        obj = of_kind(objects, "Task", f"p-{role}")
        assert obj is not None
        job, errors = task_object.read(obj)
        assert job is not None, errors
        assert [task.name for task in job.file.tasks] == [role]
        assert job.file.tasks[0].depends_on is None
        assert (job.part.of, job.part.role) == ("p", role)
        assert job.origin.by == "me"
        assert job.notes == (("note",) if role == "a" else ())
        assert of_kind(objects, "ConfigMap", "own") is not None


def test_each_part_has_its_own_secrets() -> None:
    first, second, third = split()
    secret = of_kind(second, "Secret", "p-b-secrets")
    assert secret is not None
    assert secret["stringData"] == {"KEY": "two", "MORE": "three"}
    assert "two" not in str(first)
    assert not any(obj["kind"] == "Secret" for obj in third)


def test_each_part_has_its_own_files() -> None:
    _, second, third = split()
    obj = of_kind(second, "Task", "p-b")
    files = of_kind(second, "ConfigMap", "p-b-files")
    assert obj is not None
    assert files is not None
    job, _ = task_object.read(obj)
    assert job is not None
    assert [(item.path, item.is_program) for item in job.files] == [
        ("0/workdir/x", True),
        ("0/mount-0", False),
    ]
    assert {item.path: files["binaryData"][item.key] for item in job.files} == {
        "0/workdir/x": "2",
        "0/mount-0": "3",
    }
    assert job.files_name == "p-b-files"
    assert not any(obj["metadata"]["name"].endswith("-files") for obj in third)


def test_a_part_is_told_where_outputs_are() -> None:
    second = with_outputs(split()[1], {"a": "/jobs/1/output"})
    job, _ = task_object.read(next(obj for obj in second if obj["kind"] == "Task"))
    assert job is not None
    assert job.part.outputs == {"a": "/jobs/1/output"}
    assert (job.part.of, job.part.role) == ("p", "b")


@pytest.mark.parametrize("role", ["a", "r" * 20])
@pytest.mark.parametrize("pipeline", ["p", "a-pipeline-with-a-really-long-name-of-40"])
def test_pods_of_a_part_have_names_that_fit(pipeline: str, role: str) -> None:
    name = part_name(pipeline, role)
    assert len(f"{name}-{role}-0-999-xxxxx") <= 63
    assert name.endswith(f"-{role}")
    assert name[:8] == f"{pipeline}-{role}"[:8]
