from dataclasses import dataclass

import pytest

from trainway.json_types import Json
from trainway.training.members import Member, culprit, members_of, newest
from trainway.training.testing import pod

RUNS: Json = {"running": {"startedAt": "2026-11-17T09:00:00Z"}}


def ended(code: int, at: str = "2026-11-17T09:00:00Z", **more: str) -> Json:
    return {"terminated": {"exitCode": code, "finishedAt": at, **more}}


@dataclass(frozen=True)
class Case:
    name: str
    pod: Json
    problem: str


CASES = [
    Case("runs", pod("worker", state=RUNS), ""),
    Case("ended well", pod("worker", state=ended(0)), ""),
    Case("status", pod("worker", state=ended(3, reason="Error")), "exited with status 3"),
    Case("memory", pod("worker", state=ended(137, reason="OOMKilled")),
         "exited with status 137 (OOMKilled)"),
    Case("message", pod("worker", state=ended(1, message="a\nno data\n")),
         "exited with status 1: no data"),
    Case("creating", pod("worker", state={"waiting": {"reason": "ContainerCreating"}}), ""),
    Case("image", pod("worker", state={"waiting": {"reason": "ErrImagePull", "message": "no"}}),
         "ErrImagePull: no"),
    Case("evicted", pod("worker", phase="Failed", reason="Evicted", message="low memory"),
         "Evicted: low memory"),
    Case("no node", pod("worker", phase="Pending", conditions=[
        {"type": "PodScheduled", "status": "False", "message": "0/1 nodes are available"}]),
         "no node takes it: 0/1 nodes are available"),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_is_wrong_with_a_pod(case: Case) -> None:
    (member,) = members_of([case.pod])
    assert member.problem == case.problem


def test_launchers_come_first_and_strangers_not_at_all() -> None:
    stranger: Json = {"metadata": {"name": "other", "labels": {}}}
    found = members_of([pod("worker", 10), stranger, pod("worker", 2), pod("launcher")])
    assert [member.title for member in found] == ["launcher", "worker 2", "worker 10"]


def test_the_newest_pod_has_the_place() -> None:
    old, new = pod("launcher"), pod("launcher")
    old["metadata"]["creationTimestamp"] = "2026-11-17T09:00:00Z"
    new["metadata"] |= {"creationTimestamp": "2026-11-17T09:00:05Z", "uid": "new"}
    found = newest(members_of([new, old]), "launcher", 0)
    assert found is not None
    assert found.pod["metadata"]["uid"] == "new"
    assert newest(members_of([new]), "worker", 0) is None


def test_who_failed_first_is_the_culprit() -> None:
    late = pod("launcher", state=ended(1, "2026-11-17T09:00:09Z"))
    early = pod("worker", 1, state=ended(9, "2026-11-17T09:00:01Z"))
    stuck = pod("worker", 2, state={"waiting": {"reason": "ErrImagePull"}})
    assert guilty(late, early, stuck) == "worker 1"
    assert guilty(pod("launcher", state=RUNS), stuck) == "worker 2"
    assert guilty(pod("launcher", state=RUNS)) is None


def guilty(*pods: Json) -> str | None:
    found: Member | None = culprit(members_of(pods))
    return found.title if found else None
