from dataclasses import dataclass

import pytest

from trainway.engine.metrics.report import Report, report_of
from trainway.json_types import Json

NOON = "2026-11-15T12:00:00Z"
SECONDS = 1794744000.0


@dataclass(frozen=True)
class Case:
    id: str
    metrics: dict[str, str]
    values: dict[str, float]
    step: int | None = None
    epoch: float | None = None
    percent: int | None = None


@pytest.mark.parametrize(
    "case",
    [
        Case("step and epoch", {"step": "3", "epoch": "0.5", "loss": "1"}, {"loss": 1.0}, 3, 0.5),
        Case("transformers", {"current_step": "5", "loss": "2"}, {"loss": 2.0}, 5),
        Case("a broken step is a value", {"step": "1.5"}, {"step": 1.5}),
        Case("progress", {}, {"progress": 40.0}, percent=40),
        Case("a metric of that name counts", {"progress": "0.4"}, {"progress": 0.4}, percent=40),
        Case("not a number", {"a": "nan", "b": "x", "e": "1"}, {"e": 1.0}),
        Case("not finite", {"a": "-inf", "b": "1e999", "e": "1"}, {"e": 1.0}),
    ],
    ids=lambda case: case.id,
)  # fmt: skip
def test_what_a_report_says(case: Case) -> None:
    pairs = [{"name": name, "value": value} for name, value in case.metrics.items()]
    status: Json = {"metrics": pairs, "lastUpdatedTime": NOON, "progressPercentage": case.percent}
    assert report_of(status) == Report(SECONDS, case.values, case.step, case.epoch)


def test_the_time_is_that_of_the_report_or_when_it_was_noted() -> None:
    metrics = [{"name": "loss", "value": "1"}]
    for time in (None, "soon", "0001-01-01T00:00:00+23:59", "1969-12-31T00:00:00Z"):
        found = report_of({"metrics": metrics, "lastUpdatedTime": time}, NOON)
        assert found is not None
        assert found.time == SECONDS
    other = report_of({"metrics": metrics, "lastUpdatedTime": "2026-11-15T13:00:00+01:00"}, "")
    assert other is not None
    assert other.time == SECONDS


def test_what_has_no_number_or_no_time_is_no_report() -> None:
    assert report_of({"metrics": [{"name": "a", "value": "nan"}]}, NOON) is None
    assert report_of({"metrics": [{"name": "a", "value": "1"}]}) is None
    assert report_of({}, NOON) is None
