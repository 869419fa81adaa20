import stat
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from trainway.engine import damage
from trainway.engine.backup import copy_database
from trainway.engine.damage import problems, refuse_damaged, set_aside, suspect
from trainway.engine.database import open_database
from trainway.engine.database_failure import DamagedError
from trainway.engine.record import JobRecord, JobSpec
from trainway.engine.store import Store
from trainway.errors import DatabaseError

NOW = datetime(2026, 11, 16, 10, 30, tzinfo=UTC)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A database with jobs in it, and a job's directory beside it."""
    path = tmp_path / "trainway.db"
    store = Store(open_database(f"sqlite:///{path}"))
    spec = JobSpec([{"text": "x" * 3000}], {}, {}, [])
    for number in range(20):
        job = JobRecord(id=f"{number:012}", name="n", namespace="d", kind="k", backend="local")
        store.add(job, spec)
    store.close()
    (tmp_path / "jobs" / "a").mkdir(parents=True)
    (tmp_path / "jobs" / "a" / "plan.json").touch()
    return path


def overwrite(path: Path) -> None:
    """Write something else over pages in the middle."""
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 8192 * 4096)
        file.write(b"\xa5" * 8192)


@dataclass(frozen=True)
class Case:
    name: str
    harm: Callable[[Path], object]


CASES = [
    Case("garbage", lambda path: path.write_bytes(b"garbage" * 999)),
    Case("truncated", lambda path: path.write_bytes(path.read_bytes()[:9000])),
    Case("empty", lambda path: path.write_bytes(b"")),
    Case("a page in the middle", overwrite),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_damage_is_found_before_a_database_is_used(path: Path, case: Case) -> None:
    refuse_damaged(path)
    case.harm(path)
    with pytest.raises(DamagedError, match=f"the database {path} is damaged: "):
        refuse_damaged(path)


def test_a_new_database_is_not_damaged(tmp_path: Path) -> None:
    refuse_damaged(tmp_path / "trainway.db")
    (tmp_path / "trainway.db").touch()
    refuse_damaged(tmp_path / "trainway.db")


def test_a_large_one_is_looked_through_once_it_is_suspect(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(damage, "_SMALL", 0)
    suspect(path)
    refuse_damaged(path)
    overwrite(path)
    refuse_damaged(path)
    suspect(path)
    with pytest.raises(DamagedError):
        refuse_damaged(path)


def test_all_files_of_a_database_are_set_aside(path: Path) -> None:
    for side in ("-wal", "-shm", "-suspect"):
        path.with_name(path.name + side).write_text(side)
    aside = set_aside(path, NOW)
    names = {file.name for file in path.parent.iterdir()} - {"jobs"}
    kept = "trainway.db.damaged-20261116T103000Z"
    assert names == {kept, f"{kept}-wal", f"{kept}-shm"}
    assert aside == path.with_name(kept)


def test_what_is_no_damage_is_raised_as_it_is(path: Path) -> None:
    path.unlink()
    path.mkdir()
    with pytest.raises(DatabaseError, match="disk I/O error") as caught:
        problems(path)
    assert not isinstance(caught.value, DamagedError)


def test_a_database_in_use_is_copied_as_a_whole_and_for_its_owner_alone(path: Path) -> None:
    store = Store(open_database(f"sqlite:///{path}"))
    job = JobRecord(id="z" * 12, name="late", namespace="d", kind="k", backend="local")
    store.add(job, JobSpec([], {}, {}, []))  # it is in the log that belongs to the file
    target = path.with_name("copy.db")
    copy_database(path, target)
    store.close()
    copy = Store(open_database(f"sqlite:///{target}"))
    assert copy.counts() == (21, 21)
    copy.close()
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert not list(path.parent.glob(".copy*"))


def test_a_copy_that_fails_leaves_what_was_there(path: Path) -> None:
    target = path.with_name("copy.db")
    target.write_text("the one before")
    path.write_bytes(b"garbage" * 999)
    with pytest.raises(Exception, match="not a database"):
        copy_database(path, target)
    assert target.read_text() == "the one before"
    assert not list(path.parent.glob(".copy*"))
