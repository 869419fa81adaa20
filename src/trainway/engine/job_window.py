"""Windows of a long list of jobs: any rows of it, in any order, and how many there are in all.

A cursor leads from page to page only; whoever drags a scroll bar wants the rows at a place. Rows
are found by their ids first, which the indexes hold, and then read. Jobs of a run may stand in one
row, in the place of the first of them, whose id is that of the run.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from sqlalchemy import Engine, Select, func, select, union_all

from trainway.engine.job_filter import Filter
from trainway.engine.job_query import SUMMARY, filtered, record_of
from trainway.engine.record import JobRecord
from trainway.engine.tables import JOBS


class Order(StrEnum):
    """By what jobs are ordered; equal ones by age."""

    CREATED = "created"
    NAME = "name"
    PHASE = "phase"
    BACKEND = "backend"
    KIND = "kind"
    PRIORITY = "priority"
    STARTED = "started"
    FINISHED = "finished"
    RESTARTS = "restarts"


@dataclass(frozen=True)
class Window:
    """Which rows of the list."""

    offset: int = 0
    limit: int = 100
    order: Order = Order.CREATED
    is_ascending: bool = False


@dataclass(frozen=True)
class Rows:
    """The rows of a window: ids of jobs, or of runs where these stand for their jobs."""

    ids: Sequence[str]
    total: int


_ID: Final = JOBS.c.id


class WindowStore:
    """Finds rows. Every method is one transaction."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def jobs(self, wanted: Filter, window: Window) -> Rows:
        """The jobs of a window."""
        columns = [_ID] if window.order is Order.CREATED else [JOBS.c[window.order], _ID]
        order = [column if window.is_ascending else column.desc() for column in columns]
        query = filtered(select(_ID), wanted).order_by(*order)
        return self._rows(query.limit(window.limit).offset(window.offset), [_count(wanted)])

    def groups(self, wanted: Filter, window: Window) -> Rows:
        """The same by age, with one row for all jobs of a run."""
        single = filtered(select(_ID.label("head")).where(JOBS.c.run.is_(None)), wanted)
        shared = select(JOBS.c.run.label("head")).where(JOBS.c.run.is_not(None))
        runs = filtered(shared, wanted).distinct()
        both = union_all(single, runs).subquery()
        order = both.c.head if window.is_ascending else both.c.head.desc()
        query = select(both.c.head).order_by(order).limit(window.limit).offset(window.offset)
        counted = select(func.count()).select_from(runs.subquery())
        return self._rows(query, [counted, _count(wanted, is_single=True)])

    def _rows(self, query: Select[Any], counts: Sequence[Select[Any]]) -> Rows:
        with self._engine.connect() as connection:
            ids = list(connection.execute(query).scalars())
            return Rows(ids, sum(connection.execute(count).scalar_one() for count in counts))

    def read(self, ids: Collection[str]) -> dict[str, JobRecord]:
        """Jobs by their ids, without what was observed of their pods."""
        query = select(*SUMMARY).where(_ID.in_(ids))
        with self._engine.connect() as connection:
            records = [record_of(row) for row in connection.execute(query)]
        return {record.id: record for record in records}


def _count(wanted: Filter, *, is_single: bool = False) -> Select[Any]:
    query = select(func.count()).select_from(JOBS)
    return filtered(query.where(JOBS.c.run.is_(None)) if is_single else query, wanted)
