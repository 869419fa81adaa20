from dataclasses import dataclass, field
from typing import Any

import pytest

from trainway.engine.failure import blamed, ended_by_us, failure_view, hung
from trainway.engine.observation import Observation
from trainway.json_types import Json


def pod(
    rank: int, phase: str = "Failed", code: int | None = None, attempt: int = 0, **fields: Any
) -> Json:
    container = {"name": "main"} | ({} if code is None else {"exitCode": code})
    record = {"type": "pod", "pod": f"node-0-{rank}", "attempt": attempt, "phase": phase}
    return record | {"containers": [container | fields.pop("container", {})], **fields}


def stopped(rank: int, code: int = 143, attempt: int = 0) -> Json:
    return pod(rank, code=code, attempt=attempt, deleted=True)


@dataclass(frozen=True)
class Case:
    name: str
    summary: str
    records: list[Json] = field(default_factory=list)
    attempts: int = 1


def crashed(restarts: int, code: int, reason: str = "Error", **more: str) -> Json:
    last = {"exitCode": code, "reason": reason, **more}
    return {"state": "waiting", "restarts": restarts, "lastState": last}


OOM = {"reason": "OOMKilled"}
NO_PROGRAM = {"reason": "StartError", "message": "no torchrun", "state": "terminated"}
RUNS_AGAIN = {"state": "running", "restarts": 1, "lastState": {"exitCode": 1, "reason": "Error"}}
CASES = [
    Case(
        "the first one, not the others that were stopped",
        "node-1 exited with 7 (attempt 1 of 1); the other 2 nodes were stopped",
        [pod(0, "Running"), pod(1, code=7), stopped(0), stopped(2, 1)],
    ),
    Case(
        "who was being stopped is not to blame even if it was told of first",
        "node-1 exited with 1 (attempt 1 of 1); the other node was stopped",
        [stopped(0, 1), pod(1, code=1)],
    ),
    Case(
        "a signal has its name",
        "node-0 was killed by SIGSEGV (attempt 1 of 1)",
        [pod(0, code=139)],
    ),
    Case(
        "a number that is no signal", "node-0 exited with 200 (attempt 1 of 1)", [pod(0, code=200)]
    ),
    Case(
        "out of memory in a container",
        "node-0 was killed by SIGKILL: it ran out of memory (attempt 1 of 1)",
        [pod(0, code=137, container=OOM)],
    ),
    Case(
        "out of memory in a process below one that noticed it",
        "node-0 exited with 1: it ran out of memory (attempt 1 of 1)",
        [pod(0, code=1, container=OOM)],
    ),
    Case(
        "out of memory of a pod",
        "node-0 was killed by SIGKILL: it ran out of memory (attempt 1 of 1)",
        [pod(0, reason="OOMKilled", message="too much")],
    ),
    Case(
        "out of memory with figures",
        "node-0 was killed by SIGKILL: it ran out of memory: its peak was 2.0 GiB and its limit"
        " is 2.0 GiB (attempt 1 of 1)",
        [
            pod(
                0,
                reason="OOMKilled",
                message="it used more memory than it has: its peak was 2.0 GiB and its limit is"
                " 2.0 GiB",
            )
        ],
    ),
    Case(
        "a program that is not there",
        "node-0 was killed by SIGHUP: x (attempt 1 of 1)",
        [pod(0, code=129, container={"message": "x"})],
    ),
    Case(
        "a program that cannot be started, in a pod that was restarted until it was given up",
        "node-0 could not be started: no torchrun (attempt 1 of 1, after 3 restarts); "
        "the other node was stopped",
        [
            pod(0, "Running", 128, container=NO_PROGRAM),
            pod(1, "Running", 128, container=NO_PROGRAM),
            pod(0, "Running", container=crashed(3, 128, "StartError", message="no torchrun")),
            pod(0, "Running", deleted=True, container={"state": "waiting"}),
            stopped(0, 128),
            stopped(1, 128),
        ],
    ),
    Case(
        "a container that was restarted, by its last end",
        "node-1 was killed by SIGKILL: it ran out of memory (attempt 1 of 1, after 1 restart); "
        "the other node was stopped",
        [
            pod(1, "Running", container=crashed(0, 1)),
            pod(1, "Running", container=RUNS_AGAIN),
            pod(1, "Running", container=crashed(1, 137, "OOMKilled")),
            stopped(1),
            stopped(0),
        ],
    ),
    Case(
        "a pod that failed for good, not a container that is still restarted",
        "node-1 exited with 3 (attempt 1 of 1); the other node was stopped",
        [pod(0, "Running", container=crashed(1, 7)), pod(1, code=3), stopped(0)],
    ),
    Case(
        "not a container that runs again",
        "node-1 exited with 3 (attempt 1 of 1); the other node was stopped",
        [
            pod(0, "Running", container=crashed(1, 7)),
            pod(0, "Running", container=RUNS_AGAIN),
            pod(1, code=3),
            stopped(0),
        ],
    ),
    Case(
        "a container that is restarted in a later attempt",
        "node-0 exited with 7 (attempt 2 of 2, after 1 restart)",
        [pod(0, code=3), pod(0, "Running", attempt=1, container=crashed(1, 7))],
        attempts=2,
    ),
    Case(
        "a pod that was evicted, though it is being deleted",
        "node-1 failed on n7: EvictionByEvictionAPI: evicting (attempt 1 of 1); "
        "the other node was stopped",
        [
            stopped(0),
            pod(1, code=143, deleted=True, disrupted=True, node="n7")
            | {"reason": "EvictionByEvictionAPI", "message": "evicting"},
        ],
    ),
    Case(
        "a node that failed, in the words of who runs it",
        "node-1 failed on n7: NODE_FAIL: it does not answer (attempt 1 of 1)",
        [pod(1, reason="NODE_FAIL", message="it does not answer", host="n7")],
    ),
    Case(
        "the last real failure stays when only stopped ones follow",
        "node-1 exited with 9 (attempt 2 of 3); the other node was stopped",
        [pod(1, code=7), stopped(0), pod(1, code=9, attempt=1), stopped(0, attempt=1)],
        attempts=3,
    ),
    Case(
        "who is tried again within an attempt is judged by the last time",
        "node-0 exited with 8 (attempt 1 of 1)",
        [pod(0, code=7), pod(0, "Pending"), pod(0, code=8)],
    ),
    Case(
        "several jobs of a role",
        "worker-1-0 exited with 2 (attempt 1 of 1)",
        [{**pod(0, code=2), "pod": "worker-1-0"}],
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_culprit(case: Case) -> None:
    observed = Observation()
    observed.fold(case.records)
    view = failure_view(observed.culprit, observed.nodes.values(), case.attempts)
    assert view["summary"] == case.summary
    again = Observation.of(observed.to_dict(), "")
    assert again.culprit == observed.culprit


@pytest.mark.parametrize(
    "record",
    [
        pod(0, "Running"),
        pod(0, "Succeeded"),
        stopped(0),
        pod(0, reason="Deleted"),
        pod(0, code=143, reason="AllocationLost", message="Slurm takes the allocation away"),
    ],
    ids=["runs", "succeeded", "was stopped", "was deleted", "lost its allocation"],
)
def test_nobody_is_to_blame(record: Json) -> None:
    assert blamed({}, record) == {}


def test_it_can_be_told_by_programs_too() -> None:
    culprit = blamed({}, pod(2, code=3, attempt=1))
    assert failure_view(culprit, [], 1) == {
        "summary": "node-2 exited with 3 (attempt 2 of 2)",
        "node": "node-2",
        "role": "node",
        "job": 0,
        "rank": 2,
        "attempt": 1,
        "exitCode": 3,
    }


def test_a_pod_that_was_ended_because_it_hung_says_so() -> None:
    culprit = blamed({}, pod(2, code=137, attempt=1))
    hang = {"pod": culprit["pod"], "attempt": 1, "message": "no report for 30 s"}
    summary = failure_view(hung(culprit, hang), [], 2)["summary"]
    assert summary.endswith(" hung: no report for 30 s (attempt 2 of 2)")
    assert hung(culprit, {**hang, "attempt": 0}) == culprit
    assert hung({}, hang) == {}


def test_a_pod_that_was_deleted_because_it_hung_is_to_blame() -> None:
    gone = {
        "pod": "node-0-1",
        "attempt": 1,
        "phase": "Failed",
        "reason": "Deleted",
        "deleted": True,
    }
    hang = {"pod": "node-0-1", "attempt": 1, "message": "no report for 30 s"}
    assert blamed({}, ended_by_us(gone, {})) == {}
    assert blamed({}, ended_by_us(gone, {**hang, "attempt": 0})) == {}
    assert blamed({}, ended_by_us(gone, {**hang, "pod": "node-0-0"})) == {}
    culprit = hung(blamed({}, ended_by_us(gone, hang)), hang)
    assert failure_view(culprit, [], 2)["summary"] == (
        "node-1 hung: no report for 30 s (attempt 2 of 2)"
    )
