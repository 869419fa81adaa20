"""The status of an MPIJob from its first look to its last, step by step, as it was recorded."""

from dataclasses import dataclass, replace

import pytest

from trainway.jobset.mpijob_status import (
    Event,
    PodFacts,
)
from trainway.jobset.mpijob_status_test import (
    ACTIVE,
    COMPLETED,
    DONE,
    FAILED,
    JOB,
    NO_PODS,
    RUNNING,
    STARTING,
    SUSPENDED_JOB,
    SUSPENDED_PODS,
    Step,
    gave_up,
    look,
)
from trainway.json_types import Json


@dataclass(frozen=True)
class Story:
    """What MPI Operator 0.8.2 reported on a real cluster; see conformance/mpijob-behaviour."""

    name: str
    steps: tuple[Step, ...]
    conditions: tuple[tuple[str, str, str], ...]
    replicas: Json
    events: tuple[str, ...]
    start_time: bool = True
    completion_time: bool = True


CREATED = ("Created", "True", "MPIJobCreated")


RAN = ("Running", "False", "MPIJobRunning")


SUCCEEDED = ("Succeeded", "True", "MPIJobSucceeded")


SUCCESS_EVENTS = ("Normal MPIJobCreated", "Normal MPIJobRunning", "Normal MPIJobSucceeded")


ALONE = replace(JOB, workers=0)


STORIES = [
    Story(
        "deadline",
        (
            Step(None, NO_PODS),
            Step(ACTIVE, RUNNING),
            Step(FAILED, gave_up("DeadlineExceeded")),
        ),
        (CREATED, RAN, ("Failed", "True", "DeadlineExceeded")),
        {"Launcher": {"failed": 1}, "Worker": {}},
        ("Normal MPIJobCreated", "Normal MPIJobRunning", "Warning DeadlineExceeded"),
    ),
    Story(
        "launcher-fails",
        (
            Step(None, NO_PODS),
            Step(ACTIVE, RUNNING),
            Step(ACTIVE, replace(RUNNING, launcher_running=0)),
            Step(FAILED, gave_up("BackoffLimitExceeded")),
        ),
        (CREATED, RAN, ("Failed", "True", "BackoffLimitExceeded")),
        {"Launcher": {"failed": 1}, "Worker": {}},
        ("Normal MPIJobCreated", "Normal MPIJobRunning", "Warning BackoffLimitExceeded"),
    ),
    Story(
        "launcher-retries",
        (
            Step(ACTIVE, STARTING),
            Step(ACTIVE, RUNNING),
            Step(ACTIVE, replace(RUNNING, launcher_running=0)),
            Step(ACTIVE, RUNNING),
            Step(COMPLETED, DONE),
        ),
        (CREATED, RAN, SUCCEEDED),
        {"Launcher": {"succeeded": 1}, "Worker": {}},
        SUCCESS_EVENTS,
    ),
    Story(
        "no-workers",
        (
            Step(ACTIVE, PodFacts(), ALONE),
            Step(ACTIVE, PodFacts(launcher_exists=True, launcher_running=1), ALONE),
            Step(COMPLETED, PodFacts(launcher_exists=True), ALONE),
        ),
        (CREATED, RAN, SUCCEEDED),
        {"Launcher": {"succeeded": 1}, "Worker": {}},
        SUCCESS_EVENTS,
    ),
    Story(
        "resumed",
        (
            Step(None, NO_PODS, SUSPENDED_JOB),
            Step(ACTIVE, SUSPENDED_PODS, SUSPENDED_JOB),
            Step(ACTIVE, SUSPENDED_PODS),
            Step(ACTIVE, RUNNING),
            Step(COMPLETED, DONE),
            Step(COMPLETED, replace(DONE, workers_running=0)),
        ),
        (CREATED, ("Suspended", "False", "MPIJobResumed"), RAN, SUCCEEDED),
        {"Launcher": {"succeeded": 1}, "Worker": {}},
        (
            "Normal MPIJobCreated",
            "Normal MPIJobSuspended",
            "Normal MPIJobResumed",
            "Normal MPIJobRunning",
            "Normal MPIJobSucceeded",
        ),
    ),
    Story(
        "succeeds",
        (
            Step(None, NO_PODS),
            Step(ACTIVE, STARTING),
            Step(ACTIVE, RUNNING),
            Step(COMPLETED, DONE),
            Step(None, NO_PODS),
        ),
        (CREATED, RAN, SUCCEEDED),
        {"Launcher": {"succeeded": 1}, "Worker": {}},
        SUCCESS_EVENTS,
    ),
    Story(
        "suspended",
        (Step(None, NO_PODS, SUSPENDED_JOB), Step(ACTIVE, SUSPENDED_PODS, SUSPENDED_JOB)),
        (
            CREATED,
            ("Suspended", "True", "MPIJobSuspended"),
            ("Running", "False", "MPIJobSuspended"),
        ),
        {"Launcher": {}, "Worker": {}},
        ("Normal MPIJobCreated", "Normal MPIJobSuspended"),
        start_time=False,
        completion_time=False,
    ),
    Story(
        "worker-fails-job-goes-on",
        (
            Step(ACTIVE, RUNNING),
            Step(ACTIVE, replace(RUNNING, workers_running=0, workers_failed=2)),
            Step(COMPLETED, replace(DONE, workers_running=0, workers_failed=2)),
        ),
        (CREATED, RAN, SUCCEEDED),
        {"Launcher": {"succeeded": 1}, "Worker": {}},
        SUCCESS_EVENTS,
    ),
    Story(
        "a running job is suspended",
        (Step(ACTIVE, RUNNING), Step(ACTIVE, SUSPENDED_PODS, SUSPENDED_JOB)),
        (
            CREATED,
            ("Suspended", "True", "MPIJobSuspended"),
            ("Running", "False", "MPIJobSuspended"),
        ),
        {"Launcher": {}, "Worker": {}},
        ("Normal MPIJobCreated", "Normal MPIJobRunning", "Normal MPIJobSuspended"),
        completion_time=False,
    ),
    Story(
        "a worker is evicted",
        (
            Step(ACTIVE, RUNNING),
            Step(ACTIVE, replace(RUNNING, workers_running=1, workers_failed=1, workers_evicted=1)),
            Step(ACTIVE, RUNNING),
        ),
        (CREATED, ("Running", "True", "MPIJobRunning")),
        {"Launcher": {"active": 1}, "Worker": {"active": 2}},
        ("Normal MPIJobCreated", "Normal MPIJobRunning", "Warning MPIJobEvicted"),
        completion_time=False,
    ),
    Story(
        "the JobSet fails before there is a launcher",
        (Step(ACTIVE, NO_PODS), Step(FAILED, NO_PODS)),
        (CREATED, ("Failed", "True", "MPIJobFailed"), RAN),
        {"Worker": {}},
        ("Normal MPIJobCreated", "Warning MPIJobFailed"),
    ),
]


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
def test_stories_end_as_recorded(story: Story) -> None:
    status: Json = {}
    events: list[Event] = []
    for seconds, step in enumerate(story.steps):
        outcome = look(step, status, seconds)
        again = look(step, outcome.status, seconds + 0.5)
        assert again.events == ()
        assert again.status["conditions"] == outcome.status["conditions"]
        status = outcome.status
        events.extend(outcome.events)
    found = tuple((c["type"], c["status"], c["reason"]) for c in status["conditions"])
    assert found == story.conditions
    assert status["replicaStatuses"] == story.replicas
    assert [f"{event.type} {event.reason}" for event in events] == list(story.events)
    assert ("startTime" in status) == story.start_time
    assert ("completionTime" in status) == story.completion_time
