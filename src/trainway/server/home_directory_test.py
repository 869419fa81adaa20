import os
import stat
from dataclasses import dataclass
from pathlib import Path

import pytest

from trainway.server.home_directory import HomeError, prepare_home


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_directory_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    prepare_home(tmp_path / "a" / "b")
    assert mode(tmp_path / "a" / "b") == 0o700


@dataclass(frozen=True)
class Case:
    name: str
    before: int
    files: tuple[str, ...]
    after: int | None
    """None: it is refused, and stays as it was."""


@pytest.mark.parametrize(
    "case",
    [
        Case("empty", 0o755, (), 0o700),
        Case("empty of a group", 0o775, (), 0o700),
        Case("ours", 0o755, ("config.yaml", "server.log", "server.lock"), 0o700),
        Case("closed", 0o700, ("thesis.tex",), 0o700),
        Case("somebody's home", 0o755, ("thesis.tex", "server.log"), 0o755),
        Case("written by a group", 0o775, ("thesis.tex",), None),
        Case("written by all", 0o777, ("thesis.tex",), None),
        Case("like /tmp", 0o1777, (), None),
        Case("sticky", 0o1700, (), None),
    ],
    ids=lambda case: case.name,
)
def test_what_becomes_of_a_directory(case: Case, tmp_path: Path) -> None:
    for name in case.files:
        (tmp_path / name).touch()
    tmp_path.chmod(case.before)
    if case.after is None:
        with pytest.raises(HomeError) as caught:
            prepare_home(tmp_path)
        assert str(tmp_path) in str(caught.value.hint)
    else:
        prepare_home(tmp_path)
    assert mode(tmp_path) == (case.before if case.after is None else case.after)


def test_another_users_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(HomeError, match="belongs to another user"):
        prepare_home(tmp_path, user=os.geteuid() + 1)
