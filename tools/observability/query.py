"""PromQL made of metric objects: what a query names exists, with the labels that it names. Pure.

Only what the dashboards and alerts need is here. A query remembers which metrics it reads, so that
a test can tell which are shown nowhere.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Self

from trainway.telemetry.metric import Metric, Type, gauge

WINDOW: Final = "$__rate_interval"
"""What Grafana replaces by four scrapes or one step of the graph, whichever is longer."""
OF_TARGET: Final = frozenset({"job", "instance"})
"""What Prometheus adds to every series."""
UP: Final = gauge("up", "1 if Prometheus could read the target")


@dataclass(frozen=True)
class Query:
    """An expression, the labels that its series have, and the metrics that it reads."""

    text: str
    labels: frozenset[str]
    metrics: frozenset[Metric] = frozenset()

    def __truediv__(self, other: "Query | float") -> Self:
        return self._with("/", other)

    def __mul__(self, other: "Query | float") -> Self:
        return self._with("*", other)

    def __sub__(self, other: "Query | float") -> Self:
        return self._with("-", other)

    def __gt__(self, limit: float) -> Self:
        return self._with(">", limit)

    def __lt__(self, limit: float) -> Self:
        return self._with("<", limit)

    def equals(self, value: float) -> Self:
        """Only the series with that value."""
        return self._with("==", value)

    def where(self, other: "Query", *on: str) -> Self:
        """Only the series that the other query has too, by these labels."""
        for query in (self, other):
            _check_labels(on, query.labels, query.text)
        text = f"{self.text} and on ({', '.join(on)}) {other.text}"
        return replace(self, text=text, metrics=self.metrics | other.metrics)

    def _with(self, operator: str, other: "Query | float") -> Self:
        if isinstance(other, Query):
            text = f"{_operand(self.text)} {operator} {_operand(other.text)}"
            labels = self.labels or other.labels  # time() has none
            return replace(self, text=text, labels=labels, metrics=self.metrics | other.metrics)
        return replace(self, text=f"{_operand(self.text)} {operator} {other:g}")


NOW: Final = Query("time()", frozenset())


def series(metric: Metric, **matchers: str) -> Query:
    """The series of a gauge or counter; a matcher starts with `=`, `!=`, `=~` or `!~`."""
    if metric.type is Type.HISTOGRAM:
        raise ValueError(f"{metric.name}: take quantile() of a histogram")
    return _selected(metric, metric.name, matchers)


def rate(metric: Metric, window: str = WINDOW, **matchers: str) -> Query:
    """How fast a counter grows, in units a second."""
    return _over_time("rate", _counter(metric, matchers), window)


def increase(metric: Metric, window: str, **matchers: str) -> Query:
    """How much a counter has grown."""
    return _over_time("increase", _counter(metric, matchers), window)


def events(metric: Metric, window: str = WINDOW, **matchers: str) -> Query:
    """How many values a histogram got, a second."""
    return _over_time("rate", _selected(metric, f"{metric.name}_count", matchers), window)


def over_time(function: str, query: Query, window: str) -> Query:
    """`avg_over_time` and its like, of a plain series."""
    return _over_time(f"{function}_over_time", query, window)


def changes(query: Query, window: str) -> Query:
    """How often a plain series has changed."""
    return _over_time("changes", query, window)


def total(query: Query, *by: str) -> Query:
    """The sum, by labels."""
    return _aggregated("sum", query, by)


def most(query: Query, *by: str) -> Query:
    """The largest, by labels."""
    return _aggregated("max", query, by)


def least(query: Query, *by: str) -> Query:
    """The smallest, by labels."""
    return _aggregated("min", query, by)


def mean(query: Query, *by: str) -> Query:
    """The mean, by labels."""
    return _aggregated("avg", query, by)


def count(query: Query, *by: str) -> Query:
    """How many series there are, by labels."""
    return _aggregated("count", query, by)


def quantile(
    share: float, metric: Metric, *by: str, window: str = WINDOW, **matchers: str
) -> Query:
    """The value of a histogram that so large a share does not exceed."""
    if metric.type is not Type.HISTOGRAM:
        raise ValueError(f"{metric.name} is not a histogram")
    buckets = _selected(metric, f"{metric.name}_bucket", matchers)
    grown = _over_time("rate", replace(buckets, labels=buckets.labels | {"le"}), window)
    found = total(grown, "le", *by)
    return replace(
        found,
        text=f"histogram_quantile({share:g}, {found.text})",
        labels=found.labels - {"le"},
    )


def _selected(metric: Metric, name: str, matchers: dict[str, str]) -> Query:
    labels = frozenset(metric.labels) | OF_TARGET
    _check_labels(matchers, labels, metric.name)
    parts = []
    for label, matcher in matchers.items():
        operator = next((op for op in ("=~", "!~", "!=", "=") if matcher.startswith(op)), None)
        if operator is None:
            raise ValueError(f"{metric.name}: {label}: {matcher!r} starts with no operator")
        value = matcher.removeprefix(operator).replace("\\", "\\\\").replace('"', '\\"')
        parts.append(f'{label}{operator}"{value}"')
    text = f"{name}{{{', '.join(parts)}}}" if parts else name
    return Query(text, labels, frozenset({metric}))


def _counter(metric: Metric, matchers: dict[str, str]) -> Query:
    if metric.type is not Type.COUNTER:
        raise ValueError(f"{metric.name} is not a counter")
    return _selected(metric, metric.name, matchers)


def _over_time(function: str, query: Query, window: str) -> Query:
    return replace(query, text=f"{function}({query.text}[{window}])")


def _aggregated(function: str, query: Query, by: Sequence[str]) -> Query:
    _check_labels(by, query.labels, query.text)
    head = f"{function} by ({', '.join(by)})" if by else function
    return replace(query, text=f"{head} ({query.text})", labels=frozenset(by))


def _check_labels(wanted: Iterable[str], known: frozenset[str], what: str) -> None:
    unknown = set(wanted) - known
    if unknown:
        raise ValueError(f"{what} has no label {', '.join(sorted(unknown))}")


def _operand(text: str) -> str:
    """The text, in parentheses where an operator outside all others would change its meaning."""
    depth = 0
    for at, sign in enumerate(text):
        depth += (sign in "([{") - (sign in ")]}")
        if depth == 0 and sign == " " and text[at + 1 : at + 2] in "+-*/<>=a":
            return f"({text})"
    return text
