import copy
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import pytest

from trainway.jobset.mpijob_status import (
    Event,
    Failure,
    MPIJobFacts,
    MPIJobOutcome,
    PodFacts,
    mpijob_status,
    set_condition,
)
from trainway.jobset.status import timestamp
from trainway.json_types import Json

BEGIN = datetime(2026, 1, 31, 12, 0, 0, tzinfo=UTC)
JOB = MPIJobFacts("ns", "pi", workers=2)
SUSPENDED_JOB = replace(JOB, suspend=True)


def at(seconds: float) -> datetime:
    return BEGIN + timedelta(seconds=seconds)


def stamp(seconds: float) -> str:
    return timestamp(at(seconds))


def ended(type_: str) -> Json:
    condition = {
        "type": type_,
        "status": "True",
        "reason": "FailedJobs",
        "message": "jobset ended",
        "lastTransitionTime": stamp(7),
    }
    return {"status": {"conditions": [condition]}}


ACTIVE: Json = {"status": {}}
COMPLETED = ended("Completed")
FAILED = ended("Failed")

NO_PODS = PodFacts()
SUSPENDED_PODS = PodFacts(launcher_exists=True)
STARTING = PodFacts(launcher_exists=True, workers_running=1)
RUNNING = PodFacts(launcher_exists=True, launcher_running=1, workers_running=2)
DONE = PodFacts(launcher_exists=True, launcher_completion_time=stamp(6), workers_running=2)


def gave_up(reason: str) -> PodFacts:
    """The launcher's Job has failed."""
    failure = Failure(reason, f"Job failed: {reason}")
    return PodFacts(launcher_exists=True, launcher_failed=1, launcher_failure=failure)


@dataclass(frozen=True)
class Step:
    """One look at an MPIJob: what there is at that moment."""

    jobset: Json | None
    pods: PodFacts
    job: MPIJobFacts = JOB


def look(step: Step, previous: Json, seconds: float) -> MPIJobOutcome:
    inputs = copy.deepcopy((previous, step.jobset))
    outcome = mpijob_status(step.job, previous, step.jobset, step.pods, at(seconds))
    assert (previous, step.jobset) == inputs
    return outcome


def test_times_and_messages_of_a_success() -> None:
    steps = [
        Step(None, NO_PODS),
        Step(ACTIVE, STARTING),
        Step(ACTIVE, RUNNING),
        Step(COMPLETED, DONE),
    ]
    status: Json = {}
    for seconds, step in enumerate(steps):
        status = look(step, status, seconds).status
    assert status == {
        "conditions": [
            {
                "type": "Created",
                "status": "True",
                "reason": "MPIJobCreated",
                "message": "MPIJob ns/pi is created.",
                "lastUpdateTime": stamp(0),
                "lastTransitionTime": stamp(0),
            },
            {
                "type": "Running",
                "status": "False",
                "reason": "MPIJobRunning",
                "message": "MPIJob ns/pi is running.",
                "lastUpdateTime": stamp(2),
                "lastTransitionTime": stamp(2),
            },
            {
                "type": "Succeeded",
                "status": "True",
                "reason": "MPIJobSucceeded",
                "message": "MPIJob ns/pi successfully completed.",
                "lastUpdateTime": stamp(3),
                "lastTransitionTime": stamp(3),
            },
        ],
        "startTime": stamp(0),
        "completionTime": stamp(6),
        "replicaStatuses": {"Launcher": {"succeeded": 1}, "Worker": {}},
    }


def test_a_job_that_was_never_seen_running_gets_the_condition_all_the_same() -> None:
    created = look(Step(None, NO_PODS), {}, 0).status
    outcome = look(Step(COMPLETED, replace(DONE, launcher_completion_time="")), created, 9)
    assert outcome.status["completionTime"] == stamp(7)
    assert outcome.status["conditions"][-1] == {
        "type": "Running",
        "status": "False",
        "reason": "MPIJobRunning",
        "message": "MPIJob ns/pi is finished but Running condition was never set.",
        "lastUpdateTime": stamp(7),
        "lastTransitionTime": stamp(7),
    }
    assert [event.reason for event in outcome.events] == ["MPIJobSucceeded"]


def test_replicas_are_counted_while_the_job_runs() -> None:
    pods = PodFacts(
        launcher_exists=True,
        launcher_running=1,
        launcher_failed=2,
        workers_running=1,
        workers_succeeded=3,
        workers_failed=4,
    )
    assert look(Step(ACTIVE, pods), {}, 0).status["replicaStatuses"] == {
        "Launcher": {"active": 1, "failed": 2},
        "Worker": {"active": 1, "succeeded": 3, "failed": 4},
    }


def test_the_launcher_is_not_counted_before_its_job_exists() -> None:
    status = look(Step(ACTIVE, PodFacts(workers_running=2)), {}, 0).status
    assert status["replicaStatuses"] == {"Worker": {"active": 2}}


def test_the_start_time_is_that_of_the_last_resume() -> None:
    started = look(Step(ACTIVE, RUNNING), {}, 0).status
    suspended = look(Step(ACTIVE, SUSPENDED_PODS, SUSPENDED_JOB), started, 5).status
    resumed = look(Step(ACTIVE, SUSPENDED_PODS), suspended, 9).status
    times = [status["startTime"] for status in (started, suspended, resumed)]
    assert times == [stamp(0), stamp(0), stamp(9)]


