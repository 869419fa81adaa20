"""Clusters whose nodes are an allocation of Slurm."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trainway.agent.pool.clusters_testing import FakePool
from trainway.agent.pool.placement import Placement

if TYPE_CHECKING:
    from collections.abc import Callable


class SlurmPool(FakePool):
    """A pool with a cluster on Slurm."""

    def __init__(self, **more: Any) -> None:
        super().__init__()
        cluster = {"name": "dev", "id": "id-dev", "cpus": 2, "slurm": {"script": ""}, **more}
        self.answers = self.ask(op="allocate", cluster=cluster)

    def guarded(self, _gang: Any, call: Callable[..., object], *arguments: object) -> None:
        call(*arguments)

    @property
    def allocation(self) -> Any:
        return self.clusters._clusters["dev"]

    def up(self) -> None:
        self.holder.begun.pop()({"ok": True})
        self.clusters.placed(self.allocation, Placement({"node-0": "n1@dev"}))


def test_a_cluster_on_slurm_is_answered_for_when_slurm_has_it() -> None:
    pool = SlurmPool()
    assert (pool.answers, pool.states()) == ([], {"dev": "INIT"})
    pool.up()
    assert pool.answers[0]["ok"]
    assert pool.states() == {"dev": "UP"}


def test_a_new_cluster_that_slurm_refuses_is_none() -> None:
    pool = SlurmPool()
    told = {"ok": False, "error": "no such partition", "hint": ""}
    pool.holder.begun.pop()(told)
    assert (pool.answers, pool.states()) == ([told], {})
    assert pool.remembered[-1]["gone"]


def test_a_lost_allocation_ends_its_jobs_and_can_be_had_again() -> None:
    pool = SlurmPool()
    pool.up()
    running, waiting = pool.submit("a", cpus=2), pool.submit("b", cpus=2)
    pool.clusters.lost(pool.allocation, "its allocation ended")
    assert running.lost == "its allocation ended"
    assert len(waiting.cancels) == 1
    (status,) = pool.clusters.status()
    assert (status["state"], status["message"]) == ("STOPPED", "its allocation ended")
    answers = pool.ask(op="start", cluster="dev")
    assert (answers, pool.states()) == ([], {"dev": "INIT"})
    pool.up()
    assert answers[0]["ok"]


def test_an_allocation_that_cannot_be_given_back_is_tried_again_when_idle() -> None:
    pool = SlurmPool(autostop={"minutes": 1, "down": True})
    pool.up()
    pool.later(60)
    assert pool.states() == {"dev": "AUTOSTOPPING"}
    pool.holder.ended.pop()({"ok": False, "error": "its login node does not answer"})
    (status,) = pool.clusters.status()
    assert (status["state"], status["message"]) == ("UP", "its login node does not answer")
    pool.later(60)
    pool.holder.ended.pop()({"ok": True})
    assert pool.states() == {}


def test_a_cluster_that_is_forgotten_is_given_back_as_soon_as_that_is_possible() -> None:
    pool = SlurmPool()
    pool.up()
    answers = pool.ask(op="release", cluster="dev", stop=False, purge=True)
    pool.holder.ended.pop()({"ok": False, "error": "its login node is away"})
    assert not answers[0]["ok"]
    (refused,) = pool.ask(op="allocate", cluster={"name": "dev", "id": "another"})
    assert "has not been released yet: its login node is away" in refused["error"]
    pool.later(60)
    pool.holder.ended.pop()({"ok": True})
    assert pool.states() == {}


def test_what_was_about_to_be_given_back_is_given_back_by_the_next_agent() -> None:
    pool = SlurmPool()
    pool.up()
    pool.ask(op="release", cluster="dev", stop=False)
    other = SlurmPool(name="other")
    record = pool.remembered[-1]
    assert record["cluster"]["slurm"]["ending"] == "down"
    other.clusters.restore(record)
    other.clusters.begin()
    assert other.holder.kept == ["other"]
    other.holder.ended.pop()({"ok": True})
    assert other.states() == {"other": "INIT"}
