"""Tasks as objects: nothing is lost on the way, nothing is shown, and no object ends badly."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainway.api.task import task_object
from trainway.api.task.task_file import parse
from trainway.api.task.task_object import Brought, Origin

TEXTS = [
    "name: a\nnum_nodes: 2\nenvs: {A: 1}\nworkdir: ./$A\nrun: echo $A",
    "name: p\n---\nname: a\nsecrets: {S: hidden}\nrun: x\n---\nname: b\nsecrets: {S: other}",
    "name: g\nexecution: parallel\nprimary_tasks: [a]\n---\nname: a\nrun: x\n---\nname: b",
    "name: alone\nexecution: serial",
]


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_read_again(text: str) -> None:
    file = parse(text).file
    assert file is not None
    origin = Origin(at="now", by="me", directory="/here", home="/home/me")
    *_, obj = task_object.objects_of(
        file, "job", origin, notes=["note"], files=[Brought("0/workdir/a", b"x", is_program=True)]
    )
    job, errors = task_object.read({**obj, "metadata": {"name": "renamed", "namespace": "ns"}})

    assert (job is not None, errors) == (True, [])
    assert job is not None
    assert (job.name, job.namespace, job.origin, job.notes) == ("renamed", "ns", origin, ("note",))
    assert job.files == (Brought("0/workdir/a", is_program=True),)
    assert (job.file.name, job.file.execution, job.file.primary_tasks) == (
        file.name,
        file.execution,
        file.primary_tasks,
    )
    assert [task.data for task in job.file.tasks] == [
        {key: value for key, value in task.shown.items() if key != "secrets"} for task in file.tasks
    ]
    assert job.secrets == tuple(tuple(task.secrets) for task in file.tasks)


def test_secrets_of_several_tasks_do_not_meet() -> None:
    file = parse(TEXTS[1]).file
    assert file is not None
    secret, obj = task_object.objects_of(file, "job")

    assert secret["stringData"] == {"task-0.S": "hidden", "task-1.S": "other"}
    assert obj["spec"]["secretName"] == secret["metadata"]["name"] == "job-secrets"
    assert "hidden" not in str(obj)
    assert "hidden" not in str(task_object.without_values([secret, obj]))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["metadata", "spec", "name", "tasks", "task", "secrets", "header",
                             "origin", "at", "files", "path", "run", "notes"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)  # fmt: skip


@given(
    st.fixed_dictionaries(
        {
            "metadata": st.just({"name": "a"}) | JSON,
            "spec": st.just({"tasks": [{"task": {"run": "x"}}]}) | JSON,
        },
        optional={"origin": JSON, "files": JSON, "notes": JSON},
    )
)
def test_no_object_ends_badly(obj: Any) -> None:
    job, errors = task_object.read(obj)

    assert (job is None) == bool(errors)
