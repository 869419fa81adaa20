from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest

from trainway.engine.backup import SIDES
from trainway.engine.restoration import finish, fresh_copy, put_in_place

NOW = datetime(2026, 11, 19, 10, 30, tzinfo=UTC)
LATER = datetime(2026, 11, 19, 10, 31, tzinfo=UTC)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A database with what belongs to it, and a copy that is to be in its place."""
    path = tmp_path / "trainway.db"
    for side in SIDES:
        path.with_name(path.name + side).write_text(f"old{side}")
    fresh_copy(path).write_text("copy")
    return path


def files(path: Path) -> dict[str, str]:
    return {file.name: file.read_text() for file in path.parent.iterdir()}


@pytest.mark.parametrize("renames", range(4))
def test_a_restore_that_is_killed_is_finished(
    path: Path, monkeypatch: pytest.MonkeyPatch, renames: int
) -> None:
    left, rename = renames, Path.rename
    told: list[Path | None] = []

    def killed(self: Path, target: Path) -> Path:
        nonlocal left
        if left == 0:
            raise KeyboardInterrupt
        left -= 1
        return rename(self, target)

    with monkeypatch.context() as patched, suppress(KeyboardInterrupt):
        patched.setattr(Path, "rename", killed)
        put_in_place(path, NOW)
    finish(path, LATER, told.append)
    kept = f"{path.name}.replaced-20261119T103000Z"
    if renames == 0:
        assert (files(path), told) == ({path.name + side: f"old{side}" for side in SIDES}, [])
        return
    assert told == [path.with_name(kept)]
    found = files(path)
    expected = {path.name: "copy", kept: "old", f"{kept}-wal": "old-wal"}
    assert {name: found.pop(name, "") for name in expected} == expected
    assert list(found.values()) == ["old-shm"]
    assert f"{path.name}-shm" not in found


def test_what_is_done_is_not_finished_again(path: Path) -> None:
    told: list[Path | None] = []
    assert put_in_place(path, NOW) == path.with_name(f"{path.name}.replaced-20261119T103000Z")
    before = files(path)
    finish(path, LATER, told.append)
    path.unlink()
    finish(path, LATER, told.append)
    assert told == []
    assert files(path).items() <= before.items()


def test_a_copy_that_came_first_is_the_database(path: Path) -> None:
    for side in SIDES:
        path.with_name(path.name + side).unlink()
    assert put_in_place(path, NOW) is None
    assert files(path) == {path.name: "copy"}


def test_the_log_of_another_database_comes_to_none_that_was_kept(path: Path) -> None:
    """A database that is gone has left its log; a kept one would take that for its own."""
    kept = path.with_name(f"{path.name}.replaced-20260101T000000Z")
    kept.write_text("of January")
    path.unlink()
    assert put_in_place(path, NOW) is None
    found = files(path)
    assert found[path.name] == "copy"
    assert f"{kept.name}-wal" not in found
