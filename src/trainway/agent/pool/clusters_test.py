from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from trainway.agent.pool.clusters_testing import FakeGang, FakePool
from trainway.agent.pool.lease import LOST, SILENT
from trainway.agent.pool.placement import Placement

GIB = 2**30


def test_jobs_of_a_cluster_run_in_order_and_side_by_side_where_they_fit() -> None:
    pool = FakePool()
    pool.launch()
    first, second, third = gangs = [pool.submit(name, cpus=1) for name in "abc"]
    small = pool.submit("d", cpus=0.5)
    assert [gang.is_placed for gang in gangs] == [True, True, False]
    assert third.said[-1] == ("Queued: it needs 1 CPU, with only 0 free", 1)
    assert small.said[-1] == ("Queued: waits for its turn", 2)
    pool.end(first)
    assert (third.is_placed, small.is_placed) == (True, False)
    pool.end(second)
    assert small.is_placed


def test_a_job_that_can_never_fit_holds_back_nobody() -> None:
    pool = FakePool()
    pool.launch()
    never, other = pool.submit("a", cpus=3), pool.submit("b")
    assert "DoesNotFit: it needs 3 CPUs, and there are 2" in never.said[-1][0]
    assert other.is_placed


def test_a_job_that_oversubscribes_waits_for_nobody_and_holds_back_nobody() -> None:
    pool = FakePool()
    pool.launch()
    first, second = pool.submit("a", cpus=2), pool.submit("b", cpus=0.5)
    large = FakeGang("c", "dev", [{"pod": "node-0-0", "cpus": 64}], 9, oversubscribe=True)
    pool.jobs.append(large)
    pool.schedule()
    assert [gang.is_placed for gang in (first, second, large)] == [True, False, True]
    assert second.said[-1] == ("Queued: it needs 0.5 CPUs, with only 0 free", 1)


def test_fractions_of_a_gpu_share_the_device() -> None:
    pool = FakePool()
    pool.launch(gpus=1)
    halves = [pool.submit(name, gpus=0.5) for name in "abc"]
    placed = [gang.placement for gang in halves]
    assert [item and item.names("node-0-0") for item in placed] == [["0"], ["0"], None]


def test_half_a_gpu_is_all_that_half_a_gpu_has() -> None:
    pool = FakePool()
    pool.launch(gpus=0.5)
    assert pool.submit("a", gpus=0.5).placement is not None
    assert pool.submit("b", gpus=0.5).placement is None
    assert "DoesNotFit" in pool.submit("c", gpus=1).said[-1][0]


def test_pods_go_to_different_nodes() -> None:
    pool = FakePool()
    pool.launch(nodes=2)
    wide = pool.submit("a", pods=2, cpus=2)
    assert wide.is_placed
    assert pool.submit("b", cpus=0.5).placement is None


def test_a_node_that_is_set_aside_takes_no_more_jobs_and_keeps_those_that_it_has() -> None:
    pool = FakePool()
    pool.launch(nodes=2, apart=True)
    first = pool.submit("a", cpus=2)
    assert first.placement is not None
    (host,) = first.placement.hosts.values()
    pool.aside[host] = "its cloud takes it"
    second, third = pool.submit("b", cpus=2), pool.submit("c", cpus=2)
    assert second.placement is not None
    assert [*second.placement.hosts.values()] != [host]
    pool.end(first)
    said = f"Queued: it needs 2 CPUs, with only 0 free; {host} is set aside: its cloud takes it"
    assert third.said[-1] == (said, 1)
    pool.aside.clear()
    pool.schedule()
    assert third.is_placed


@pytest.mark.parametrize("state", [SILENT, LOST])
def test_a_gang_does_not_begin_on_the_nodes_that_are_left(state: str) -> None:
    pool = FakePool()
    pool.launch(nodes=2, apart=True)
    pool.host_states["a1"] = state
    gang = pool.submit("a", pods=2, cpus=2)
    assert not gang.is_placed
    assert "a1 " in gang.said[-1][0]
    assert pool.submit("b", cpus=2).is_placed is False, "the first holds back all behind it"
    pool.host_states.clear()
    pool.schedule()
    assert gang.is_placed


def test_the_next_agent_knows_which_nodes_are_taken() -> None:
    pool = FakePool()
    pool.launch(nodes=2)
    pool.submit("a", cpus=2)
    later = pool.next_agent()
    assert later.states() == {"dev": "UP"}
    second, third = later.submit("b", cpus=2), later.submit("c", cpus=2)
    assert second.is_placed
    assert not third.is_placed


def test_jobs_wait_for_a_cluster_that_is_not_up() -> None:
    pool = FakePool()
    pool.ask(op="allocate", cluster={"name": "dev", "id": "1", "nodes": 1, "cpus": 1})
    (allocation,) = pool.clusters.allocations()
    assert allocation.wants_place
    assert allocation.demand == [{"pod": "node-0", "cpus": 1, "memory": 0, "gpus": 0}]
    allocation.waiting("Queued", "it needs 1 CPU", 1)
    gang = pool.submit("a")
    assert gang.said == [("Queued: cluster dev is not up yet: it needs 1 CPU", 1)]
    allocation.place(Placement({"node-0": "a1"}))
    assert gang.placement is not None
    assert gang.placement.hosts == {"node-0-0": "a1"}
    assert pool.states() == {"dev": "UP"}


def test_a_job_of_no_cluster_is_cancelled() -> None:
    pool = FakePool()
    assert pool.submit("a", queue="gone").cancels


