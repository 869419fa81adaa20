"""Windows of a long list of jobs: any rows of it, in any order, and how many there are in all.

A cursor leads from page to page only; whoever drags a scroll bar wants the rows at a place. Rows
are found by their ids first, in indexes that hold all that lists are filtered and sorted by, and
then read: a row of a job is large, and 100,000 of them take a second. Jobs of a run may stand in
one row, in the place of the first of them, whose id is that of the run.
"""

import heapq
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import Any, Final, Protocol

from sqlalchemy import ColumnElement, Connection, Engine, Select, func, select

from trainway.engine.job_filter import Filter
from trainway.engine.job_query import SUMMARY, filtered, is_indexed, record_of, scanned
from trainway.engine.job_term import Term, only_term, terms_of
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
FEW: Final = 10_000
"""So many jobs with a label or a metric are looked up one by one; else the list is gone through."""


class WindowStore:
    """Finds rows. Every method is one transaction."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def jobs(self, wanted: Filter, window: Window) -> Rows:
        """The jobs of a window."""
        columns = [_ID] if window.order is Order.CREATED else [JOBS.c[window.order], _ID]
        order = [column if window.is_ascending else column.desc() for column in columns]
        term = only_term(wanted)
        # Where nothing else is wanted, who goes through the list soon has a window full.
        most = FEW if term is None else FEW // 5
        with self._engine.connect() as connection:
            is_few = _found_by_term(connection, wanted, most) <= most
            count = select(func.count()).select_from(JOBS)
            if term is not None:
                count = term.rows(func.count())
            elif is_few or is_indexed(wanted):
                count = filtered(count, wanted)
            else:
                count = scanned(count, wanted)
            query = (filtered if is_few else scanned)(select(_ID), wanted).order_by(*order)
            return _rows(connection, query, count, window)

    def groups(self, wanted: Filter, window: Window) -> Rows:
        """The same by age, with one row for all jobs of a run."""
        with self._engine.connect() as connection:
            term = only_term(wanted)
            if term is not None:
                return _merged(connection, _TermList(term, wanted), window)
            if _found_by_term(connection, wanted, FEW) <= FEW:
                found = connection.execute(filtered(select(_ID, JOBS.c.run), wanted))
                heads = sorted({run or job_id for job_id, run in found})
                whole = heads if window.is_ascending else heads[::-1]
                return Rows(whole[window.offset :][: window.limit], len(whole))
            return _merged(connection, _JobList(wanted), window)

    def read(self, ids: Collection[str]) -> dict[str, JobRecord]:
        """Jobs by their ids, without what was observed of their pods."""
        query = select(*SUMMARY).where(_ID.in_(ids))
        with self._engine.connect() as connection:
            records = [record_of(row) for row in connection.execute(query)]
        return {record.id: record for record in records}


class _List(Protocol):
    """A list of jobs, by age, as queries."""

    def runs(self) -> Select[Any]:
        """The runs, and how many of the jobs each of them has."""
        ...

    def singles(self) -> tuple[Select[Any], ColumnElement[str]]:
        """The ids of the jobs without a run in the order of that column, once it is asked for."""
        ...

    def single_count(self, in_runs: int, /) -> Select[Any]:
        """How many of these there are, if so many jobs are in runs."""
        ...


@dataclass(frozen=True)
class _JobList:
    """Found in the table of jobs."""

    wanted: Filter

    def runs(self) -> Select[Any]:
        run = JOBS.c.run
        query = select(run, func.count()).where(run.is_not(None)).group_by(run)
        return scanned(query, self.wanted)

    def singles(self) -> tuple[Select[Any], ColumnElement[str]]:
        return scanned(select(_ID).where(JOBS.c.run.is_(None)), self.wanted), _ID

    def single_count(self, in_runs: int, /) -> Select[Any]:
        if is_indexed(self.wanted):
            every = filtered(select(func.count()).select_from(JOBS), self.wanted)
            return select(every.scalar_subquery() - in_runs)
        alone = select(func.count()).select_from(JOBS).where(JOBS.c.run.is_(None))
        return scanned(alone, self.wanted)


@dataclass(frozen=True)
class _TermList:
    """Found in the table of labels or series alone, which says what run a job belongs to."""

    term: Term
    wanted: Filter

    def runs(self) -> Select[Any]:
        run = self.term.table.c.run
        return self.term.rows(run, func.count()).where(run > "").group_by(run)

    def singles(self) -> tuple[Select[Any], ColumnElement[str]]:
        if not self.term.is_ordered:
            return _JobList(self.wanted).singles()
        table = self.term.table
        return self.term.rows(table.c.job_id).where(table.c.run == ""), table.c.job_id

    def single_count(self, _in_runs: int, /) -> Select[Any]:
        return self.term.rows(func.count()).where(self.term.table.c.run == "")


def _merged(connection: Connection, jobs: _List, window: Window) -> Rows:
    """Runs, and jobs without one.

    There are far fewer runs than jobs, so all that are wanted are read. At most so many rows before
    the window are runs, and the others are jobs without one: these can be passed over.
    """
    sizes: dict[str, int] = {row[0]: row[1] for row in connection.execute(jobs.runs())}
    passed = max(0, window.offset - len(sizes))
    place = Window(passed, window.offset - passed + window.limit)
    singles, age = jobs.singles()
    count = jobs.single_count(sum(sizes.values()))
    found = _rows(
        connection, singles.order_by(age if window.is_ascending else age.desc()), count, place
    )
    is_reversed = not window.is_ascending
    merged = heapq.merge(sorted(sizes, reverse=is_reversed), found.ids, reverse=is_reversed)
    begin = window.offset - passed
    return Rows(list(islice(merged, begin, begin + window.limit)), found.total + len(sizes))


def _rows(connection: Connection, query: Select[Any], count: Select[Any], window: Window) -> Rows:
    """The rows of a query; its end, where it is among them, says how many there are."""
    ids = list(connection.execute(query.limit(window.limit).offset(window.offset)).scalars())
    is_end = len(ids) < window.limit and (ids or window.offset == 0)
    total = window.offset + len(ids) if is_end else connection.execute(count).scalar_one()
    return Rows(ids, int(total))


def _found_by_term(connection: Connection, wanted: Filter, most: int) -> float:
    """How many jobs have the label or the metric that is wanted first, if no more than so many.

    Without any, all.
    """
    for term in terms_of(wanted):
        some = term.rows(term.table.c.job_id).limit(most + 1).subquery()
        return float(connection.execute(select(func.count()).select_from(some)).scalar_one())
    return math.inf
