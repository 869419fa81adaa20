"""Keeps the numbers of one process, and writes them as the page that Prometheus reads.

The number of series is bounded: labels may hold what users have named, such as backends, and a
metric with too many series counts further ones under `other`. Numbers that are known elsewhere
(the length of a queue, the age of a watch) are looked up when the page is read.

A library would do the same; this is 100 lines, needs nothing, and takes a tenth of the time to
import. The format: https://prometheus.io/docs/instrumenting/exposition_formats/
"""

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Final

from trainway.telemetry.metric import Metric, Sample, Type

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
MOST_SERIES: Final = 500
"""How many series a metric may have that counts; metrics that are looked up bound themselves."""
OTHER: Final = "other"

Labels = tuple[str, ...]
Collect = Callable[[], Iterable[Sample]]


class _Histogram:
    """How many values there were of each size."""

    __slots__ = ("buckets", "counts", "sum")

    def __init__(self, buckets: Sequence[float]) -> None:
        self.buckets = buckets
        self.counts = [0] * (len(buckets) + 1)
        self.sum = 0.0

    def observe(self, value: float) -> None:
        self.counts[bisect_left(self.buckets, value)] += 1
        self.sum += value


class Registry:
    """The numbers of some metrics. Metrics without labels exist from the start, with 0."""

    def __init__(self, metrics: Iterable[Metric]) -> None:
        self.metrics = tuple(metrics)
        self._values: dict[str, dict[Labels, float]] = {}
        self._histograms: dict[str, dict[Labels, _Histogram]] = {}
        self._collectors: list[Collect] = []
        for metric in self.metrics:
            if metric.type is Type.HISTOGRAM:
                self._histograms[metric.name] = {}
            else:
                self._values[metric.name] = {}

    def add(self, metric: Metric, *labels: str, amount: float = 1.0) -> None:
        """Count."""
        values = self._values[metric.name]
        labels = labels if labels in values else _bounded(labels, len(values))
        values[labels] = values.get(labels, 0.0) + amount

    def set(self, metric: Metric, *labels: str, value: float) -> None:
        """Note how much it is now."""
        values = self._values[metric.name]
        values[labels if labels in values else _bounded(labels, len(values))] = value

    def observe(self, metric: Metric, *labels: str, value: float) -> None:
        """Count a value by its size."""
        found = self._histograms[metric.name]
        known = found.get(labels)
        if known is None:
            labels = _bounded(labels, len(found))
            known = found.setdefault(labels, _Histogram(metric.buckets))
        known.observe(value)

    def remove(self, metric: Metric, *labels: str) -> None:
        """Show a series no more."""
        self._values[metric.name].pop(labels, None)

    def collect(self, collector: Collect) -> None:
        """Ask this function too whenever the page is read."""
        self._collectors.append(collector)

    def value(self, metric: Metric, *labels: str) -> float | None:
        """What the page says; of a histogram, how many values there were."""
        if metric.type is Type.HISTOGRAM:
            found = self._histograms[metric.name].get(labels)
            return None if found is None else float(sum(found.counts))
        for sample in self._collected():
            if (sample.metric, sample.labels) == (metric, labels):
                return sample.value
        return self._values[metric.name].get(labels)

    def page(self) -> str:
        """The text that Prometheus reads."""
        collected: dict[str, list[Sample]] = {}
        for sample in self._collected():
            collected.setdefault(sample.metric.name, []).append(sample)
        return "".join(
            f"{line}\n"
            for metric in self.metrics
            for line in self._lines(metric, collected.get(metric.name, ()))
        )

    def _collected(self) -> Iterator[Sample]:
        for collector in self._collectors:
            yield from collector()

    def _lines(self, metric: Metric, collected: Iterable[Sample]) -> Iterator[str]:
        lines = [f"{_series(item.metric, item.labels)} {_number(item.value)}" for item in collected]
        if metric.type is Type.HISTOGRAM:
            for labels, found in self._histograms[metric.name].items():
                lines += _histogram_lines(metric, labels, found)
        else:
            values = self._values[metric.name]
            if not metric.labels and not lines:
                values = values or {(): 0.0}
            lines += [f"{_series(metric, labels)} {_number(it)}" for labels, it in values.items()]
        if lines:
            yield f"# HELP {metric.name} {_escaped(metric.help)}"
            yield f"# TYPE {metric.name} {metric.type}"
            yield from lines


def _bounded(labels: Labels, known: int) -> Labels:
    return labels if known < MOST_SERIES else (OTHER,) * len(labels)


def _histogram_lines(metric: Metric, labels: Labels, found: _Histogram) -> Iterator[str]:
    bounds = [*(_number(bound) for bound in metric.buckets), "+Inf"]
    name = metric.name
    for bound, count in zip(bounds, accumulate(found.counts), strict=True):
        yield f"{_series(metric, labels, f'{name}_bucket', le=bound)} {_number(count)}"
    yield f"{_series(metric, labels, f'{name}_sum')} {_number(found.sum)}"
    yield f"{_series(metric, labels, f'{name}_count')} {_number(sum(found.counts))}"


def _series(metric: Metric, labels: Labels, name: str = "", **more: str) -> str:
    """A name with its labels, in the order of the alphabet."""
    pairs = sorted({**dict(zip(metric.labels, labels, strict=True)), **more}.items())
    text = ",".join(f'{key}="{_escaped(value, quoted=True)}"' for key, value in pairs)
    return f"{name or metric.name}{{{text}}}" if text else name or metric.name


def _number(value: float) -> str:
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return "NaN" if math.isnan(value) else repr(float(value))


def _escaped(text: str, *, quoted: bool = False) -> str:
    text = text.replace("\\", "\\\\").replace("\n", "\\n")
    text = text.replace('"', '\\"') if quoted else text
    return text.encode("utf-8", "backslashreplace").decode()
