import copy
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest

from trainway.jobset.status import set_condition, timestamp
from trainway.jobset.trainjob_status import (
    TrainJobFacts,
    TrainJobOutcome,
    trainjob_status,
    unsupported_runtime_status,
)
from trainway.json_types import Json
from trainway.schema.kubernetes import kube
from trainway.schema.validation import validate

BEGIN = datetime(2026, 1, 31, 12, 0, 0, tzinfo=UTC)

COUNTS = {"ready": 1, "succeeded": 0, "failed": 0, "active": 2, "suspended": 0}


def at(seconds: float) -> datetime:
    return BEGIN + timedelta(seconds=seconds)


def stamp(seconds: float) -> str:
    return timestamp(at(seconds))


def ended(type_: str, reason: str, seconds: float = 7) -> Json:
    """A JobSet that has ended."""
    return {
        "status": {
            "conditions": [
                {"type": "Suspended", "status": "False", "reason": "ResumeJobs", "message": ""},
                {
                    "type": type_,
                    "status": "True",
                    "reason": reason,
                    "message": "jobset ended",
                    "lastTransitionTime": stamp(seconds),
                },
            ],
            "replicatedJobsStatus": [{"name": "node", **COUNTS, "jobRestarts": [1]}],
        }
    }


RUNNING: Json = {"status": {"replicatedJobsStatus": [{"name": "node", **COUNTS}]}}
COMPLETED = ended("Completed", "AllJobsCompleted")
FAILED = ended("Failed", "FailedJobs")
DEADLINE = ("Failed", "True", "DeadlineExceeded")
COMPLETE = ("Complete", "True", "AllJobsCompleted")


@dataclass(frozen=True)
class Step:
    """One look at a TrainJob, at a time, and the conditions it has then."""

    seconds: float
    jobset: Json | None
    expected: tuple[tuple[str, str, str], ...]
    suspend: bool = False


@dataclass(frozen=True)
class Story:
    name: str
    steps: tuple[Step, ...]
    deadline: int | None = None


SUSPENDED = ("Suspended", "True", "Suspended")
RESUMED = ("Suspended", "False", "Resumed")

STORIES = [
    Story(
        "never suspended, success",
        (Step(0, None, ()), Step(1, RUNNING, ()), Step(9, COMPLETED, (COMPLETE,))),
    ),
    Story(
        "created suspended, resumed, success",
        (
            Step(0, RUNNING, (SUSPENDED,), suspend=True),
            Step(5, RUNNING, (RESUMED,)),
            Step(9, COMPLETED, (RESUMED, COMPLETE)),
        ),
    ),
    Story(
        "created suspended, resumed, failure",
        (
            Step(0, None, (SUSPENDED,), suspend=True),
            Step(5, RUNNING, (RESUMED,)),
            Step(9, FAILED, (RESUMED, ("Failed", "True", "FailedJobs"))),
        ),
    ),
    Story(
        "a finished job keeps its end when the JobSet is gone",
        (Step(9, COMPLETED, (COMPLETE,)), Step(99, None, (COMPLETE,))),
    ),
    Story(
        "failed is final",
        (
            Step(9, FAILED, (("Failed", "True", "FailedJobs"),)),
            Step(10, COMPLETED, (("Failed", "True", "FailedJobs"),)),
        ),
    ),
    Story(
        "suspended after the end",
        (
            Step(9, COMPLETED, (COMPLETE,)),
            Step(10, COMPLETED, (COMPLETE, SUSPENDED), suspend=True),
            Step(11, COMPLETED, (COMPLETE, RESUMED)),
        ),
    ),
    Story(
        "deadline passed",
        (Step(10, RUNNING, ()), Step(11, RUNNING, (DEADLINE,)), Step(12, None, (DEADLINE,))),
        deadline=10,
    ),
    Story(
        "the deadline stands even if the JobSet completes after it",
        (Step(11, RUNNING, (DEADLINE,)), Step(12, COMPLETED, (DEADLINE,))),
        deadline=10,
    ),
    Story(
        "an end in time wins over a deadline that has passed since",
        (Step(1, RUNNING, ()), Step(99, COMPLETED, (COMPLETE,))),
        deadline=10,
    ),
    Story(
        "the deadline waits while suspended and starts again with the resume",
        (
            Step(0, None, (SUSPENDED,), suspend=True),
            Step(50, None, (SUSPENDED,), suspend=True),
            Step(60, RUNNING, (RESUMED,)),
            Step(70, RUNNING, (RESUMED,)),
            Step(71, RUNNING, (RESUMED, DEADLINE)),
        ),
        deadline=10,
    ),
]


def _look(story: Story, step: Step, previous: Json) -> TrainJobOutcome:
    job = TrainJobFacts(BEGIN, suspend=step.suspend, active_deadline_seconds=story.deadline)
    inputs = copy.deepcopy((previous, step.jobset))
    outcome = trainjob_status(job, previous, step.jobset, at(step.seconds))
    assert (previous, step.jobset) == inputs
    return outcome


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
def test_condition_timelines(story: Story) -> None:
    status: Json = {}
    for step in story.steps:
        status = _look(story, step, status).status
        conditions = status.get("conditions", [])
        found = tuple((c["type"], c["status"], c["reason"]) for c in conditions)
        assert found == step.expected
        for condition in conditions:
            assert validate(kube("Condition"), condition).errors == []
        again = _look(story, step, status).status
        assert again == status


