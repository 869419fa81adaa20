from datetime import UTC, datetime

import pytest

from trainway.json_types import Json
from trainway.operator.mpijobs.measurement import Measurement, launcher_restarts, measure, phase_of
from trainway.operator.mpijobs.memory import JobMemory

NOW = datetime(2026, 1, 31, 12, 1, 0, tzinfo=UTC)


def at(second: int) -> str:
    return f"2026-01-31T12:00:{second:02}Z"


def status(**conditions: str) -> Json:
    """Types with their status; all since second 20."""
    return {
        "conditions": [
            {"type": type_, "status": value, "lastTransitionTime": at(20)}
            for type_, value in conditions.items()
        ]
    }


CREATED = status(Created="True")
RUNNING = status(Created="True", Running="True")


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ({}, CREATED, Measurement(created=True)),
        (CREATED, CREATED, Measurement()),
        (CREATED, RUNNING, Measurement(time_to_running=60.0, gang_wait=50.0)),
        (RUNNING, RUNNING, Measurement()),
        (
            status(Running="False", Suspended="True"),
            status(Running="True", Suspended="False"),
            Measurement(gang_wait=50.0),
        ),
        (RUNNING, status(Running="False", Suspended="True"), Measurement(ran=40.0)),
        (
            RUNNING,
            status(Running="False", Succeeded="True"),
            Measurement(finished="Succeeded", ran=40.0),
        ),
        (CREATED, status(Running="False", Failed="True"), Measurement(finished="Failed")),
        (status(Failed="True"), status(Failed="True", Running="False"), Measurement()),
    ],
    ids=[
        "first seen",
        "nothing",
        "all run",
        "still run",
        "resumed",
        "suspended",
        "done",
        "failed before it ran",
        "was over already",
    ],
)
def test_measure(old: Json, new: Json, found: Measurement) -> None:
    assert measure(at(0), old, new, [at(15), at(10)], NOW) == found


def launched(failed: int, active: int, condition: str = "Running") -> Json:
    """A status with so many launchers."""
    counts = {"failed": failed, "active": active}
    replicas = {"Launcher": {name: count for name, count in counts.items() if count}}
    return status(Created="True", **{condition: "True"}) | {"replicaStatuses": replicas}


@pytest.mark.parametrize(
    ("found", "restarts"),
    [
        ({}, 0),
        (launched(0, 1), 0),
        (launched(2, 1), 2),
        (launched(2, 0), None),
        (launched(2, 0, "Succeeded"), 2),
        (launched(2, 0, "Failed"), 1),
        (launched(0, 0, "Failed"), 0),
    ],
    ids=["new", "runs", "runs again", "open", "done", "the last one failed", "a deadline"],
)
def test_a_launcher_that_is_started_again_is_a_restart(found: Json, restarts: int | None) -> None:
    assert launcher_restarts(found) == restarts


@pytest.mark.parametrize(
    ("looks", "counted"),
    [
        ([0, None, None, 1, 1, 3], [0, 0, 0, 1, 0, 2]),
        ([0, None, 0], [0, 0, 0]),
        ([2, 2, 3], [0, 0, 1]),
        ([None, 1, 0, 1], [0, 1, 0, 1]),
    ],
    ids=["one after another", "no other followed", "a new operator", "a new launcher's Job"],
)
def test_restarts_are_counted_once(looks: list[int | None], counted: list[int]) -> None:
    memory = JobMemory("uid")
    before = [looks[0], *looks]
    found = [memory.more_restarts(old, new) for old, new in zip(before, looks, strict=False)]
    assert found == counted


def test_a_clock_that_goes_back_gives_no_negative_times() -> None:
    assert measure("2026-01-31T12:02:00Z", CREATED, RUNNING, [], NOW).time_to_running == 0.0


@pytest.mark.parametrize(
    ("conditions", "phase"),
    [
        ({}, "Pending"),
        ({"Created": "True"}, "Created"),
        ({"Created": "True", "Running": "True", "Suspended": "False"}, "Running"),
        ({"Running": "False", "Suspended": "True"}, "Suspended"),
        ({"Running": "False", "Suspended": "False", "Succeeded": "True"}, "Succeeded"),
    ],
)
def test_phases(conditions: dict[str, str], phase: str) -> None:
    assert phase_of({"status": status(**conditions)}) == phase
