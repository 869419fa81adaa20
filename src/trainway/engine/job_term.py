"""Jobs with one label or one metric, found in the table of these alone.

There a job is a small row that knows its run, in an index that is sorted by run and age: who asks
for no more than that label or metric, and for some age, needs the table of jobs only to show rows.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import ColumnElement, Select, Table, and_, select

from trainway.engine.job_filter import Filter
from trainway.engine.job_query import label_condition, metric_condition
from trainway.engine.tables import LABELS, SERIES


@dataclass(frozen=True)
class Term:
    """Rows of a table, one for each job that has something."""

    table: Table
    condition: ColumnElement[bool]
    is_ordered: bool = True
    """Whether the index has these rows, within a run, in the order of the jobs' ids."""

    def rows(self, *columns: ColumnElement[Any]) -> Select[Any]:
        """These columns of the rows."""
        return select(*columns).select_from(self.table).where(self.condition)


def terms_of(wanted: Filter) -> Iterator[Term]:
    """One for each label and metric that is wanted."""
    for label in wanted.labels:
        yield Term(LABELS, label_condition(LABELS, label), label.value is not None)
    for metric in wanted.metrics:
        yield Term(SERIES, metric_condition(SERIES, metric))


def only_term(wanted: Filter) -> Term | None:
    """The label or the metric, where nothing else is wanted but some age."""
    terms = list(terms_of(wanted))
    if len(terms) != 1 or not wanted.asks_only("labels", "metrics"):
        return None
    (term,) = terms
    job_id = term.table.c.job_id
    ages = [job_id < wanted.before] if wanted.before else []
    ages += [job_id > wanted.after] if wanted.after else []
    return replace(term, condition=and_(term.condition, *ages))
