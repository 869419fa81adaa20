"""A gang whose pods need packages: nobody starts before all hosts have them."""

from pathlib import Path

import pytest

from trainway.agent.base.labels import ENVIRONMENT
from trainway.agent.pool.conftest import GangWorld
from trainway.agent.supervisor import remote_pods

MAKING = [
    {"name": ENVIRONMENT, "kind": "init", "state": "running", "restarts": 0},
    {"name": "main", "state": "waiting", "restarts": 0},
]
PACKAGES = {"requirements": "six", "without": []}


@pytest.fixture
def world(tmp_path: Path) -> GangWorld:
    return GangWorld(tmp_path, environment=PACKAGES)


def prepared(world: GangWorld, host: str, key: str) -> None:
    world.record(host, key, "Pending", prepared=True)


def placed(world: GangWorld) -> None:
    world.place()
    for host, key in (("a", "node-0-0"), ("b", "node-0-1")):
        world.ops(host)
        world.record(host, key, "Pending", containers=MAKING)


def test_all_pods_are_let_go_when_the_last_has_its_environment(world: GangWorld) -> None:
    placed(world)
    prepared(world, "a", "node-0-0")
    assert world.ops("a") == world.ops("b") == []
    prepared(world, "b", "node-0-1")
    assert (world.ops("a"), world.last[0]["uid"]) == (["go"], world.uid("node-0-0"))
    assert (world.ops("b"), world.last[0]["uid"]) == (["go"], world.uid("node-0-1"))
    world.run_both()
    assert world.ops("a") == world.ops("b") == []


def test_a_pod_that_needs_no_packages_is_not_waited_for(world: GangWorld) -> None:
    world.place()
    world.ops("a")
    prepared(world, "a", "node-0-0")
    assert world.ops("a") == []
    world.record("b", "node-0-1", "Pending")  # nothing makes an environment for it
    assert world.ops("a") == ["go"]


def test_a_host_that_is_away_is_told_when_it_comes_back(world: GangWorld) -> None:
    placed(world)
    prepared(world, "a", "node-0-0")
    world.host("a", "silent")
    prepared(world, "b", "node-0-1")
    assert (world.ops("a"), world.ops("b")) == ([], ["go"])
    world.host("a", "up", token=1)
    assert "go" in world.ops("a")


def test_what_was_said_into_a_broken_connection_is_said_again(world: GangWorld) -> None:
    placed(world)
    prepared(world, "a", "node-0-0")
    prepared(world, "b", "node-0-1")
    world.ops("a")
    world.host("a", "up", token=1)
    assert "go" in world.ops("a")
    world.record("a", "node-0-0", "Running", prepared=True)
    world.host("a", "up", token=1)
    assert "go" not in world.ops("a")


def test_the_next_pool_agent_lets_them_go(world: GangWorld) -> None:
    placed(world)
    prepared(world, "a", "node-0-0")
    prepared(world, "b", "node-0-1")
    world.reborn()
    for host in "ab":
        world.host(host, "up", token=1)
        assert "go" in world.ops(host)


def test_a_pod_that_failed_to_get_its_environment_holds_nobody(world: GangWorld) -> None:
    placed(world)
    prepared(world, "a", "node-0-0")
    world.record("b", "node-0-1", "Failed", reason="EnvironmentFailed")
    assert "go" not in world.ops("a")  # the job has failed, and the pod is stopped
    world.say("a", "echo")
    assert world.ops("a") == ["stop"]


def test_nobody_is_held_for_a_pod_that_has_ended(
    world: GangWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote_pods, "PAUSE_S", 0.0)
    placed(world)
    prepared(world, "a", "node-0-0")
    world.record("b", "node-0-1", "Succeeded")
    assert world.ops("a") == ["go"]
