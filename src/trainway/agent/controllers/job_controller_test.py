from dataclasses import dataclass, field
from typing import Any

import pytest

from trainway.agent.base.job_spec import JobSpec
from trainway.agent.base.pod_status import PodStatus
from trainway.agent.controllers.job import Job
from trainway.agent.controllers.job_controller import Decision, sync
from trainway.json_types import Json

EXIT_42: Json = {"onExitCodes": {"operator": "In", "values": [42]}}


def make_job(**spec: Any) -> Job:
    policy = spec.pop("restartPolicy", "Never")
    spec.setdefault("completionMode", "Indexed")
    template = {"template": {"spec": {"restartPolicy": policy}}}
    job = Job("js-node-0", "node", 0, JobSpec({**spec, **template}))
    job.start_time = 0.0
    return job


def pod(uid: str, phase: str = "Running", index: int | None = 0, **more: Any) -> PodStatus:
    more.setdefault("ready", phase == "Running")
    return PodStatus(uid, name=f"pod-{uid}", index=index, phase=phase, **more)


def failed(uid: str, index: int | None = 0, code: int = 1, **more: Any) -> PodStatus:
    return pod(uid, "Failed", index, exit_codes=[("main", code)], **more)


@dataclass(frozen=True)
class Case:
    name: str
    spec: Json
    pods: list[PodStatus] = field(default_factory=list)
    now: float = 100.0
    create: list[int | None] = field(default_factory=list)
    delete: list[str] = field(default_factory=list)
    target: str = ""
    finished: str = ""
    message: str = ""
    wake_at: float | None = None


