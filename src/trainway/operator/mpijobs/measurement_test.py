from datetime import UTC, datetime

import pytest

from trainway.json_types import Json
from trainway.operator.mpijobs.measurement import Measurement, measure, phase_of

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


@pytest.mark.parametrize(
    ("before", "after", "end", "restarts"),
    [
        (0, 0, "Running", 0),
        (0, 1, "Running", 1),
        (1, 3, "Running", 2),
        (2, 2, "Running", 0),
        (2, 3, "Failed", 0),
        (1, 3, "Failed", 1),
        (1, 1, "Succeeded", 0),
        (2, 0, "Suspended", 0),
    ],
    ids=[
        "nothing",
        "first",
        "two at once",
        "counted already",
        "the last one failed",
        "the last one failed, and one before",
        "done",
        "a new launcher after a suspension",
    ],
)
def test_a_launcher_that_is_started_again_is_a_restart(
    before: int, after: int, end: str, restarts: int
) -> None:
    def with_failed(failed: int, *conditions: str) -> Json:
        counts = {"replicaStatuses": {"Launcher": {"failed": failed}} if failed else {}}
        return status(**dict.fromkeys(conditions, "True")) | counts

    old, new = with_failed(before, "Created", "Running"), with_failed(after, "Created", end)
    assert measure(at(0), old, new, [], NOW).restarts == restarts


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
