"""The roles of tasks: short enough for the names that they are part of, and no two the same."""

import re

import pytest

from trainway.api.task.task_file import parse
from trainway.api.task.task_parts import part_name
from trainway.compiler.task_pods import names_of


@pytest.mark.parametrize(
    ("names", "roles"),
    [
        (["prepare", "Train.it"], ["prepare", "train-it"]),
        (["2026-11-19-evaluate-all", "b"], ["task-2026-11-19-eval", "b"]),
        (["preprocess-the-datasets-a"] * 2, ["preprocess-the-datas", "preprocess-the-dat-1"]),
        (["a", "a-2", "a"], ["a", "a-2", "a-3"]),
    ],
)
def test_roles(names: list[str], roles: list[str]) -> None:
    assert roles_of(names) == roles


def test_the_jobs_of_many_tasks_with_one_long_name_have_names() -> None:
    roles = roles_of(["evaluate-checkpoint1-of-the-last-run"] * 150)
    assert len(set(roles)) == 150
    for role in roles:
        assert re.fullmatch(r"squares-[a-z0-9-]{1,19}[a-z0-9]", part_name("squares", role))


def roles_of(names: list[str]) -> list[str]:
    file = parse("\n---\n".join(f"name: {name}\nrun: 'true'" for name in names)).file
    assert file is not None
    return names_of(file.tasks)
