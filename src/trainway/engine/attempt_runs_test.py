from dataclasses import dataclass, field

import pytest

from trainway.engine import attempt_runs
from trainway.engine.attempt_runs import Runs, begun, seconds_of, stopped
from trainway.engine.observation import Observation
from trainway.json_types import Json


def at(second: float) -> str:
    return f"2026-11-15T00:00:{second:09.6f}Z"


def pod(
    phase: str, second: float, attempt: int = 0, key: str = "node-0-0", start: float = 0
) -> Json:
    containers = [{"startedAt": at(start)}] if start else []
    noted = {"type": "pod", "pod": key, "time": at(second), "phase": phase, "attempt": attempt}
    return {**noted, "containers": containers}


def suspended(second: float, status: str) -> Json:
    conditions = [{"type": "Suspended", "status": status}]
    return {"type": "status", "time": at(second), "jobset": {"conditions": conditions}}


@dataclass(frozen=True)
class Case:
    name: str
    records: list[Json]
    spans: list[tuple[int, float]] = field(default_factory=list)
    """The attempt, and its seconds at second 50."""


CASES = [
    Case("nothing ran", [pod("Pending", 1)]),
    Case("it runs", [pod("Running", 11, start=10)], [(0, 40)]),
    Case("it ended", [pod("Running", 11, start=10), pod("Succeeded", 20, start=10)], [(0, 10)]),
    Case(
        "the last of two pods counts",
        [
            pod("Running", 11, start=10),
            pod("Running", 12, key="node-0-1", start=12),
            pod("Succeeded", 20),
            pod("Succeeded", 25, key="node-0-1"),
        ],
        [(0, 15)],
    ),
    Case(
        "between two attempts nothing is used",
        [pod("Running", 10), pod("Failed", 15), pod("Pending", 16, 1), pod("Running", 30, 1)],
        [(0, 5), (1, 20)],
    ),
    Case(
        "a new attempt ends the old one",
        [pod("Running", 10), pod("Running", 30, 1, key="node-0-1"), pod("Running", 31)],
        [(0, 20), (1, 20)],
    ),
    Case(
        "paused time does not count",
        [
            pod("Running", 10),
            suspended(15, "True"),
            pod("Failed", 16),
            suspended(29, "False"),
            pod("Running", 30),
        ],
        [(0, 5), (0, 20)],
    ),
    Case(
        "a time that is rounded down does not count twice",
        [pod("Running", 10), pod("Failed", 20.5), pod("Running", 21, start=20)],
        [(0, 10.5), (0, 29.5)],
    ),
    Case(
        "nobody noted that it ran",
        [
            pod("Succeeded", 20, start=10),
            pod("Succeeded", 25, key="node-0-1", start=11),
            pod("Succeeded", 40, start=10),
            pod("Failed", 45, 1, start=42),
        ],
        [(0, 15), (1, 3)],
    ),
    Case(
        "the end of the job ends all",
        [pod("Running", 10), {"type": "end", "time": at(22), "succeeded": True}],
        [(0, 12)],
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_when_attempts_ran(case: Case) -> None:
    whole = Observation()
    whole.fold(case.records)
    found = [(run["attempt"], seconds_of(run, at(50))) for run in whole.runs]
    assert found == case.spans
    piecewise = Observation()
    for record in case.records:
        piecewise.fold([record])
        piecewise = Observation.of(piecewise.to_dict(), piecewise.started)
    assert piecewise.runs == whole.runs


def test_very_many_spans_are_joined_and_no_second_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempt_runs, "_MOST", 3)
    runs: Runs = []
    for attempt in range(8):
        begun(runs, attempt, "", at(attempt * 5))
        stopped(runs, at(attempt * 5 + 2))
    assert len(runs) == 3
    assert sum(seconds_of(run, at(59)) for run in runs) == 16
    assert seconds_of({"attempt": 0, "start": at(10)}, at(30), since=at(20)) == 10
    assert seconds_of({"attempt": 0, "start": at(10), "end": at(12)}, at(30), since=at(20)) == 0
