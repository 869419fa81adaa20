"""Filters of jobs as SQL, for all that read the table of jobs."""

import json
from dataclasses import fields
from typing import Any, Final

from sqlalchemy import Column, ColumnElement, Row, Select, exists, func, or_

from trainway.engine.job_filter import COMPARISONS, Filter, LabelTerm, MetricTerm
from trainway.engine.phases import Phase
from trainway.engine.record import JobRecord, storable
from trainway.engine.tables import JOBS, SERIES

_LARGE: Final = frozenset({"observed"})
ALL: Final = [JOBS.c[field.name] for field in fields(JobRecord)]
SUMMARY: Final = [column for column in ALL if column.name not in _LARGE]


def filtered(query: Select[Any], wanted: Filter) -> Select[Any]:
    """The query, for the jobs that are wanted."""
    if wanted.phases:
        query = query.where(JOBS.c.phase.in_(sorted(wanted.phases)))
    if wanted.name:
        query = query.where(JOBS.c.name == wanted.name)
    if wanted.text:
        name = func.lower(JOBS.c.name).contains(wanted.text.lower(), autoescape=True)
        query = query.where(or_(name, JOBS.c.id == wanted.text))
    if wanted.kind:
        query = query.where(JOBS.c.kind == wanted.kind)
    if wanted.before:
        query = query.where(JOBS.c.id < wanted.before)
    if wanted.backend:
        query = query.where(JOBS.c.backend == wanted.backend)
    if wanted.after:
        query = query.where(JOBS.c.id > wanted.after)
    if wanted.run:
        query = query.where(JOBS.c.run == wanted.run, JOBS.c.replaced_by.is_(None))
    for term in wanted.labels:
        query = query.where(_contains(JOBS.c.labels, _label_text(term)))
    for metric in wanted.metrics:
        query = query.where(_reports(metric))
    return query


def _label_text(term: LabelTerm) -> str:
    """What a job's labels, as JSON, contain if it has that one; no key or value has a quote."""
    value = "" if term.value is None else f'{term.value}"'
    return f'{json.dumps(term.key)}: "{value}'


def _contains(column: Column[str], text: str) -> ColumnElement[bool]:
    """Whether a text is in the column; `LIKE` would not tell capitals apart on SQLite."""
    return func.replace(column, text, "") != column


def _reports(term: MetricTerm) -> ColumnElement[bool]:
    """Whether a job has last reported such a value of that metric."""
    last = COMPARISONS[term.comparison](SERIES.c.last, term.value)
    return exists().where(SERIES.c.job_id == JOBS.c.id, SERIES.c.name == storable(term.name), last)


def record_of(row: Row[Any]) -> JobRecord:
    """A row of all columns, or of those of a summary."""
    values = row._asdict()
    values["phase"] = Phase(values["phase"])
    return JobRecord(**values)
