import json
from datetime import timedelta
from typing import Any

import pytest

from trainway.backends.base import Capacity
from trainway.engine.observation import Observation
from trainway.engine.phases import Phase
from trainway.engine.queue_entry import demand_of
from trainway.engine.queues.gangs import (
    amounts_in,
    lacking_nodes,
    owed_to,
    request_of,
    running_gang,
    seconds,
    waiting_gang,
    with_spare,
)
from trainway.engine.queues.making_room import leaving, left, told
from trainway.engine.queues.node_limit import given_up, limited
from trainway.engine.record import JobRecord
from trainway.engine.testing import NOW
from trainway.engine.times import time_text
from trainway.engine.wishes import RESUME, SUSPEND
from trainway.jobset.quantity import Quantity
from trainway.queueing.queue_policy import Eviction

DEMAND = json.dumps({"cpus": "1500m", "memory": "1Gi", "gpus": 2})
DEVICES = json.dumps({"node-0-0": {"gpus": ["0"]}, "node-0-1": {"gpus": ["3"]}})
NOON = "2026-11-15T12:00:00Z"
LATER = time_text(NOW + timedelta(hours=1))


def record(**more: Any) -> JobRecord:
    whole: dict[str, Any] = {
        "id": "i1", "name": "a", "namespace": "d", "kind": "JobSet", "backend": "local",
        "created": NOON, "demand": DEMAND, "labels": '{"trainway.dev/user": "ada"}', **more,
    }  # fmt: skip
    return JobRecord(**whole)


def test_amounts_are_whole_numbers_and_devices_count_one_by_one() -> None:
    assert request_of(DEMAND, "") == {"cpu": 1500, "memory": 1 << 30, "gpu": 2}
    assert request_of(DEMAND, "") is request_of(DEMAND, "")
    assert request_of(DEMAND, DEVICES)["device:3"] == 1
    machine = Capacity(Quantity.parse("2"), Quantity.parse("1Ki"), ("0", "1"))
    assert amounts_in(machine) == {
        "cpu": 2000, "memory": 1024, "gpu": 2, "device:0": 1, "device:1": 1,
    }  # fmt: skip


def test_a_job_that_waits() -> None:
    gang = waiting_gang(record(queue="team", priority=3), "local", 45)
    assert (gang.queue, gang.user, gang.priority, gang.limit_s) == ("team", "ada", 3, None)
    gang = waiting_gang(record(deadline_seconds=600), "local", 45)
    assert (gang.limit_s, gang.owed, gang.order) == (645, None, "i1")


def test_a_job_that_runs() -> None:
    begin = seconds(NOON)
    gang = running_gang(record(deadline_seconds=600), "local", 0, begin, can_leave=True)
    assert gang.ends == int(begin) + 630
    later = running_gang(record(), "local", 0, begin + 0.1, can_leave=True)
    assert later.started > gang.started, "of jobs that start in one second the order is kept"
    assert gang.is_preemptible
    gang = running_gang(record(wanted="cancel"), "local", 0, None, can_leave=True)
    assert (gang.ends, gang.is_preemptible) == (None, False)


@pytest.mark.parametrize("eviction", Eviction)
def test_a_job_that_makes_room(eviction: Eviction) -> None:
    leaves = record(phase=Phase.RUNNING).with_columns(leaving("i9", "big", eviction, NOW))
    assert leaves.wanted == SUSPEND
    gang = running_gang(leaves, "local", 0, None, can_leave=True)
    assert (gang.leaves_for, gang.is_preemptible) == ("i9", False)
    waits = leaves.with_columns(left(leaves))
    assert (waits.phase, waits.wanted, waits.reason) == (Phase.QUEUED, RESUME, "Preempted")
    assert owed_to([waits, record()]) == {"i9": time_text(NOW)}
    assert told(waits, "", "needs 1 CPU") == ("Preempted", "it made room for big (i9); needs 1 CPU")
    assert told(record(), "Why", "needs 1 CPU") == ("Why", "needs 1 CPU")
    order = waiting_gang(waits, "local", 0).order
    assert (order == "i1") == (eviction is Eviction.SUSPEND)


def elastic_record(**more: Any) -> JobRecord:
    elastic = {"role": "node", "nodes": 4, "least": 2, "most": 4, "cpus": "1", "memory": "0"}
    slots = {f"node-0-{index}": [index] for index in range(4)}
    demand = {"cpus": "4", "memory": "0", "gpus": 4, "slots": slots, "elastic": elastic}
    devices = {pod: {"gpus": [str(numbers[0])]} for pod, numbers in slots.items()}
    return record(demand=json.dumps(demand), devices=json.dumps(devices), **more)


def test_an_elastic_job_gives_up_its_last_nodes_with_their_devices() -> None:
    runs = elastic_record()
    gang = running_gang(runs, "local", 0, None, can_leave=True)
    assert with_spare(gang, runs, may_give=False) == [gang]
    (whole,) = with_spare(gang, runs, may_give=True)
    node = {"cpu": 1000, "gpu": 1}
    assert whole.spare == ({**node, "device:3": 1}, {**node, "device:2": 1})
    gives = runs.with_columns(limited(3, "i9", "big", LATER))
    rest, leaves = with_spare(gang, gives, may_give=True)
    assert (rest.spare, leaves.request, leaves.gives) == ((), {**node, "device:3": 1}, 1)
    assert leaves.leaves_for == "i9"
    assert owed_to([gives]) == {"i9": LATER}
    left_for = record(making_room=leaving("i9", "big", Eviction.SUSPEND, NOW)["making_room"])
    assert owed_to([left_for, gives]) == owed_to([gives, left_for]) == {"i9": LATER}
    assert lacking_nodes(gives) == ()
    seen = Observation(most_nodes=3)
    gave = gives.with_columns(given_up(gives, demand_of(gives.demand), seen))
    assert request_of(gave.demand, gave.devices)["cpu"] == 3000
    assert "device:3" not in request_of(gave.demand, gave.devices)
    assert lacking_nodes(gave) == ({**node, "device:3": 1},)


@pytest.mark.parametrize(
    ("most_nodes", "phase", "stopped", "is_gone"),
    [
        (0, "Failed", True, False),
        (3, "Running", True, False),
        (3, "Running", False, False),
        (3, "Failed", True, True),
        (3, "Pending", False, True),
    ],
)
def test_nodes_are_given_up_when_their_processes_are_gone(
    most_nodes: int, phase: str, stopped: bool, is_gone: bool
) -> None:
    gives = elastic_record(node_limit=limited(3)["node_limit"])
    nodes: dict[str, Any] = {
        f"node-0-{index}": {"role": "node", "phase": "Running"} for index in range(3)
    }
    nodes["node-0-3"] = {"role": "node", "phase": phase, "stopped": stopped}
    seen = Observation(nodes=nodes, most_nodes=most_nodes)
    assert bool(given_up(gives, demand_of(gives.demand), seen)) == is_gone
