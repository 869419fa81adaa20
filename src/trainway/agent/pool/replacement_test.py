"""Which places a gang keeps that has lost a host."""

import os
import signal
from dataclasses import dataclass
from pathlib import Path

import pytest

from trainway.agent.base.testing import container, jobset, role
from trainway.agent.pool.placement import Room
from trainway.agent.pool.placement_test import apart, pods, room
from trainway.agent.pool.replacement import place_again
from trainway.agent.pool.testing import pool_agent, until
from trainway.json_types import Json


@dataclass(frozen=True)
class Case:
    name: str
    demand: list[Json]
    rooms: list[Room]
    former: list[str]
    hosts: list[str] | None


CASES = (
    Case("all as before", apart(2, cpus=1), [room("a"), room("b")], ["b", "a"], ["b", "a"]),
    Case(
        "only the lost host is replaced",
        apart(3, cpus=1),
        [room("a"), room("c"), room("d")],
        ["d", "b", "c"],
        ["d", "a", "c"],
    ),
    Case("no host twice", apart(2, cpus=1), [room("a")], ["a", "b"], None),
    Case(
        "taken meanwhile", pods(2, cpus=4), [room("a", cpus=4), room("b")], ["a", "a"], ["a", "b"]
    ),
    Case("no room for the rest", pods(2, cpus=4), [room("a", cpus=4)], ["a", "b"], None),
    Case(
        "several on one", pods(3, cpus=1), [room("a"), room("b")], ["a", "b", "x"], ["a", "b", "a"]
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_other_pods_keep_their_places(case: Case) -> None:
    names = [str(item["pod"]) for item in case.demand]
    found = place_again(case.demand, case.rooms, dict(zip(names, case.former, strict=True)))
    assert (None if found is None else list(found.hosts.values())) == case.hosts
    assert found is None or list(found.hosts) == names


def test_devices_are_counted() -> None:
    rooms = [room("a", gpus="01"), room("b", gpus="2")]
    demand = pods(3, gpus=1)
    found = place_again(demand, rooms, {str(item["pod"]): "a" for item in demand})
    assert found is not None
    assert list(found.hosts.values()) == ["a", "a", "b"]
    assert sorted(name for pod in list(found.hosts)[:2] for name in found.names(pod)) == ["0", "1"]


def test_a_lost_host_is_replaced_and_the_other_pod_stays(tmp_path: Path) -> None:
    gates = [tmp_path / f"gate-{index}" for index in range(2)]
    for gate in gates:
        os.mkfifo(gate)
    script = f"echo >> {tmp_path}/begun; cat {tmp_path}/gate-$JOB_COMPLETION_INDEX"
    pair = role("node", container("main", script), parallelism=2, completions=2)
    with pool_agent(hosts=3, cpus=1) as pool:
        for host in "abc":
            pool.until_host(host, "up")
        gang = pool.job(jobset(pair), amounts={"cpus": 1})
        until(lambda: (tmp_path / "begun").exists() and len(begun(tmp_path)) == 2)
        first = gang.placement()
        lost, kept = first["node-0-0"], first["node-0-1"]
        (spare,) = {"a", "b", "c"} - {lost, kept}
        assert pool.ask("drain", host=lost, why="its fan is loud") == {"ok": True}
        os.kill(pool.host_pid(lost), signal.SIGKILL)
        until(lambda: len(begun(tmp_path)) == 4)
        assert gang.placement() == {"node-0-0": spare, "node-0-1": kept}
        for gate in gates:
            gate.write_text("")
        assert gang.end()["succeeded"], gang.records()


def begun(folder: Path) -> list[str]:
    return (folder / "begun").read_text().splitlines()
