"""Which jobs are listed: by phase, name, label, age and last reported metric. Pure.

The terms of a filter are read here from what a request says, so that nonsense is refused in one
place and with the name of the parameter.
"""

import math
import operator
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

from trainway.engine.phases import Phase
from trainway.errors import UsageError
from trainway.jobset.label_syntax import key_problem, value_problem

COMPARISONS: Final[Mapping[str, Callable[[Any, float], Any]]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "!=": operator.ne,
    "==": operator.eq,
    "<": operator.lt,
    ">": operator.gt,
    "=": operator.eq,
}
"""What a condition does to a value, or to a column of values."""
_METRIC: Final = re.compile(r"\s*([^<>=!]+?)\s*(<=|>=|!=|==|<|>|=)\s*([^\s<>=!]+)\s*")
_SHOWN: Final = 80
"""How many characters of a text that is wrong are shown."""


@dataclass(frozen=True)
class LabelTerm:
    """A label that a job must have."""

    key: str
    value: str | None = None
    """The value of the label; None: any."""


@dataclass(frozen=True)
class MetricTerm:
    """What the last report of a metric must be."""

    name: str
    comparison: str
    value: float


@dataclass(frozen=True)
class Filter:
    """Which jobs to list."""

    phases: Collection[Phase] = ()
    """The phases of the jobs; empty: all."""
    name: str = ""
    text: str = ""
    """What is in the names of the jobs, in any case; or the id of one."""
    kind: str = ""
    place: str = ""
    """The backend of the jobs, or that of which it is a part: `slurm/hpc` of `slurm/hpc/gpus`."""
    before: str = ""
    """The id than which the jobs are older."""
    backend: str = ""
    after: str = ""
    """The id than which the jobs are younger."""
    run: str = ""
    """The id of the run that the jobs belong to; those that were replaced do not any more."""
    labels: Sequence[LabelTerm] = ()
    """The labels that a job must have, all of them."""
    metrics: Sequence[MetricTerm] = ()
    """The conditions on metrics that a job must meet, all of them."""

    def asks_only(self, *names: str) -> bool:
        """Whether no other fields than these say anything, but the age of the jobs."""
        allowed = {*names, "before", "after"}
        return all(field.name in allowed or not getattr(self, field.name) for field in fields(self))


EVERY_JOB: Final = Filter()


def label_terms(texts: Sequence[str]) -> list[LabelTerm]:
    """The terms of `team=nlp` and `team`."""
    return [_label_term(text) for text in texts]


def _label_term(text: str) -> LabelTerm:
    key, has_value, value = text.partition("=")
    problem = key_problem(key) or value_problem(value)
    if problem is not None:
        raise UsageError(
            f"not a label: {text[:_SHOWN]!r}: {problem}",
            field="label",
            hint="write KEY or KEY=VALUE",
        )
    return LabelTerm(key, value if has_value else None)


def metric_terms(texts: Sequence[str]) -> list[MetricTerm]:
    """The terms of `loss<0.3`."""
    return [_metric_term(text) for text in texts]


def _metric_term(text: str) -> MetricTerm:
    match = _METRIC.fullmatch(text)
    try:
        name, comparison, number = match.groups() if match else ("", "", "")
        value = float(number)
    except ValueError:
        value = math.nan
    if math.isnan(value):
        raise UsageError(
            f"not a condition on a metric: {text[:_SHOWN]!r}",
            field="metric",
            hint="write NAME, then one of < <= > >= = !=, then a number: loss<0.3",
        )
    return MetricTerm(name, comparison, value)