@dataclass(frozen=True)
class Idle:
    """After so many seconds an idle cluster is in a state, or gone."""

    seconds: float
    state: str
    minutes: float = 1
    down: bool = False


@pytest.mark.parametrize(
    "case",
    [
        Idle(59, "UP"),
        Idle(60, "STOPPED"),
        Idle(59, "UP", down=True),
        Idle(60, "gone", down=True),
        Idle(0, "STOPPED", minutes=0),
        Idle(0, "gone", minutes=0, down=True),
    ],
)
def test_autostop_counts_from_the_end_of_the_last_job(case: Idle) -> None:
    pool = FakePool()
    pool.launch(autostop={"minutes": case.minutes, "down": case.down})
    first, second = pool.submit("a"), pool.submit("b")
    pool.later(1000)
    pool.end(first)
    pool.later(1000)
    assert pool.states() == {"dev": "UP"}, "a job runs"
    pool.end(second)
    pool.later(case.seconds)
    assert pool.states().get("dev", "gone") == case.state
    assert pool.clusters.busy == (case.state == "UP")


def test_a_new_cluster_waits_for_its_first_job() -> None:
    pool = FakePool()
    pool.launch(autostop={"minutes": 0, "down": True})
    pool.later(59)
    assert pool.states() == {"dev": "UP"}
    pool.later(1)
    assert pool.states() == {}


def test_a_job_that_waits_keeps_the_cluster_too() -> None:
    pool = FakePool()
    pool.launch(autostop={"minutes": 0, "down": True})
    first, second = pool.submit("a", cpus=2), pool.submit("b", cpus=2)
    pool.end(first)
    assert pool.states() == {"dev": "UP"}
    pool.end(second)
    assert pool.states() == {}


def test_the_idle_time_goes_on_under_the_next_agent() -> None:
    pool = FakePool()
    pool.launch(autostop={"minutes": 1, "down": True})
    pool.end(pool.submit("a"))
    pool.time += 40
    later = pool.next_agent()
    later.later(19)
    assert later.states() == {"dev": "UP"}
    later.later(1)
    assert later.states() == {}


def test_autostop_is_set_and_taken_back() -> None:
    pool = FakePool()
    pool.launch()
    pool.end(pool.submit("a"))
    pool.ask(op="autostop", cluster="dev", minutes=1, down=False)
    pool.ask(op="autostop", cluster="dev", minutes=None, down=False)
    pool.later(1000)
    assert pool.states() == {"dev": "UP"}
    pool.ask(op="autostop", cluster="dev", minutes=1, down=False)
    assert pool.states() == {"dev": "STOPPED"}, "it has been idle for longer"


def test_down_ends_all_jobs_first() -> None:
    pool = FakePool()
    pool.launch()
    running, waiting = pool.submit("a", cpus=2), pool.submit("b", cpus=2)
    answers = pool.ask(op="release", cluster="dev", stop=False)
    assert not answers
    assert pool.states() == {"dev": "UP"}
    for gang in (running, waiting):
        gang.ended = True
        gang.cancels[0]({"ok": True})
    assert answers == [{"ok": True}]
    assert pool.states() == {}
    assert not pool.clusters.busy
    assert pool.next_agent().states() == {}
    assert pool.only.told == [{"op": "forget_cluster", "cluster": "id-dev"}]


def test_what_was_stopped_can_be_started() -> None:
    pool = FakePool()
    pool.launch()
    assert pool.ask(op="release", cluster="dev", stop=True) == [{"ok": True}]
    assert pool.next_agent().states() == {"dev": "STOPPED"}
    (answer,) = pool.ask(op="start", cluster="dev")
    assert answer["cluster"]["state"] == "INIT"
    assert not pool.clusters.allocations()[0].wants_place, "others give it its nodes"
    placement = {"hosts": {"node-0": "this"}}
    (answer,) = pool.ask(op="start", cluster="dev", placement=placement)
    assert answer["cluster"]["nodes"] == [{"host": "this", "address": "10.0.0.1", "gpus": []}]
    assert pool.submit("a").placement is not None


def test_allocate_may_be_repeated_but_not_by_another() -> None:
    pool = FakePool()
    pool.launch()
    data = {"name": "dev", "id": "id-dev", "nodes": 1, "cpus": 2}
    (again,) = pool.ask(op="allocate", cluster=data)
    assert again["cluster"]["state"] == "UP"
    (other,) = pool.ask(op="allocate", cluster={**data, "id": "another"})
    assert other == {"ok": False, "error": "there is a cluster dev already"}


def test_watchers_hear_of_every_change_until_they_go() -> None:
    pool = FakePool()
    heard: list[list[str]] = []

    def answer(told: Mapping[str, Any]) -> bool:
        heard.append([f"{item['name']} {item['state']}" for item in told["clusters"]])
        return len(heard) < 3

    pool.clusters.handle({"op": "clusters"}, answer)
    pool.launch()
    pool.ask(op="release", cluster="dev", stop=False)
    assert heard == [[], ["dev INIT"], ["dev UP"]]


def test_unknown_clusters_are_told() -> None:
    (answer,) = FakePool().ask(op="release", cluster="dev", stop=False)
    assert answer["error"] == "there is no cluster dev"


def test_what_the_hosts_do_not_have_is_waited_for() -> None:
    pool = FakePool()
    pool.ask(op="allocate", cluster={"name": "dev", "id": "id-dev", "cpus": 99})
    pool.clusters.allocations()[0].refuse("it needs 99 CPUs, and there are 4")
    (status,) = pool.clusters.status()
    assert (status["state"], status["message"]) == ("INIT", "it needs 99 CPUs, and there are 4")
