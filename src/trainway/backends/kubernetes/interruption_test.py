from dataclasses import dataclass, field
from functools import reduce

import pytest

from trainway.backends.kubernetes.interruption import (
    first_deleted,
    first_failed,
    why_deleted,
    why_failed,
    why_undone,
)
from trainway.backends.kubernetes.pods import record_of
from trainway.backends.kubernetes.testing import pod
from trainway.json_types import Json

EVICTED = "EvictionByEvictionAPI"


def ended(rank: int, code: int, attempt: int = 0, why: str = "", *, deleted: bool = False) -> Json:
    """A pod whose program has ended, maybe since the cluster took it away."""
    lost = [{"type": "DisruptionTarget", "status": "True", "reason": why}] if why else []
    terminated = {"name": "main", "state": {"terminated": {"exitCode": code}}}
    phase = "Failed" if code else "Succeeded"
    status = {"phase": phase, "conditions": lost, "containerStatuses": [terminated]}
    made = pod(f"p{rank}-{attempt}", rank=rank, attempt=attempt, status=status)
    if deleted or why:
        made["metadata"]["deletionTimestamp"] = "2026-11-15T05:00:00Z"
    return made


def taken(rank: int, code: int = 0, attempt: int = 0, why: str = EVICTED) -> Json:
    """A pod that was taken away, and whose program then ended."""
    return ended(rank, code, attempt, why)


@dataclass(frozen=True)
class Case:
    name: str
    pods: list[Json]
    is_interrupted: bool
    roles: tuple[str, ...] = ("node",)
    elastic: dict[str, int] = field(default_factory=dict)


DONE = ended(0, 0)
RUNS = pod("another", rank=0, status={"phase": "Running"})
COMPLETE = [
    Case("done", [DONE, ended(1, 0)], is_interrupted=False),
    Case("taken away", [taken(0)], is_interrupted=True),
    Case("one of two", [DONE, taken(1)], is_interrupted=True),
    Case("in an earlier attempt", [taken(0), ended(0, 0, 1)], is_interrupted=False),
    Case("not needed", [taken(0)], is_interrupted=False, roles=("launcher",)),
    Case("elastic", [DONE, taken(1)], is_interrupted=False, elastic={"node": 2}),
    Case("all of elastic", [taken(0)], is_interrupted=True, elastic={"node": 2}),
]
FAILED = [
    Case("by itself", [ended(0, 3)], is_interrupted=False),
    Case("taken away", [taken(0, 143)], is_interrupted=True),
    Case("then its peer failed", [taken(0, 143), ended(1, 1)], is_interrupted=True),
    Case("after its peer failed", [ended(1, 1), taken(0, 143)], is_interrupted=False),
    Case("after a peer was stopped", [ended(1, 1, deleted=True), taken(0)], is_interrupted=True),
    Case("in an earlier attempt", [taken(0, 143), ended(0, 3, 1)], is_interrupted=False),
    Case("for what it used", [taken(0, 137, why="TerminationByKubelet")], is_interrupted=False),
    Case("not needed", [taken(0, 143)], is_interrupted=False, roles=("launcher",)),
    Case("replaced, and then failed", [taken(0, 143), RUNS, ended(0, 3)], is_interrupted=False),
    Case("replaced, and taken again", [taken(0, 143), RUNS, taken(0, 143)], is_interrupted=True),
]


@pytest.mark.parametrize("case", COMPLETE, ids=lambda case: case.name)
def test_what_is_complete_and_not_done(case: Case) -> None:
    records = [record_of(each) for each in case.pods]
    last = {record["pod"]: record for record in records}
    assert bool(why_undone(last.values(), case.roles, case.elastic)) is case.is_interrupted


@pytest.mark.parametrize("case", FAILED, ids=lambda case: case.name)
def test_what_has_failed_and_may_begin_again(case: Case) -> None:
    first: Json = reduce(first_failed, [record_of(each) for each in case.pods], {})
    assert bool(why_failed(first, case.roles, "FailedJobs")) is case.is_interrupted
    assert not why_failed(first, case.roles, "DeadlineExceeded")


@dataclass(frozen=True)
class Deletion:
    name: str
    pods: list[Json]
    wanted: str = ""


BY_HAND = ended(0, 143, deleted=True)
DELETIONS = [
    Deletion("by somebody", [BY_HAND, ended(1, 143, deleted=True)], "p0-0"),
    Deletion("nothing was", [DONE]),
    Deletion("since its peer had failed", [ended(1, 1), BY_HAND]),
    Deletion("after it was done", [ended(0, 0, deleted=True)]),
    Deletion("by the cluster", [taken(0, 143)]),
    Deletion("and in the next attempt one failed", [BY_HAND, ended(0, 3, 1)]),
    Deletion("after one failed before", [ended(0, 3), ended(1, 143, 1, deleted=True)], "p1-1"),
]


@pytest.mark.parametrize("case", DELETIONS, ids=lambda case: case.name)
def test_a_deleted_pod_is_named_where_nothing_else_explains_the_failure(case: Deletion) -> None:
    records = [record_of(each) for each in case.pods]
    nothing: Json = {}
    first, failed = reduce(first_deleted, records, nothing), reduce(first_failed, records, nothing)
    said = f"{case.wanted} was deleted before it was done" if case.wanted else ""
    assert why_deleted(first, failed, ("node",)) == said
    assert why_deleted(first, failed, ("launcher",)) == ""
    assert not why_failed(failed, ("node",), "FailedJobs") or case.name == "by the cluster"