def test_the_end_is_copied_from_the_jobset() -> None:
    status = trainjob_status(TrainJobFacts(BEGIN), {}, COMPLETED, at(9)).status
    assert status == {
        "conditions": [
            {
                "type": "Complete",
                "status": "True",
                "reason": "AllJobsCompleted",
                "message": "jobset ended",
                "lastTransitionTime": stamp(7),
            }
        ],
        "jobsStatus": [{"name": "node", **COUNTS}],
    }


def test_a_running_job_has_no_condition_and_keeps_its_progress() -> None:
    previous = {"trainerStatus": {"progressPercentage": 5}, "jobsStatus": [{"name": "old"}]}
    status = trainjob_status(TrainJobFacts(BEGIN), previous, RUNNING, at(9)).status
    assert status == {
        "trainerStatus": {"progressPercentage": 5},
        "jobsStatus": [{"name": "node", **COUNTS}],
    }


def test_jobs_status_follows_the_jobset_while_there_is_one() -> None:
    previous = {"jobsStatus": [{"name": "node", **COUNTS}]}
    assert trainjob_status(TrainJobFacts(BEGIN), previous, None, at(9)).status == previous
    assert trainjob_status(TrainJobFacts(BEGIN), previous, {}, at(9)).status == {}


@pytest.mark.parametrize(
    ("seconds", "wait"),
    [(0, 10), (4, 6), (9.5, 1), (10, 1), (11, None)],
)
def test_it_is_time_to_look_again_at_the_deadline(seconds: float, wait: float | None) -> None:
    job = TrainJobFacts(BEGIN, active_deadline_seconds=10)
    outcome = trainjob_status(job, {}, RUNNING, at(seconds))
    assert outcome.look_again_after == (None if wait is None else timedelta(seconds=wait))
    assert outcome.delete_jobset == (wait is None)


@pytest.mark.parametrize("seconds", [10**12, 2**63 - 1])
def test_a_deadline_may_be_later_than_any_date(seconds: int) -> None:
    job = TrainJobFacts(BEGIN, active_deadline_seconds=seconds)
    outcome = trainjob_status(job, {}, RUNNING, at(9))
    assert outcome.look_again_after is not None
    assert outcome.look_again_after > timedelta(days=365)
    assert not outcome.delete_jobset


@pytest.mark.parametrize(
    ("job", "jobset"),
    [
        (TrainJobFacts(BEGIN), RUNNING),
        (TrainJobFacts(BEGIN, active_deadline_seconds=0), RUNNING),
        (TrainJobFacts(BEGIN, suspend=True, active_deadline_seconds=10), RUNNING),
        (TrainJobFacts(BEGIN, active_deadline_seconds=10), COMPLETED),
        (TrainJobFacts(BEGIN, active_deadline_seconds=10), FAILED),
    ],
)
def test_no_deadline_to_watch(job: TrainJobFacts, jobset: Json) -> None:
    outcome = trainjob_status(job, {}, jobset, at(99))
    assert outcome.look_again_after is None
    assert not outcome.delete_jobset


def test_d15_the_jobset_is_deleted_until_it_is_gone() -> None:
    job = TrainJobFacts(BEGIN, active_deadline_seconds=10)
    first = trainjob_status(job, {}, RUNNING, at(11))
    second = trainjob_status(job, first.status, RUNNING, at(12))
    going = {**RUNNING, "metadata": {"deletionTimestamp": stamp(12)}}
    third = trainjob_status(job, second.status, going, at(13))
    last = trainjob_status(job, third.status, None, at(14))
    deletes = [outcome.delete_jobset for outcome in (first, second, third, last)]
    assert deletes == [True, True, False, False]
    assert last.status["conditions"] == first.status["conditions"]


def test_d14_an_unsupported_runtime_is_told() -> None:
    status = unsupported_runtime_status({}, "Foo.example.com", BEGIN)
    assert status == {
        "conditions": [
            {
                "type": "Failed",
                "status": "True",
                "reason": "TrainingRuntimeNotSupported",
                "message": "unsupported runtime: Foo.example.com",
                "lastTransitionTime": stamp(0),
            }
        ]
    }
    assert unsupported_runtime_status(status, "Foo.example.com", at(9)) == status


def _condition(status: str, reason: str, seconds: float | None = None, type_: str = "A") -> Json:
    since = {} if seconds is None else {"lastTransitionTime": stamp(seconds)}
    return {"type": type_, "status": status, "reason": reason, "message": "", **since}


OTHER = _condition("True", "R", 0, "B")


@pytest.mark.parametrize(
    ("former", "given", "expected"),
    [
        ([OTHER], _condition("True", "R"), [OTHER, _condition("True", "R", 9)]),
        ([], _condition("True", "R", 5), [_condition("True", "R", 5)]),
        (
            [_condition("True", "R", 1), OTHER],
            _condition("True", "R"),
            [_condition("True", "R", 1), OTHER],
        ),
        ([_condition("True", "R", 1)], _condition("True", "S", 5), [_condition("True", "S", 1)]),
        (
            [_condition("True", "R", 1), OTHER],
            _condition("False", "S"),
            [_condition("False", "S", 9), OTHER],
        ),
        ([_condition("True", "R", 1)], _condition("False", "S", 5), [_condition("False", "S", 5)]),
    ],
    ids=[
        "new, now",
        "new, with its time",
        "the same",
        "another reason keeps the time",
        "another status, now, in its place",
        "another status, with its time",
    ],
)
def test_setting_a_condition(former: list[Json], given: Json, expected: list[Json]) -> None:
    assert set_condition(former, given, at(9)) == expected
