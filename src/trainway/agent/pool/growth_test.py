"""Elastic gangs in the queue of a pool, and with real host agents."""

import os
import signal
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from trainway.agent.pool.gang_elasticity_test import elastic_jobset
from trainway.agent.pool.growth import Growth, smaller
from trainway.agent.pool.ledger import Capacity, Ledger
from trainway.agent.pool.placement import Placement
from trainway.agent.pool.queue import NO_ROOM, decide
from trainway.agent.pool.testing import pool_agent
from trainway.json_types import Json


def demand(count: int, **more: object) -> list[Json]:
    return [{"pod": f"node-0-{index}", "cpus": 1, **more} for index in range(count)]


def test_the_last_pods_are_left_out_first() -> None:
    given = [{"pod": "init-0-0", "cpus": 1}, *demand(4)]
    found = [[item["pod"] for item in each] for each in smaller(given, {"node": 2})]
    assert found == [
        ["init-0-0", "node-0-0", "node-0-1", "node-0-2"],
        ["init-0-0", "node-0-0", "node-0-1"],
    ]


def test_what_is_not_elastic_has_no_smaller_size() -> None:
    assert smaller(demand(4), {}) == []
    assert smaller(demand(4), {"other": 1}) == []


@dataclass(frozen=True)
class Gang:
    id: str
    count: int
    least: int | None = None
    order: int = 0
    priority: int = 0
    oversubscribe: bool = False
    is_new: bool = True
    apart: str = ""
    title: str = "job"
    placement: Placement | None = None

    @property
    def demand(self) -> list[Json]:
        return demand(self.count, apart=self.apart)

    @property
    def smaller_demands(self) -> list[list[Json]]:
        return [] if self.least is None else smaller(self.demand, {"node": self.least})


def ledger(**cpus: float) -> Ledger:
    books = Ledger()
    for name, amount in cpus.items():
        books.set_capacity(name, Capacity(int(amount * 1000)))
    return books


@dataclass(frozen=True)
class Case:
    name: str
    gangs: list[Gang]
    started: dict[str, int]
    waiting: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)


CASES = (
    Case("all that it wants", [Gang("a", 4, 2)], {"a": 4}),
    Case("as many as fit", [Gang("a", 8, 2)], {"a": 4}),
    Case("never fewer than it needs", [Gang("a", 3), Gang("b", 4, 2, 1)], {"a": 3}, ["b"]),
    Case("what is left", [Gang("a", 2), Gang("b", 4, 2, 1)], {"a": 2, "b": 2}),
    Case("more than there ever is", [Gang("a", 9, 5)], {}, refused=["a"]),
    Case("one per host", [Gang("a", 4, 2, apart="x")], {"a": 2}),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_gangs_start_with_what_fits(case: Case) -> None:
    decisions = decide(case.gangs, ledger(a=2, b=2), ["a", "b"], complete=True)
    assert {gang.id: len(place.hosts) for gang, place in decisions.start} == case.started
    assert [gang.id for gang, _, _ in decisions.waiting] == case.waiting
    assert [gang.id for gang, _, _ in decisions.refused] == case.refused
    assert all("node-0-0" in place.hosts for _, place in decisions.start)


def test_whoever_wants_to_grow_holds_back_nobody() -> None:
    gang = Gang("a", 3, 2, apart="x", placement=Placement({"node-0-0": "a", "node-0-1": "b"}))
    wish = Growth(gang, gang.demand[2])
    assert wish.avoided == {"a", "b"}
    decisions = decide([wish, Gang("b", 2, order=1)], ledger(a=2, b=2), ["a", "b"], complete=True)
    assert [gang.id for gang, _ in decisions.start] == ["b"]
    ((waiting, reason, _),) = decisions.waiting
    assert (waiting, reason) == (wish, NO_ROOM)


def test_a_gang_that_grows_by_two_at_once_does_not_have_them_on_one_host() -> None:
    gang = Gang("a", 4, 2, apart="x", placement=Placement({"node-0-0": "a", "node-0-1": "b"}))
    wishes = [Growth(gang, item) for item in gang.demand[2:]]
    decisions = decide(wishes, ledger(c=2), ["c"], complete=True)
    assert [(wish, place.hosts) for wish, place in decisions.start] == [
        (wishes[0], {"node-0-2": "c"})
    ]
    decisions = decide(wishes, ledger(c=2, d=2), ["c", "d"], complete=True)
    assert [sorted(place.hosts.values()) for _, place in decisions.start] == [["c"], ["d"]]


def test_whoever_wants_to_grow_goes_by_its_gang_s_turn() -> None:
    gang = Gang("a", 3, 2, placement=Placement({"node-0-0": "a", "node-0-1": "a"}))
    wish = Growth(gang, gang.demand[2])
    decisions = decide([Gang("b", 1, order=1), wish], ledger(b=1), ["b"], complete=True)
    ((started, place),) = decisions.start
    assert (started, place.hosts) == (wish, {"node-0-2": "b"})


def gates_at(folder: Path) -> list[Path]:
    """Where the pods of a gang wait, each at one of its own."""
    gates = [folder / f"gate-{index}" for index in range(3)]
    for gate in gates:
        os.mkfifo(gate)
    return gates


def open_all(gates: list[Path]) -> None:
    """Let them go, each as soon as it is there."""
    for gate in gates:
        gate.write_text("")


def test_a_gang_starts_small_and_grows_when_a_host_is_added(tmp_path: Path) -> None:
    gates = gates_at(tmp_path)
    with pool_agent(hosts=1, cpus=2) as pool:
        job = pool.job(
            elastic_jobset(f"cat {tmp_path}/gate-$JOB_COMPLETION_INDEX", 2, 3), amounts={"cpus": 1}
        )
        job.until(lambda record: record.get("message") == "runs with 2 of 3 nodes")
        assert job.placement() == {"node-0-0": "a", "node-0-1": "a"}
        pool.configure(pool.host("a", cpus=2), pool.host("b", cpus=2))
        job.until(lambda record: record.get("message") == "runs with 3 of 3 nodes")
        assert job.placement()["node-0-2"] == "b"
        pool.until_host("b", lambda status: status["free"]["cpus"] == 1)
        open_all(gates)
        assert job.end()["succeeded"], job.records()
        for host in "ab":
            pool.until_host(host, lambda status: status["free"]["cpus"] == 2)


def test_a_host_agent_that_dies_costs_one_pod_and_a_pool_agent_nothing(tmp_path: Path) -> None:
    gates = gates_at(tmp_path)
    with pool_agent(hosts=3, cpus=1) as pool:
        job = pool.job(
            elastic_jobset(f"cat {tmp_path}/gate-$JOB_COMPLETION_INDEX", 2, 3), amounts={"cpus": 1}
        )
        job.until(lambda record: record.get("message") == "runs with 3 of 3 nodes")
        lost = job.placement()["node-0-2"]
        os.kill(pool.host_pid(lost), signal.SIGKILL)
        seen = job.until(lambda record: record.get("message") == "runs with 2 of 3 nodes")
        pool.end()
        assert pool.start().returncode == 0
        job.until(
            lambda record: (
                record.get("message") == "runs with 3 of 3 nodes" and record["seq"] > seen["seq"]
            )
        )
        open_all(gates)
        assert job.end()["succeeded"], job.records()
        pods = {(each["pod"], each["uid"]) for each in job.records() if each["type"] == "pod"}
        assert sorted(pod for pod, _ in pods) == ["node-0-0", "node-0-1", "node-0-2", "node-0-2"]
