"""A gang one of whose hosts fails the health check."""

from pathlib import Path

import pytest

from trainway.agent.base.labels import HEALTH_CHECK
from trainway.agent.base.testing import container, jobset, role
from trainway.agent.pool.conftest import GangWorld
from trainway.json_types import Json

SICK = {"reason": "HealthCheckFailed", "message": "the disk of /x is full"}


def checked(**annotations: str) -> Json:
    spec = jobset(
        role("node", container("main", "true"), parallelism=2, completions=2),
        failurePolicy={"maxRestarts": 0},
    )
    spec["metadata"]["annotations"] = {HEALTH_CHECK: "true", **annotations}
    return spec


def test_the_host_is_set_aside_and_the_gang_starts_elsewhere(tmp_path: Path) -> None:
    world = GangWorld(tmp_path, checked())
    world.place()
    world.record("b", "node-0-1", "Failed", **SICK)
    assert world.pool.aside == {"b": "its health check failed: the disk of /x is full"}
    assert "HostSetAside" in world.reasons()
    assert world.restarts == (1, 0), "it does not count"
    world.record("a", "node-0-0", "Failed", token=1)
    assert world.wants_place()
    world.place({"node-0-0": "a", "node-0-1": "c"})
    world.record("a", "node-0-0", "Running")
    world.record("c", "node-0-1", "Running")
    assert not world.over()


def test_a_pool_agent_that_dies_in_between_hears_of_it_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = GangWorld(tmp_path, checked())
    world.place()
    sick = world.uid("node-0-1")

    def dies(_name: str, _why: str, _by: str) -> None:
        raise RuntimeError("killed")

    with monkeypatch.context() as killed:
        killed.setattr(world.pool, "set_aside", dies)
        with pytest.raises(RuntimeError):
            world.record("b", "node-0-1", "Failed", **SICK)
    world.reborn()
    world.pool.hosts["b"].seq = -1
    world.record("b", "node-0-1", "Failed", uid=sick, **SICK)
    assert list(world.pool.aside) == ["b"]
    assert world.restarts == (1, 0)


def test_all_hosts_have_to_be_ready_before_any_pod_starts(tmp_path: Path) -> None:
    world = GangWorld(tmp_path, checked(), objects=[])
    world.pool.hosts["b"].state = "silent"
    world.place()
    assert world.ops("a") == ["job"], "the host beside it does not have the job yet"
    world.host("b", "up")
    assert world.ops("a") == ["start"]
    assert "start" in world.ops("b")


def test_a_job_in_a_cluster_has_no_other_hosts(tmp_path: Path) -> None:
    world = GangWorld(tmp_path, checked(), queue="mine")
    world.place()
    world.record("b", "node-0-1", "Failed", **SICK)
    assert world.pool.aside == {}
    world.record("a", "node-0-0", "Failed")
    assert world.end["reason"] == "HealthCheckFailed"
    assert world.end["message"] == "host b failed its health check: the disk of /x is full"


def test_the_last_host_is_left_to_other_jobs(tmp_path: Path) -> None:
    world = GangWorld(tmp_path, checked())
    world.pool.aside = {"a": "its fan is loud", "c": "its disk"}
    world.place({"node-0-0": "b", "node-0-1": "b"})
    world.record("b", "node-0-1", "Failed", **SICK)
    world.record("b", "node-0-0", "Failed")
    assert list(world.pool.aside) == ["a", "c"]
    assert world.end["reason"] == "HealthCheckFailed"
    assert world.end["message"] == (
        "host b failed its health check: the disk of /x is full; it stays, since no other host is"
        " left"
    )
