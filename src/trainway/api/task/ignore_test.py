"""`.skyignore`: what stays behind. test/integration asks git about the same rules."""

import pytest

from trainway.api.task.ignore import chosen, parse
from trainway.api.task.testing import IGNORED, Ignored


@pytest.mark.parametrize("case", IGNORED, ids=lambda case: case.name)
def test_rules(case: Ignored) -> None:
    ignore = parse(case.rules.splitlines())

    assert [path for path in (*case.kept, *case.left) if ignore.excludes(path)] == [*case.left]


def test_its_own_folder_of_git_stays() -> None:
    assert parse([]).excludes(".git/config")
    assert not parse([]).excludes(".gitignore")


def test_which_file_has_the_rules() -> None:
    assert chosen([".gitignore", ".skyignore", "a"]) == ".skyignore"
    assert chosen([".gitignore"]) == ".gitignore"
    assert chosen(["a"]) is None
