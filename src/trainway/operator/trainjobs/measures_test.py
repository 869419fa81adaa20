from datetime import UTC, datetime, timedelta

from trainway.json_types import Json
from trainway.operator.trainjobs.measures import (
    Measure,
    Observed,
    Quantity,
    measure,
    next_measure,
)

BEGIN = datetime(2026, 1, 31, 12, 0, 0, tzinfo=UTC)
JOB: Json = {"metadata": {"creationTimestamp": "2026-01-31T12:00:00Z"}}
RESUMED: Json = {
    **JOB,
    "status": {
        "conditions": [
            {
                "type": "Suspended",
                "status": "False",
                "lastTransitionTime": "2026-01-31T12:00:20Z",
            }
        ]
    },
}


def jobset(ready: int = 0, restarts: int = 0, active: int = 1, uncounted: int = 0) -> Json:
    counts = {"name": "node", "ready": ready, "active": active}
    status = {"restarts": restarts + uncounted, "restartsCountTowardsMax": restarts}
    return {"status": {**status, "replicatedJobsStatus": [counts]}}


def story(*looks: tuple[float, Json | None], job: Json = JOB, gpus: int = 0) -> list[Measure]:
    observed, found = Observed(), []
    for seconds, state in looks:
        now = BEGIN + timedelta(seconds=seconds)
        observed, measures = measure(observed, job, state, gpus, now)
        found += measures
    return found


def test_the_time_to_running_counts_from_the_creation() -> None:
    looks = ((0, None), (5, jobset()), (12, jobset(ready=1)), (15, jobset(ready=1)))
    assert story(*looks) == [
        Measure(Quantity.RUNNING, 12.0),
        Measure(Quantity.GANG_WAIT, 7.0),
    ]


def test_the_time_to_running_counts_from_the_resume() -> None:
    looks = ((20, None), (21, jobset()), (25, jobset(ready=1)))
    assert story(*looks, job=RESUMED)[0] == Measure(Quantity.RUNNING, 5.0)


def test_a_job_that_runs_already_is_not_measured_again() -> None:
    assert story((100, jobset(ready=1)), (200, jobset(ready=1))) == []


def test_restarts_are_counted_once() -> None:
    looks = ((0, jobset()), (1, jobset(restarts=2)), (2, jobset(restarts=2)))
    assert story(*looks) == [Measure(Quantity.RESTARTS, 2)]
    assert story((0, jobset(restarts=3)), (1, jobset(restarts=3))) == []


def test_restarts_that_do_not_count_towards_the_most_are_told_apart() -> None:
    looks = ((0, jobset()), (1, jobset(uncounted=1)), (2, jobset(restarts=1, uncounted=3)))
    assert story(*looks) == [
        Measure(Quantity.UNCOUNTED_RESTARTS, 1),
        Measure(Quantity.RESTARTS, 1),
        Measure(Quantity.UNCOUNTED_RESTARTS, 2),
    ]


def test_gpus_are_billed_while_all_pods_are_ready() -> None:
    looks = (
        (0, jobset()),
        (10, jobset(ready=1)),
        (40, jobset(ready=1)),
        (50, jobset(ready=0)),
        (90, jobset(ready=0)),
        (100, None),
    )
    billed = [item.value for item in story(*looks, gpus=8) if item.quantity is Quantity.GPU_SECONDS]
    assert billed == [240.0, 80.0]


def test_a_job_that_holds_gpus_is_looked_at_while_it_runs() -> None:
    starting, _ = measure(Observed(), JOB, jobset(), 8, BEGIN)
    ready, _ = measure(starting, JOB, jobset(ready=1), 8, BEGIN)
    ended, _ = measure(ready, JOB, None, 8, BEGIN)
    assert next_measure(ready, 8) == timedelta(minutes=5)
    assert next_measure(ready, 0) is None
    assert next_measure(starting, 8) is None
    assert next_measure(ended, 8) is None
