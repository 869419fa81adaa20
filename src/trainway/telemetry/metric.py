"""What is measured, as data: a metric has a name, a type, labels, and a sentence that explains it.

Everything that names a metric reads these values: who counts, the page for Prometheus, the
documentation, the dashboards and the alerts. So no query can name a metric that does not exist.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

SHORT_S: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
"""Buckets for what is done at once."""
LONG_S: Final = (0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 14400, 86400)
"""Buckets for what people wait for."""


class Type(StrEnum):
    """How a metric changes."""

    COUNTER = "counter"
    """It only grows, from 0 at the start of the process."""
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True)
class Metric:
    """One metric."""

    name: str
    type: Type
    help: str
    labels: Sequence[str] = ()
    buckets: Sequence[float] = ()

    def __post_init__(self) -> None:
        if bool(self.buckets) is not (self.type is Type.HISTOGRAM):
            raise ValueError(f"{self.name}: histograms have buckets, and nothing else does")


class Sample(NamedTuple):
    """The value of a metric now, for some values of its labels."""

    metric: Metric
    labels: tuple[str, ...]
    value: float


def counter(name: str, help_: str, *labels: str) -> Metric:
    """A metric that only grows."""
    return Metric(name, Type.COUNTER, help_, labels)


def gauge(name: str, help_: str, *labels: str) -> Metric:
    """A metric that goes up and down."""
    return Metric(name, Type.GAUGE, help_, labels)


def histogram(name: str, help_: str, *labels: str, buckets: Sequence[float]) -> Metric:
    """A metric that counts values by their size."""
    return Metric(name, Type.HISTOGRAM, help_, labels, buckets)
