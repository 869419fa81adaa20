"""An elastic gang of two to three nodes whose hosts are lost and come back."""

from pathlib import Path

import pytest

from trainway.agent.base.labels import MIN_NODES
from trainway.agent.base.testing import container, jobset, role
from trainway.agent.controllers import job_controller
from trainway.agent.pool.conftest import GangWorld
from trainway.agent.pool.placement import Placement
from trainway.json_types import Json

ALL = {"node-0-0": "a", "node-0-1": "b", "node-0-2": "c"}


def elastic_jobset(script: str = "true", least: int = 2, most: int = 3) -> Json:
    made = role("node", container("main", script), parallelism=most, completions=most)
    made["template"]["metadata"] = {"annotations": {MIN_NODES: str(least)}}
    return jobset(made)


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GangWorld:
    monkeypatch.setattr(job_controller, "BACKOFF_BASE", 0.0)
    demand = [{"pod": pod, "cpus": 1} for pod in ALL]
    world = GangWorld(tmp_path, elastic_jobset(), demand=demand)
    world.place(ALL)
    for pod, host in ALL.items():
        world.record(host, pod, "Running")
    for host in "abc":
        world.ops(host)
    return world


def told(world: GangWorld) -> list[str]:
    events = world.records("event")
    return [event["message"] for event in events if event["reason"] == "NodesChanged"]


def placed(world: GangWorld) -> dict[str, str]:
    placement = world.placement()
    assert placement is not None
    return dict(placement.hosts)


def lacking(world: GangWorld) -> list[str]:
    return [item["pod"] for item in world.gang.lacking()]


def grow(world: GangWorld, **hosts: str) -> None:
    added = {f"node-0-{name[1:]}": host for name, host in hosts.items()}
    for host in added.values():
        world.pool.hosts[host].seq = -1
    world.gang.grow(Placement(added, {}))
    world.settle()


def test_a_lost_host_takes_only_its_own_pod(world: GangWorld) -> None:
    stale = world.uid("node-0-2")
    world.host("c", "lost")
    assert world.gang.token == 1
    assert not world.wants_place()
    assert (world.ops("a"), world.ops("b")) == ([], [])
    assert placed(world) == {"node-0-0": "a", "node-0-1": "b"}
    lost = [record for record in world.records("pod") if record["uid"] == stale][-1]
    assert (lost["phase"], lost["reason"]) == ("Failed", "HostLost")
    assert told(world) == ["runs with 3 of 3 nodes", "runs with 2 of 3 nodes"]
    assert lacking(world) == ["node-0-2"]


def test_it_grows_on_a_host_that_comes_back_and_begins_there_from_nothing(world: GangWorld) -> None:
    world.log("c", "node-0-2.main.0.log", 0, b"old\n")
    world.host("c", "lost")
    world.host("c", "up", token=1)
    assert world.ops("c") == ["fence"]
    grow(world, n2="c")
    assert world.ops("c") == ["remove", "job", "start"]
    assert world.last[2]["token"] == 1
    assert world.last[2]["addresses"]["node-0-0"] == world.pool.hosts["a"].address
    world.say("c", "fenced", token=1)
    world.say("c", "removed")
    assert world.ops("c") == [], "what it had is gone, and what it has stays"
    world.record("c", "node-0-2", "Running")
    world.log("c", "node-0-2.main.0.log", 0, b"new\n")
    assert (world.path / "logs" / "node-0-2.main.0.log").read_bytes() == b"old\nnew\n"
    assert told(world)[-1] == "runs with 3 of 3 nodes"
    assert lacking(world) == []
    for pod, host in ALL.items():
        world.record(host, pod, "Succeeded")
    assert world.end["succeeded"]
    assert world.restarts == (0, 0)


def test_the_host_at_which_they_meet_takes_all_along(world: GangWorld) -> None:
    world.host("a", "lost")
    assert world.gang.token == 2
    assert world.ops("b") == ["stop"]
    assert world.restarts == (1, 0)


def test_below_the_minimum_the_gang_begins_anew(world: GangWorld) -> None:
    world.host("c", "lost")
    world.host("b", "lost")
    assert world.gang.token == 2
    world.record("a", "node-0-0", "Failed", deleted=True, token=1)
    assert world.wants_place()
    assert world.restarts == (1, 0)


@pytest.mark.parametrize("reason", ["AgentLost", "Fenced"])
def test_a_pod_that_its_host_lost_is_started_there_again(world: GangWorld, reason: str) -> None:
    world.record("c", "node-0-2", "Failed", reason=reason)
    assert world.gang.token == 1
    assert world.ops("c") == ["start"]


