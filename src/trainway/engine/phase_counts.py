"""How many jobs are in each phase, without counting all of them whenever Prometheus asks.

Few jobs are not over, and an index has those. The others are counted once; from then on the store
says which jobs end and which are deleted. Where another process has written to the database, they
are counted again: SQLite tells that, of other databases it is assumed now and then.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from sqlalchemy import Connection, Engine, func, select

from trainway.engine.phases import TERMINAL, Phase
from trainway.engine.tables import JOBS

TRUSTED_S: Final = 60.0
"""How long the numbers hold where the database does not say that others have written to it."""
_UNDER_WAY: Final = sorted(set(Phase) - TERMINAL)

Version = tuple[int, int]
"""A connection, and how often others had written when it looked."""


class PhaseCounts:
    """The numbers of one store; used in the thread of the store only."""

    def __init__(self, engine: Engine, clock: Callable[[], float] = time.monotonic) -> None:
        self._engine = engine
        self._clock = clock
        self._ended: Counter[str] | None = None
        """Of the phases that last; None: they are to be counted."""
        self._version: Version | None = None
        self._counted_at = 0.0

    def read(self) -> dict[str, int]:
        """How many jobs are in each phase that has any."""
        with self._engine.connect() as connection:
            version = _version(connection)
            if self._ended is None or not self._is_trusted(version):
                self._ended = _counted(connection, sorted(TERMINAL))
                self._version, self._counted_at = version, self._clock()
            found = self._ended + _counted(connection, _UNDER_WAY)
        return dict(found)

    def _is_trusted(self, version: Version | None) -> bool:
        if version is None:
            return self._clock() - self._counted_at < TRUSTED_S
        return version == self._version

    @contextmanager
    def noting(self) -> "Iterator[Noted]":
        """What a transaction does to jobs that are over; it counts once the block is left."""
        noted = Noted()
        try:
            yield noted
        except BaseException:
            self._ended = None  # it may have been committed or not
            raise
        if self._ended is not None:
            self._ended.update(noted.more)
            self._ended.subtract(noted.fewer)


class Noted:
    """Jobs that are over since a transaction, and such that are no longer there."""

    def __init__(self) -> None:
        self.more: Counter[str] = Counter()
        self.fewer: Counter[str] = Counter()

    def added(self, phase: str) -> None:
        """A job is stored."""
        if phase in TERMINAL:
            self.more[phase] += 1

    def changes(self, connection: Connection, job_id: str, phase: object) -> None:
        """A job is about to come to a phase, or to be said to be in it again; None: it is not."""
        if phase is not None:
            before = connection.execute(select(JOBS.c.phase).where(JOBS.c.id == job_id)).scalar()
            if before is not None and before != phase:
                self.added(str(phase))
                self.deleted(str(before))

    def deleted(self, phase: str) -> None:
        """A job is forgotten."""
        if phase in TERMINAL:
            self.fewer[phase] += 1


def _counted(connection: Connection, phases: list[Phase]) -> Counter[str]:
    query = select(JOBS.c.phase, func.count()).where(JOBS.c.phase.in_(phases))
    rows = connection.execute(query.group_by(JOBS.c.phase))
    return Counter({str(phase): int(count) for phase, count in rows})


def _version(connection: Connection) -> Version | None:
    """What is another number once anybody else has written; None: that is not known."""
    if connection.dialect.name != "sqlite":
        return None
    number = connection.exec_driver_sql("PRAGMA data_version").scalar_one()
    return id(connection.connection.dbapi_connection), int(number)
