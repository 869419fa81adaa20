"""Windows of a long list of jobs: any rows of it, in any order, and how many there are in all.

A cursor leads from page to page only; whoever drags a scroll bar wants the rows at a place. Rows
are found by their ids first, in indexes that hold all that lists are filtered and sorted by, and
then read: a row of a job is large, and 100,000 of them take a second. Jobs of a run may stand in
one row, in the place of the first of them, whose id is that of the run.
"""

import heapq
import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import islice
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Engine, Select, Table, func, select

from trainway.engine.job_filter import EVERY_JOB, Filter
from trainway.engine.job_query import (
    SUMMARY,
    filtered,
    label_condition,
    metric_condition,
    record_of,
    scanned,
)
from trainway.engine.record import JobRecord
from trainway.engine.tables import JOBS, LABELS, SERIES


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
_FEW: Final = 2_000
"""So many jobs with a label or a metric are looked up one by one; else the list is gone through."""


class WindowStore:
    """Finds rows. Every method is one transaction."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def jobs(self, wanted: Filter, window: Window) -> Rows:
        """The jobs of a window."""
        columns = [_ID] if window.order is Order.CREATED else [JOBS.c[window.order], _ID]
        order = [column if window.is_ascending else column.desc() for column in columns]
        with self._engine.connect() as connection:
            is_few = _found_by_term(connection, wanted) <= _FEW
            query = (filtered if is_few else scanned)(select(_ID), wanted).order_by(*order)
            return _rows(connection, query, lambda: _count(connection, wanted), window)

    def groups(self, wanted: Filter, window: Window) -> Rows:
        """The same by age, with one row for all jobs of a run."""
        with self._engine.connect() as connection:
            if _found_by_term(connection, wanted) <= _FEW:
                found = connection.execute(filtered(select(_ID, JOBS.c.run), wanted))
                heads = sorted({run or job_id for job_id, run in found})
                whole = heads if window.is_ascending else heads[::-1]
                return Rows(whole[window.offset :][: window.limit], len(whole))
            return _merged(connection, wanted, window)

    def read(self, ids: Collection[str]) -> dict[str, JobRecord]:
        """Jobs by their ids, without what was observed of their pods."""
        query = select(*SUMMARY).where(_ID.in_(ids))
        with self._engine.connect() as connection:
            records = [record_of(row) for row in connection.execute(query)]
        return {record.id: record for record in records}


def _merged(connection: Connection, wanted: Filter, window: Window) -> Rows:
    """Runs, and jobs without one.

    There are far fewer runs than jobs, so all that are wanted are read. At most so many rows before
    the window are runs, and the others are jobs without one: these can be passed over.
    """
    run, order = JOBS.c.run, _ID if window.is_ascending else _ID.desc()
    shared = scanned(select(run, func.count()).where(run.is_not(None)), wanted).group_by(run)
    sizes: dict[str, int] = {row[0]: row[1] for row in connection.execute(shared)}
    passed = max(0, window.offset - len(sizes))
    place = Window(passed, window.offset - passed + window.limit)
    singles = scanned(select(_ID).where(run.is_(None)), wanted).order_by(order)
    found = _rows(
        connection, singles, lambda: _count(connection, wanted) - sum(sizes.values()), place
    )
    is_reversed = not window.is_ascending
    merged = heapq.merge(sorted(sizes, reverse=is_reversed), found.ids, reverse=is_reversed)
    begin = window.offset - passed
    return Rows(list(islice(merged, begin, begin + window.limit)), found.total + len(sizes))


def _rows(
    connection: Connection, query: Select[Any], count: Callable[[], int], window: Window
) -> Rows:
    """The rows of a query; its end, where it is among them, says how many there are."""
    ids = list(connection.execute(query.limit(window.limit).offset(window.offset)).scalars())
    is_end = len(ids) < window.limit and (ids or window.offset == 0)
    return Rows(ids, window.offset + len(ids) if is_end else count())


def _count(connection: Connection, wanted: Filter) -> int:
    """How many jobs are wanted."""
    term = _only_term(wanted)
    query = select(func.count()).select_from(JOBS)
    query = scanned(query, wanted) if term is None else _of_term(*term)
    return int(connection.execute(query).scalar_one())


def _found_by_term(connection: Connection, wanted: Filter) -> float:
    """How many jobs have the label or the metric that is wanted first; without any, all."""
    for term in _term_tables(wanted):
        some = _of_term(*term, most=_FEW + 1)
        return float(connection.execute(some).scalar_one())
    return math.inf


def _of_term(table: Table, condition: ColumnElement[bool], most: int | None = None) -> Select[Any]:
    if most is None:
        return select(func.count()).select_from(table).where(condition)
    some = select(table.c.job_id).where(condition).limit(most).subquery()
    return select(func.count()).select_from(some)


def _only_term(wanted: Filter) -> tuple[Table, ColumnElement[bool]] | None:
    """The label or the metric, where nothing else is wanted."""
    terms = list(_term_tables(wanted))
    is_alone = len(terms) == 1 and replace(wanted, labels=(), metrics=()) == EVERY_JOB
    return terms[0] if is_alone else None


def _term_tables(wanted: Filter) -> Iterator[tuple[Table, ColumnElement[bool]]]:
    for label in wanted.labels:
        yield LABELS, label_condition(LABELS, label)
    for metric in wanted.metrics:
        yield SERIES, metric_condition(SERIES, metric)
