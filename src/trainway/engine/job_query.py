"""Filters of jobs as SQL, for all that read the table of jobs."""

from collections.abc import Iterator
from dataclasses import fields
from typing import Any, Final

from sqlalchemy import (
    Boolean,
    ColumnElement,
    FromClause,
    Row,
    Select,
    and_,
    exists,
    func,
    literal,
    or_,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from trainway.engine.job_filter import COMPARISONS, Filter, LabelTerm, MetricTerm
from trainway.engine.phases import Phase
from trainway.engine.record import JobRecord, storable
from trainway.engine.tables import JOBS, LABELS, SERIES

_LARGE: Final = frozenset({"observed", "move", "candidates", "recovery"})
ALL: Final = [JOBS.c[field.name] for field in fields(JobRecord)]
SUMMARY: Final = [column for column in ALL if column.name not in _LARGE]


def filtered(query: Select[Any], wanted: Filter) -> Select[Any]:
    """The query, for the jobs that are wanted; good where these are few."""
    query = query.where(*_conditions(wanted, JOBS.c.phase, JOBS.c.backend))
    for table, condition in _terms(wanted):
        query = query.join(table, condition)
    return query


def scanned(query: Select[Any], wanted: Filter) -> Select[Any]:
    """The same, good where they are many: it goes through an index with all that lists show.

    SQLite would take the index of a phase or of a label otherwise, which seems to find few jobs,
    and then look each of them up.
    """
    phase, backend = (func.coalesce(column, "") for column in (JOBS.c.phase, JOBS.c.backend))
    query = query.where(*_conditions(wanted, phase, backend))
    return query.where(*(exists().where(condition) for _, condition in _terms(wanted)))


def is_indexed(wanted: Filter) -> bool:
    """Whether an index finds just the jobs that are wanted, so that they need only be counted."""
    return wanted.asks_only("phases") or wanted.asks_only("backend")


def _conditions(
    wanted: Filter, phase: ColumnElement[str], backend: ColumnElement[str]
) -> Iterator[ColumnElement[bool]]:
    """What the columns of a job must be."""
    if wanted.phases:
        yield phase.in_(sorted(wanted.phases))
    if wanted.name:
        yield JOBS.c.name == wanted.name
    if wanted.text:
        yield or_(_has_text(JOBS.c.name, wanted.text), JOBS.c.id == wanted.text)
    if wanted.kind:
        yield JOBS.c.kind == wanted.kind
    if wanted.place:
        part = backend.startswith(f"{wanted.place}/", autoescape=True)
        yield or_(backend == wanted.place, part)
    if wanted.before:
        yield JOBS.c.id < wanted.before
    if wanted.backend:
        yield backend == wanted.backend
    if wanted.after:
        yield JOBS.c.id > wanted.after
    if wanted.run:
        yield JOBS.c.run == wanted.run
        yield JOBS.c.replaced_by.is_(None)


def _terms(wanted: Filter) -> Iterator[tuple[FromClause, ColumnElement[bool]]]:
    """The other tables that are asked, and which row must be there: at most one for each job."""
    for label in wanted.labels:
        table = LABELS.alias()
        yield table, and_(table.c.job_id == JOBS.c.id, label_condition(table, label))
    for metric in wanted.metrics:
        table = SERIES.alias()
        yield table, and_(table.c.job_id == JOBS.c.id, metric_condition(table, metric))


def label_condition(table: FromClause, term: LabelTerm) -> ColumnElement[bool]:
    """Whether a row is that label of a job."""
    has_value = () if term.value is None else (table.c.value == term.value,)
    return and_(table.c.key == term.key, *has_value)


def metric_condition(table: FromClause, term: MetricTerm) -> ColumnElement[bool]:
    """Whether a row is the series of that metric, and its last report such a value."""
    last = COMPARISONS[term.comparison](table.c.last, term.value)
    return and_(table.c.name == storable(term.name), last)


class _HasText(FunctionElement[bool]):
    """Whether a text is like a pattern, in any case."""

    type = Boolean()
    inherit_cache = True


@compiles(_HasText)
def _in_any_case(element: _HasText, compiler: SQLCompiler, **more: Any) -> str:
    column, pattern = (compiler.process(each, **more) for each in element.clauses)
    return f"lower({column}) LIKE {pattern} ESCAPE '/'"


@compiles(_HasText, "postgresql")
def _in_ascii(element: _HasText, compiler: SQLCompiler, **more: Any) -> str:
    """What is lower by the rules of a language takes PostgreSQL twice as long."""
    column, pattern = (compiler.process(each, **more) for each in element.clauses)
    return f"lower({column} COLLATE \"C\") LIKE {pattern} ESCAPE '/'"


@compiles(_HasText, "sqlite")
def _as_it_is(element: _HasText, compiler: SQLCompiler, **more: Any) -> str:
    """SQLite's LIKE tells no capitals apart; without `lower` a long list takes half the time."""
    column, pattern = (compiler.process(each, **more) for each in element.clauses)
    return f"{column} LIKE {pattern} ESCAPE '/'"


def _has_text(column: ColumnElement[str], text: str) -> ColumnElement[bool]:
    escaped = text.lower().replace("/", "//").replace("%", "/%").replace("_", "/_")
    return _HasText(column, literal(f"%{escaped}%"))


def record_of(row: Row[Any]) -> JobRecord:
    """A row of all columns, or of those of a summary."""
    values = row._asdict()
    values["phase"] = Phase(values["phase"])
    return JobRecord(**values)
