"""Servers that are killed while they put a database in the place of another one."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest

from trainway.engine.backup import copy_database
from trainway.engine.damage import suspect
from trainway.engine.database import open_database
from trainway.engine.phases import Phase
from trainway.engine.record import JobRecord, JobSpec
from trainway.engine.restoration import fresh_copy
from trainway.engine.store import Store
from trainway.server import opening as module
from trainway.server.notices import FILE
from trainway.server.opening import started_engine
from trainway.server.process import ServerHome

NOW = datetime(2026, 11, 19, 10, 30, tzinfo=UTC)


@pytest.fixture
def home(tmp_path: Path) -> ServerHome:
    """A home directory whose database has a job that is over."""
    home = ServerHome(tmp_path / "home")
    store = Store(open_database(home.database))
    job = JobRecord(
        id="a", name="n", namespace="d", kind="k", backend="local", phase=Phase.SUCCEEDED
    )
    store.add(job, JobSpec([], {}, {}, []))
    store.close()
    return home


def started(home: ServerHome) -> int:
    """Start an engine; how many jobs it has."""

    async def count() -> int:
        engine = await started_engine(home, now=lambda: NOW)
        _, found = await engine.reading.counts()
        await engine.close()
        return found

    return asyncio.run(count())


def notices(home: ServerHome) -> list[str]:
    file = home.path / FILE
    return file.read_text().splitlines() if file.exists() else []


def test_a_restore_that_was_killed_is_finished_and_told(home: ServerHome) -> None:
    path = home.path / home.DATABASE
    copy_database(path, fresh_copy(path))
    kept = path.rename(path.with_name(f"{path.name}.replaced-20261118T000000Z"))
    assert started(home) == 1
    (told,) = notices(home)
    assert told == (
        f"a restore of the database {path} was interrupted, and is finished now; the one before "
        f"it is {kept}"
    )


@pytest.mark.parametrize("step", ["set_aside", "_started", "leave_notice"])
def test_a_damaged_database_is_told_of_whenever_the_server_is_killed(
    home: ServerHome, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    path = home.path / home.DATABASE
    aside = f"{path.name}.damaged-20261119T103000Z"
    path.write_bytes(b"garbage" * 999)
    suspect(path)

    def killed(*_: object) -> None:
        if step == "set_aside":
            path.rename(path.with_name(aside))  # and no more
            path.with_name(f"{path.name}-wal").write_text("log")
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(module, step, killed)
        with pytest.raises(KeyboardInterrupt):
            started(home)
    for _ in range(2):
        assert started(home) == 0
    told = f"the database {path} was damaged and is now {path.with_name(aside)}; 0 jobs were found"
    assert [line[: len(told)] for line in notices(home)] == [told]
    if step == "set_aside":
        assert path.with_name(f"{aside}-wal").read_text() == "log"
