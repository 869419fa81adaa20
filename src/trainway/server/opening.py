"""Opens the database of a home directory, and puts a new one in the place of a damaged one.

What was in that is read again from the jobs' own directories when the engine starts. Only damage is
a reason: a database that is locked, or whose disk is full, is left where it is.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from trainway.backends.base import BackendSettings
from trainway.backends.registry import Registry
from trainway.engine.costs.configured import ConfiguredPrices
from trainway.engine.damage import (
    announce_aside,
    announced_aside,
    aside_was_told,
    refuse_damaged,
    set_aside,
)
from trainway.engine.database import BUSY_S, open_database
from trainway.engine.database_failure import DamagedError, database_error
from trainway.engine.jobs import Engine
from trainway.engine.notify.configured import ConfiguredTargets
from trainway.engine.notify.notifier import Notifying
from trainway.engine.restoration import finish
from trainway.engine.store import Store
from trainway.server.notices import leave_notice
from trainway.server.process import ServerHome

log = logging.getLogger(__name__)


async def started_engine(
    home: ServerHome,
    busy_s: float = BUSY_S,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> Engine:
    """An engine that has taken up all jobs; a damaged database is set aside first."""
    path, moment = home.path / home.DATABASE, now()
    with _files_of(path):
        finish(path, moment, lambda before: leave_notice(home.path, _finished(path, before)))
        aside = announced_aside(path)
    try:
        refuse_damaged(path)
        engine = await _started(home, busy_s)
    except DamagedError as error:
        log.error("%s", error)
        with _files_of(path):
            announce_aside(path, moment)
            aside = set_aside(path, moment)
        log.warning("it is now %s; what was in it is read from the jobs' directories", aside)
        engine = await _started(home, busy_s)
    if aside is not None:
        _, found = await engine.reading.counts()
        leave_notice(home.path, _told(path, aside, found))
        aside_was_told(path)
    return engine


@contextmanager
def _files_of(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise database_error(error, str(path)) from error


async def _started(home: ServerHome, busy_s: float) -> Engine:
    store = Store(open_database(home.database, busy_s))
    registry = Registry(BackendSettings(home.path))
    engine = Engine(
        store,
        registry,
        notifying=Notifying(ConfiguredTargets(home.path)),
        prices=ConfiguredPrices(home.path),
    )
    engine.schedules.copies.folder = home.path / "schedules"
    try:
        await engine.start()
    except BaseException:
        await engine.close()
        raise
    return engine


def _finished(path: Path, before: Path | None) -> str:
    """What the owner should know, in one line."""
    where = "" if before is None else f"; the one before it is {before}"
    return f"a restore of the database {path} was interrupted, and is finished now{where}"


def _told(path: Path, aside: Path, found: int) -> str:
    """What the owner should know, in one line."""
    where = "1 job was found again in its directory"
    if found != 1:
        where = f"{found} jobs were found again in their directories"
    return f"the database {path} was damaged and is now {aside}; {where}; what only waited is lost"