TWO: Json = {"parallelism": 2, "completions": 2}
CASES = (
    Case("starts all of a gang", {"parallelism": 3, "completions": 3}, create=[0, 1, 2]),
    Case("both counts default to one", {}, create=[0]),
    Case("indexed without completions takes parallelism", {"parallelism": 2}, create=[0, 1]),
    Case("no more at once than parallelism", {"parallelism": 1, "completions": 3}, create=[0]),
    Case(
        "goes on with the next index",
        {"parallelism": 1, "completions": 3},
        [pod("a", "Succeeded", 0)],
        create=[1],
    ),
    Case("nothing to do while pods run", TWO, [pod("a", index=0), pod("b", index=1)]),
    Case(
        "complete when all indexes are",
        TWO,
        [pod("a", "Succeeded", 0), pod("b", "Succeeded", 1)],
        finished="CompletionsReached",
        message="Reached expected number of succeeded pods",
    ),
    Case("no pods at all are complete at once", {"completions": 0}, finished="CompletionsReached"),
    Case(
        "a success that is repeated counts once",
        TWO,
        [pod("a", "Succeeded", 0), pod("b", "Succeeded", 0)],
        create=[1],
    ),
    Case(
        "without index as many as asked for",
        {"completionMode": "NonIndexed", "completions": 3, "parallelism": 2},
        [pod("a", "Succeeded", None)],
        create=[None, None],
    ),
    Case(
        "a work queue ends with the first success",
        {"completionMode": "NonIndexed", "parallelism": 2},
        [pod("a", "Succeeded", None), pod("b", index=None)],
    ),
    Case(
        "and is complete when the others have ended",
        {"completionMode": "NonIndexed", "parallelism": 2},
        [pod("a", "Succeeded", None), failed("b", None)],
        finished="CompletionsReached",
    ),
    Case(
        "beyond the back-off limit it fails",
        {"backoffLimit": 0},
        [failed("a")],
        finished="BackoffLimitExceeded",
        message="Job has reached the specified backoff limit",
    ),
    Case(
        "but only when its other pods are gone",
        {"backoffLimit": 0, **TWO},
        [failed("a"), pod("b", index=1)],
        delete=["b"],
        target="BackoffLimitExceeded",
    ),
    Case(
        "and not while one is being stopped",
        {"backoffLimit": 0, **TWO},
        [failed("a"), pod("b", index=1, deleted=True)],
        target="BackoffLimitExceeded",
    ),
    Case(
        "within the limit it waits a second",
        {"backoffLimit": 1},
        [failed("a", finished_at=99.5)],
        wake_at=100.5,
    ),
    Case(
        "and then replaces the pod",
        {"backoffLimit": 1},
        [failed("a", finished_at=99.0)],
        create=[0],
    ),
    Case(
        "the wait doubles with each failure",
        {"backoffLimit": 9, **TWO},
        [failed("a", 0, finished_at=98), failed("b", 1, finished_at=99), failed("c", 0)],
        wake_at=103.0,
    ),
    Case(
        "a success in between clears the record",
        {"backoffLimit": 9, **TWO},
        [failed("a", 1, finished_at=98), pod("b", "Succeeded", 0, finished_at=99)],
        create=[1],
    ),
    Case(
        "the default limit is six",
        {"parallelism": 7, "completions": 7},
        [failed(str(n), n) for n in range(7)],
        finished="BackoffLimitExceeded",
    ),
    Case(
        "past its deadline it fails",
        {"activeDeadlineSeconds": 100, **TWO},
        [pod("a", index=0), pod("b", index=1)],
        delete=["a", "b"],
        target="DeadlineExceeded",
        message="Job was active longer than specified deadline",
    ),
    Case(
        "before its deadline it asks to be woken",
        {"activeDeadlineSeconds": 130},
        [pod("a")],
        wake_at=130.0,
    ),
    Case(
        "containers restarted in place count",
        {"backoffLimit": 2, "restartPolicy": "OnFailure"},
        [pod("a", restart_times=[50.0, 60.0])],
        delete=["a"],
        target="BackoffLimitExceeded",
    ),
    Case(
        "one restart is allowed even without any, for a second",
        {"backoffLimit": 0, "restartPolicy": "OnFailure"},
        [pod("a", restart_times=[99.5])],
        wake_at=100.5,
    ),
    Case(
        "restarts of a pod that ended well do not",
        {"backoffLimit": 1, "restartPolicy": "OnFailure"},
        [pod("a", "Succeeded", restart_times=[50.0])],
        finished="CompletionsReached",
    ),
    Case(
        "a rule fails the job at once",
        {"backoffLimit": 6, "podFailurePolicy": {"rules": [{"action": "FailJob", **EXIT_42}]}},
        [failed("a", code=42)],
        finished="PodFailurePolicy",
        message="Container main for pod default/pod-a failed with exit code 42"
        " matching FailJob rule at index 0",
    ),
    Case(
        "a rule ignores a failure",
        {"backoffLimit": 0, "podFailurePolicy": {"rules": [{"action": "Ignore", **EXIT_42}]}},
        [failed("a", code=42, finished_at=98.0)],
        create=[0],
    ),
    Case(
        "a rule for another code does not",
        {"backoffLimit": 0, "podFailurePolicy": {"rules": [{"action": "Ignore", **EXIT_42}]}},
        [failed("a", code=1)],
        finished="BackoffLimitExceeded",
    ),
    Case(
        "a disruption can be ignored",
        {
            "backoffLimit": 0,
            "podFailurePolicy": {
                "rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}]
            },
        },
        [pod("a", "Failed", disrupted=True)],
        create=[0],
    ),
    Case(
        "a leader decides by success policy",
        {"successPolicy": {"rules": [{"succeededIndexes": "0"}]}, **TWO},
        [pod("a", "Succeeded", 0), pod("b", index=1)],
        delete=["b"],
        target="SuccessPolicy",
        message="Matched rules at index 0",
    ),
    Case(
        "some of the listed indexes may be enough",
        {
            "parallelism": 4,
            "completions": 4,
            "successPolicy": {"rules": [{"succeededIndexes": "1-3", "succeededCount": 1}]},
        },
        [pod("a", "Succeeded", 2)],
        finished="SuccessPolicy",
    ),
    Case(
        "or a number of any",
        {"parallelism": 3, "completions": 3, "successPolicy": {"rules": [{"succeededCount": 2}]}},
        [pod("a", "Succeeded", 2), pod("b", "Succeeded", 0)],
        finished="SuccessPolicy",
    ),
    Case(
        "an index has failures of its own",
        {"backoffLimitPerIndex": 1, **TWO},
        [failed("a", 0, finished_at=50.0), pod("b", index=1)],
        create=[0],
    ),
    Case(
        "a failed index is not tried again",
        {"backoffLimitPerIndex": 0, **TWO},
        [failed("a", 0), pod("b", index=1)],
    ),
    Case(
        "failed indexes fail the job in the end",
        {"backoffLimitPerIndex": 0, **TWO},
        [failed("a", 0), pod("b", "Succeeded", 1)],
        finished="FailedIndexes",
        message="Job has failed indexes",
    ),
    Case(
        "too many of them fail it before",
        {"backoffLimitPerIndex": 0, "maxFailedIndexes": 0, **TWO},
        [failed("a", 0), pod("b", index=1)],
        delete=["b"],
        target="MaxFailedIndexesExceeded",
        message="Job has exceeded the specified maximal number of failed indexes",
    ),
    Case(
        "a rule fails an index",
        {
            "backoffLimitPerIndex": 5,
            "podFailurePolicy": {"rules": [{"action": "FailIndex", **EXIT_42}]},
        },
        [failed("a", code=42)],
        finished="FailedIndexes",
    ),
    Case(
        "a pod that is being stopped is replaced at once",
        {"backoffLimit": 3},
        [pod("a", deleted=True, finished_at=90.0)],
        create=[0],
    ),
    Case(
        "or when it has ended, by policy",
        {"backoffLimit": 3, "podReplacementPolicy": "Failed"},
        [pod("a", deleted=True)],
    ),
    Case(
        "too many pods: those that got least far go",
        {"completionMode": "NonIndexed", "completions": 2, "parallelism": 2},
        [pod("a", index=None), pod("b", "Pending", None), pod("c", index=None)],
        delete=["b"],
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_sync(case: Case) -> None:
    job = make_job(**case.spec)
    decision = sync(job, case.pods, case.now)
    assert decision.create == case.create
    assert decision.delete == case.delete
    end = job.conditions[0] if job.finished else {}
    assert end.get("reason", "") == case.finished
    assert (job.target or {}).get("reason", "") == (case.target or case.finished)
    if case.message:
        assert (job.target or {})["message"] == case.message
    assert decision.wake_at == case.wake_at
    assert job.active == len([p for p in case.pods if p.active]) - len(case.delete) + len(
        case.create
    )


def run(job: Job, pods: list[PodStatus], now: float = 100.0) -> Decision:
    return sync(job, pods, now)


def test_a_pod_is_counted_once() -> None:
    job = make_job(backoffLimit=1)
    for _ in range(3):
        run(job, [failed("a", finished_at=100.0)])
    assert job.failed == 1
    assert run(job, [failed("a", finished_at=100.0)], 101.0).create == [0]


def test_index_fails_after_as_many_retries_as_allowed() -> None:
    job = make_job(backoffLimitPerIndex=1)
    run(job, [failed("a")])
    assert not job.finished
    run(job, [failed("b")])
    assert job.failure["reason"] == "FailedIndexes"


def test_suspended_job_stops_its_pods_and_counts_none() -> None:
    job = make_job(backoffLimit=0)
    job.suspend = True
    assert run(job, [pod("a")]).delete == ["a"]
    assert run(job, [failed("a", deleted=True)]).create == []
    assert (job.failed, job.start_time) == (0, None)
    assert job.conditions[0]["reason"] == "JobSuspended"
    job.suspend = False
    assert run(job, [], 200.0).create == [0]
    assert job.start_time == 200.0
    assert job.conditions[0]["status"] == "False"


def test_resumed_job_keeps_its_completions() -> None:
    job = make_job(**TWO)
    run(job, [pod("a", "Succeeded", 0), pod("b", index=1)])
    job.suspend = True
    run(job, [pod("b", index=1)])
    job.suspend = False
    assert run(job, []).create == [1]


def test_deleted_job_only_stops_pods() -> None:
    job = make_job(**TWO)
    job.deleting = True
    assert run(job, [pod("a", index=0)]).delete == ["a"]
    assert run(job, []).create == []
    assert not job.finished


def test_a_finished_job_stays_as_it_is() -> None:
    job = make_job(backoffLimit=0)
    run(job, [failed("a")])
    before = job.state()
    assert run(job, [pod("b", "Succeeded")], 500.0).delete == []
    assert job.state() == before


def test_events_tell_how_a_job_ended() -> None:
    assert run(make_job(), [pod("a", "Succeeded")]).events == [
        ("Normal", "Completed", "Job completed")
    ]
    bad = run(make_job(backoffLimit=0), [failed("a")]).events
    assert bad == [
        ("Warning", "BackoffLimitExceeded", "Job has reached the specified backoff limit")
    ]


def test_ready_counts_pods_that_are_done() -> None:
    job = make_job(**TWO)
    run(job, [pod("a", "Succeeded", 0), pod("b", index=1)])
    assert job.all_ready
    run(job, [pod("b", "Running", 1, ready=False)])
    assert not job.all_ready


def test_state_survives_the_journal() -> None:
    job = make_job(backoffLimitPerIndex=3, parallelism=4, completions=6)
    job.attempt, job.job_attempt = 2, 1
    run(job, [failed("a", 1), pod("b", "Succeeded", 0), pod("c", index=2, deleted=True)])
    again = Job.restored(job.name, job.spec, job.state())
    again.active, again.ready, again.terminating = job.active, job.ready, job.terminating
    assert again.state() == job.state()
    assert again.state()["indexFailures"] == {"1": [1, 0, 0.0], "2": [1, 0, 0.0]}