@pytest.mark.parametrize(
    ("pods", "reason", "message"),
    [
        (gave_up("DeadlineExceeded"), "DeadlineExceeded", "Job failed: DeadlineExceeded"),
        (SUSPENDED_PODS, "MPIJobFailed", "jobset ended"),
        (
            replace(
                gave_up("BackoffLimitExceeded"),
                last_failed_launcher_pod=Failure("OOMKilled", "out of memory"),
            ),
            "BackoffLimitExceeded/OOMKilled",
            "Job failed: BackoffLimitExceeded: out of memory",
        ),
        (
            replace(gave_up("BackoffLimitExceeded"), last_failed_launcher_pod=Failure()),
            "BackoffLimitExceeded",
            "Job failed: BackoffLimitExceeded",
        ),
        (
            replace(
                gave_up("DeadlineExceeded"), last_failed_launcher_pod=Failure("OOMKilled", "x")
            ),
            "DeadlineExceeded",
            "Job failed: DeadlineExceeded",
        ),
    ],
)
def test_why_a_job_failed(pods: PodFacts, reason: str, message: str) -> None:
    outcome = look(Step(FAILED, pods), {}, 9)
    failed = outcome.status["conditions"][1]
    assert (failed["type"], failed["reason"], failed["message"]) == ("Failed", reason, message)
    assert outcome.events[-1] == Event("Warning", reason, message)
    assert outcome.status["completionTime"] == stamp(9)


def test_a_long_message_is_cut() -> None:
    pods = PodFacts(launcher_exists=True, launcher_failure=Failure("X", "m" * 2000))
    assert len(look(Step(FAILED, pods), {}, 9).status["conditions"][1]["message"]) == 1024


def test_an_eviction_is_told_once_with_numbers_and_ends_nothing() -> None:
    pods = replace(RUNNING, workers_running=1, workers_failed=1, workers_evicted=1)
    first = look(Step(ACTIVE, pods), {}, 9)
    assert first.events[-1] == Event(
        "Warning", "MPIJobEvicted", "1/2 workers are evicted and replaced"
    )
    assert "completionTime" not in first.status
    again = look(Step(ACTIVE, replace(pods, workers_running=2)), first.status, 10)
    assert "MPIJobEvicted" not in [event.reason for event in again.events]


def _condition(type_: str, status: str, reason: str, seconds: float) -> Json:
    return {
        "type": type_,
        "status": status,
        "reason": reason,
        "message": "",
        "lastUpdateTime": stamp(seconds),
        "lastTransitionTime": stamp(seconds),
    }


@dataclass(frozen=True)
class Case:
    name: str
    former: list[Json]
    given: tuple[str, str, str]
    expected: list[Json]


A = _condition("A", "True", "R", 1)
B = _condition("B", "True", "R", 1)
RUNS = _condition("Running", "True", "R", 1)
FAILS = _condition("Failed", "True", "R", 1)


@pytest.mark.parametrize(
    "case",
    [
        Case("new", [A], ("B", "True", "R"), [A, _condition("B", "True", "R", 9)]),
        Case("nothing new", [A, B], ("A", "True", "R"), [A, B]),
        Case(
            "another reason keeps the transition and moves to the end",
            [A, B],
            ("A", "True", "S"),
            [B, {**_condition("A", "True", "S", 9), "lastTransitionTime": stamp(1)}],
        ),
        Case("another status", [A, B], ("A", "False", "S"), [B, _condition("A", "False", "S", 9)]),
        Case(
            "success ends running and an earlier failure",
            [RUNS, FAILS],
            ("Succeeded", "True", "R"),
            [
                {**RUNS, "status": "False"},
                {**FAILS, "status": "False"},
                _condition("Succeeded", "True", "R", 9),
            ],
        ),
        Case(
            "failure ends running",
            [RUNS, A],
            ("Failed", "True", "R"),
            [{**RUNS, "status": "False"}, A, _condition("Failed", "True", "R", 9)],
        ),
    ],
    ids=lambda case: case.name,
)
def test_setting_a_condition(case: Case) -> None:
    type_, status, reason = case.given
    given = {"type": type_, "status": status, "reason": reason, "message": ""}
    former = copy.deepcopy(case.former)
    assert set_condition(former, given, at(9)) == case.expected
    assert former == case.former


def test_a_job_that_ran_while_nobody_looked_has_run() -> None:
    created = mpijob_status(JOB, {}, ACTIVE, NO_PODS, at(0)).status
    late = replace(DONE, workers_running=0, ran_together=True)
    outcome = mpijob_status(JOB, created, COMPLETED, late, at(9))
    assert [event.reason for event in outcome.events] == ["MPIJobRunning", "MPIJobSucceeded"]
    running = {each["type"]: each for each in outcome.status["conditions"]}["Running"]
    assert (running["status"], running["reason"]) == ("False", "MPIJobRunning")
    assert running["message"] == "MPIJob ns/pi is running."


def test_a_worker_that_failed_at_once_has_run_with_the_others() -> None:
    pods = replace(RUNNING, workers_running=1, workers_failed=1, ran_together=True)
    outcome = mpijob_status(JOB, {}, ACTIVE, pods, at(0))
    assert [event.reason for event in outcome.events] == ["MPIJobCreated", "MPIJobRunning"]


def test_a_suspended_job_does_not_run_whatever_its_pods_did() -> None:
    outcome = mpijob_status(SUSPENDED_JOB, {}, ACTIVE, replace(RUNNING, ran_together=True), at(0))
    assert "MPIJobRunning" not in [event.reason for event in outcome.events]