def test_a_host_that_forgot_the_job_loses_its_place(world: GangWorld) -> None:
    world.host("c", "up")
    assert world.gang.token == 1
    assert lacking(world) == ["node-0-2"]


def test_it_may_begin_with_fewer(tmp_path: Path) -> None:
    demand = [{"pod": pod, "cpus": 1} for pod in ALL]
    world = GangWorld(tmp_path, elastic_jobset(), demand=demand)
    assert [len(each) for each in world.gang.smaller_demands] == [2]
    world.place({"node-0-0": "a", "node-0-1": "b"})
    world.run_both()
    assert told(world) == ["runs with 2 of 3 nodes"]
    assert lacking(world) == ["node-0-2"]
    for host, pod in (("a", "node-0-0"), ("b", "node-0-1")):
        world.record(host, pod, "Succeeded")
    assert world.end["succeeded"], "what never had a place is not missed"


def test_one_that_is_on_its_way_to_its_place_is_waited_for(tmp_path: Path) -> None:
    world = GangWorld(tmp_path, elastic_jobset(), demand=[{"pod": pod} for pod in ALL])
    world.pool.hosts["c"].state = "silent"
    world.place(ALL)
    world.run_both()
    assert told(world) == []
    world.host("c", "up")
    world.record("c", "node-0-2", "Running")
    assert told(world) == ["runs with 3 of 3 nodes"]


def test_the_next_pool_agent_knows_what_is_lacking(world: GangWorld) -> None:
    world.host("c", "lost")
    world.reborn()
    assert world.gang.token == 1
    assert lacking(world) == ["node-0-2"]
    for host in "ab":
        world.host(host, "up", token=1)
    world.host("c", "up", token=1)
    grow(world, n2="c")
    world.reborn()
    assert lacking(world) == []
    assert placed(world) == ALL
    world.host("c", "up")
    assert world.ops("c") == ["job", "start"], "the one before may not have come to that"


def test_nothing_is_lacking_where_it_has_no_place_at_all(world: GangWorld) -> None:
    world.host("c", "lost")
    world.ask("suspend")
    assert lacking(world) == []


def test_it_gives_up_a_node_and_gets_it_back(world: GangWorld) -> None:
    world.ask("resize", nodes=2)
    assert world.ops("c") == ["stop"]
    assert placed(world) == ALL, "its place is its own until its processes are gone"
    world.record("c", "node-0-2", "Failed", deleted=True)
    assert placed(world) == {"node-0-0": "a", "node-0-1": "b"}
    assert (world.gang.token, world.restarts, lacking(world)) == (1, (0, 0), [])
    assert (world.ops("a"), world.ops("b")) == ([], [])
    world.reborn()
    for host in "abc":
        world.host(host, "up", token=1)
    assert lacking(world) == [], "the next pool agent knows of it"
    world.ask("resize", nodes=3)
    assert lacking(world) == ["node-0-2"]
    grow(world, n2="c")
    assert world.ops("c")[-2:] == ["job", "start"]


def test_one_that_lacks_a_node_gives_up_that_one(world: GangWorld) -> None:
    world.host("b", "lost")
    world.ask("resize", nodes=2)
    assert world.ops("c") == []
    assert placed(world) == {"node-0-0": "a", "node-0-2": "c"}
    assert lacking(world) == []


def test_it_never_has_fewer_than_its_minimum(world: GangWorld) -> None:
    world.ask("resize", nodes=1)
    world.record("c", "node-0-2", "Failed", deleted=True)
    assert placed(world) == {"node-0-0": "a", "node-0-1": "b"}


def test_a_gang_that_waits_asks_for_no_more_than_it_may_have(tmp_path: Path) -> None:
    demand = [{"pod": pod, "cpus": 1} for pod in ALL]
    world = GangWorld(tmp_path, elastic_jobset(), demand=demand)
    world.ask("resize", nodes=2)
    assert [item["pod"] for item in world.gang.demand] == ["node-0-0", "node-0-1"]
    assert world.wants_place()
    world.place({"node-0-0": "a", "node-0-1": "b"})
    world.run_both()
    assert told(world) == ["runs with 2 of 3 nodes"]
    assert lacking(world) == []


@pytest.mark.parametrize("nodes", [None, 0, -1, "2"])
def test_a_number_that_is_none_changes_nothing(world: GangWorld, nodes: object) -> None:
    world.ask("resize", nodes=nodes)
    assert not world.answers[-1]["ok"]
    assert world.gang.token == 1
    assert placed(world) == ALL
