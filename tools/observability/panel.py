"""What a dashboard is made of: panels with queries, in rows, and what the reader may choose."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from observability.query import Query


class Unit(StrEnum):
    """How Grafana writes a number."""

    NONE = "short"
    SECONDS = "s"
    BYTES = "bytes"
    RATIO = "percentunit"
    PER_SECOND = "cps"
    REQUESTS = "reqps"
    WATTS = "watt"
    CELSIUS = "celsius"
    DAYS = "d"


class Shape(StrEnum):
    """How Grafana draws a panel."""

    GRAPH = "timeseries"
    NUMBER = "stat"
    BARS = "bargauge"
    TABLE = "table"


@dataclass(frozen=True)
class Line:
    """One query of a panel; the legend may name labels that its series have."""

    query: Query
    legend: str = ""


@dataclass(frozen=True)
class Panel:
    """One picture. `what` says what a reader should see in it, and what to do about it."""

    title: str
    what: str
    lines: Sequence[Line]
    unit: Unit = Unit.NONE
    shape: Shape = Shape.GRAPH
    is_stacked: bool = False
    red_above: float | None = None
    """From here on a number is shown in red."""
    red_below: float | None = None
    """Up to here a number is shown in red."""
    width: int = 0
    """Of 24; 0: an equal part of its row."""


@dataclass(frozen=True)
class Row:
    """Panels beside each other, below a title."""

    title: str
    panels: Sequence[Panel]
    height: int = 8


@dataclass(frozen=True)
class Variable:
    """What the reader chooses at the top: values of a label."""

    name: str
    title: str
    query: Query
    label: str
    is_multiple: bool = True


@dataclass(frozen=True)
class Dashboard:
    """One page of Grafana."""

    uid: str
    title: str
    description: str
    variables: Sequence[Variable]
    rows: Sequence[Row]

    @property
    def panels(self) -> list[Panel]:
        """All its panels."""
        return [panel for row in self.rows for panel in row.panels]


def graph(title: str, what: str, *lines: Line, unit: Unit = Unit.NONE, width: int = 0) -> Panel:
    """Lines over time."""
    return Panel(title, what, lines, unit, width=width)


def stacked(title: str, what: str, *lines: Line, unit: Unit = Unit.NONE, width: int = 0) -> Panel:
    """Areas over time, on top of each other."""
    return Panel(title, what, lines, unit, is_stacked=True, width=width)


def number(
    title: str,
    what: str,
    query: Query,
    *,
    unit: Unit = Unit.NONE,
    legend: str = "",
    red_above: float | None = None,
    red_below: float | None = None,
) -> Panel:
    """One number, as it is now."""
    lines = (Line(query, legend),)
    return Panel(title, what, lines, unit, Shape.NUMBER, red_above=red_above, red_below=red_below)


def bars(title: str, what: str, *lines: Line, unit: Unit = Unit.NONE) -> Panel:
    """A bar for each series, as it is now."""
    return Panel(title, what, lines, unit, Shape.BARS)


def table(title: str, what: str, query: Query, width: int = 0) -> Panel:
    """The labels of all series."""
    return Panel(title, what, (Line(query),), shape=Shape.TABLE, width=width)
