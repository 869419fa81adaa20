"""An elastic Job, as the Job controller plays it."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from trainway.agent.base.job_spec import JobSpec
from trainway.agent.base.labels import MIN_NODES
from trainway.agent.base.pod_status import PodStatus
from trainway.agent.controllers.elastic_rules import dismissals, resize
from trainway.agent.controllers.job import Job
from trainway.agent.controllers.job_controller import Decision, sync
from trainway.json_types import Json

FOUR: Json = {"completionMode": "Indexed", "parallelism": 4, "completions": 4, "backoffLimit": 0}


def elastic(minimum: str = "2", spec: Json = FOUR) -> Job:
    pod = {"template": {"spec": {"restartPolicy": "Never"}}}
    job_spec = JobSpec({**spec, **pod}, {"annotations": {MIN_NODES: minimum}})
    job = Job("js-node-0", "node", 0, job_spec)
    job.start_time = 0.0
    return job


def pod(index: int, phase: str = "Running", **more: Any) -> PodStatus:
    uid = more.pop("uid", f"{phase}-{index}")
    ready = phase == "Running"
    return PodStatus(uid, index=index, phase=phase, ready=ready, finished_at=99.0, **more)


def running(*indexes: int) -> list[PodStatus]:
    return [pod(index) for index in indexes]


def failed(*indexes: int) -> list[PodStatus]:
    return [pod(index, "Failed") for index in indexes]


def done(*indexes: int) -> list[PodStatus]:
    return [pod(index, "Succeeded") for index in indexes]


@dataclass(frozen=True)
class Case:
    name: str
    pods: list[PodStatus]
    create: list[int] = field(default_factory=list)
    delete: list[str] = field(default_factory=list)
    message: str = ""
    finished: str = ""
    minimum: str = "2"
    now: float = 100.0


CASES = (
    Case("starts with all", [], create=[0, 1, 2, 3]),
    Case("a failed one is replaced by itself", [*running(0, 1, 2), *failed(3)], create=[3]),
    Case("after a back-off of its own", [*running(0, 1, 2), *failed(3)], now=99.5),
    Case("two are replaced", [*running(0, 3), *failed(1, 2)], create=[1, 2]),
    Case(
        "fewer than the minimum",
        [*running(0), *failed(1, 2, 3)],
        delete=["Running-0"],
        message="1 of at least 2 nodes are left",
    ),
    Case(
        "all of them",
        failed(0, 1, 2, 3),
        message="the node at which the others meet has ended",
        finished="Failed",
    ),
    Case(
        "the one at which the others meet",
        [*failed(0), *running(1, 2, 3)],
        delete=["Running-1", "Running-2", "Running-3"],
        message="the node at which the others meet has ended",
    ),
    Case(
        "one without a place is not left",
        [*running(0), *failed(1), pod(2, "Pending", placed=False), pod(3, "Pending", placed=False)],
        delete=["Running-0", "Pending-2", "Pending-3"],
        message="1 of at least 2 nodes are left",
    ),
    Case("one that starts is left", [*running(0), *failed(1), pod(2, "Pending"), pod(3)], [1]),
    Case("what was stopped did not fail", [pod(0, "Failed", deleted=True), *running(1, 2, 3)], [0]),
    Case("a minimum of one", [*running(0), *failed(1, 2, 3)], [1, 2, 3], minimum="1"),
    Case("all have succeeded", done(0, 1, 2, 3), finished="Complete"),
    Case("nothing is replaced at the end", [*done(0), *running(1, 2), *failed(3)]),
    Case("complete without one that was lost", [*done(0, 1, 2), *failed(3)], finished="Complete"),
    Case(
        "what waits for a place at the end is not needed",
        [*done(0, 1), *running(2), pod(3, "Pending", placed=False)],
        delete=["Pending-3"],
    ),
    Case(
        "too few have succeeded",
        [*done(0), *failed(1, 2, 3)],
        message="1 of at least 2 nodes are left",
        finished="Failed",
    ),
    Case("the first may fail at the end", [*failed(0), *done(1, 2, 3)], finished="Complete"),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_gang_goes_on_with_enough_nodes(case: Case) -> None:
    job = elastic(case.minimum)
    decision = sync(job, case.pods, case.now)
    assert sorted(decision.create, key=str) == case.create
    assert sorted(decision.delete) == sorted(case.delete)
    failure = job.target if job.target and job.target["type"] == "FailureTarget" else {}
    assert (failure or {}).get("message", "") == case.message
    if case.message:
        assert failure is not None
        assert failure["reason"] == "TooFewNodes"
    assert [item["type"] for item in job.conditions if item["type"] != "Suspended"] == (
        [case.finished] if case.finished else []
    )


def test_each_index_has_a_back_off_of_its_own() -> None:
    job = elastic()
    sync(job, [*running(0, 1, 2), *failed(3)], 100.0)
    decision = sync(job, [*running(0, 1, 2), pod(3, "Failed", uid="again")], 100.5)
    assert decision.create == []
    assert decision.wake_at == 101.0  # two seconds after its second failure
    decision = sync(job, [*running(0, 1), *failed(2)], 100.5)
    assert decision.create == [2]


def events(decision: Decision) -> list[tuple[str, str]]:
    return [(type_, text) for type_, reason, text in decision.events if reason == "NodesChanged"]


def test_each_size_is_told_once() -> None:
    job = elastic()
    assert events(sync(job, [*running(0, 1), pod(2, "Pending"), pod(3, "Pending")], 1.0)) == []
    assert events(sync(job, running(0, 1, 2, 3), 2.0)) == [("Normal", "runs with 4 of 4 nodes")]
    assert events(sync(job, running(0, 1, 2, 3), 3.0)) == []
    lost = sync(job, [*running(0, 1, 2), *failed(3)], 99.5)
    assert events(lost) == [("Warning", "runs with 3 of 4 nodes")]
    assert events(sync(job, [*running(0, 1, 2), pod(3, "Pending")], 101.0)) == []
    assert events(sync(job, running(0, 1, 2, 3), 102.0)) == [("Normal", "runs with 4 of 4 nodes")]


def test_the_next_agent_does_not_tell_a_size_again() -> None:
    job = elastic()
    sync(job, running(0, 1, 2, 3), 1.0)
    restored = Job.restored(job.name, job.spec, job.state())
    assert events(sync(restored, running(0, 1, 2, 3), 2.0)) == []


def test_a_job_is_ready_with_its_minimum() -> None:
    job = elastic()
    sync(job, running(0), 1.0)
    assert not job.all_ready
    sync(job, running(0, 1), 1.0)
    assert job.all_ready


def test_what_is_suspended_does_not_collapse_when_it_is_resumed() -> None:
    job = elastic()
    sync(job, [*running(0, 1, 2), *failed(3)], 100.0)
    job.suspend = True
    assert sorted(sync(job, running(0, 1, 2), 101.0).delete) == [
        "Running-0",
        "Running-1",
        "Running-2",
    ]
    stopped = [pod(index, "Failed", deleted=True, uid=f"Running-{index}") for index in (0, 1, 2)]
    sync(job, stopped, 102.0)
    job.suspend = False
    assert sync(job, [], 103.0).create == [0, 1, 2, 3]


@pytest.mark.parametrize("text", ["", "no", "-1"])
def test_an_annotation_that_is_no_number_makes_nothing_elastic(text: str) -> None:
    assert elastic(text).spec.minimum is None


@pytest.mark.parametrize(
    ("most", "unplaced", "before", "expected"),
    [
        (None, (), {3}, set()),
        (4, (), {3}, set()),
        (3, (), set(), {3}),
        (2, (), {3}, {2, 3}),
        (1, (), set(), {2, 3}),
        (3, (1,), set(), {1}),
        (3, (), {1}, {1}),
        (3, (0, 1), set(), {1}),
    ],
)
def test_who_is_dismissed(
    most: int | None, unplaced: tuple[int, ...], before: set[int], expected: set[int]
) -> None:
    job = elastic("2")
    job.dismissed = before
    assert dismissals(job, most, unplaced) == expected


def test_what_is_dismissed_ends_and_is_neither_counted_nor_replaced() -> None:
    job = elastic()
    sync(job, running(0, 1, 2, 3), 1.0)
    resize(job, running(0, 1, 2, 3), 2)
    assert sync(job, running(0, 1, 2, 3), 2.0).delete == ["Running-2", "Running-3"]
    stopped = [pod(index, "Failed", deleted=True, uid=f"Running-{index}") for index in (2, 3)]
    decision = sync(job, [*running(0, 1), *stopped], 3.0)
    assert (decision.create, decision.delete, job.failed) == ([], [], 0)
    assert events(sync(job, running(0, 1), 4.0)) == []
    job = Job.restored(job.name, job.spec, job.state())
    assert sync(job, running(0, 1), 5.0).create == []
    resize(job, running(0, 1), 3)
    assert sync(job, running(0, 1), 6.0).create == [2]
    assert sync(job, done(0, 1, 2), 7.0).create == []
    assert job.is_complete


def test_one_that_fails_beside_those_that_were_dismissed_is_one_too_few() -> None:
    job = elastic()
    resize(job, running(0, 1, 2, 3), 2)
    assert sync(job, [*running(0), *failed(1)], 2.0).delete == ["Running-0"]
    assert job.target is not None
    assert job.target["reason"] == "TooFewNodes"


def test_a_job_that_is_not_elastic_dismisses_nobody() -> None:
    job = elastic("")
    resize(job, running(0, 1, 2, 3), 2)
    assert job.dismissed == set()
