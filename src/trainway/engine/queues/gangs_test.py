import json
from typing import Any

import pytest

from trainway.backends.base import Capacity
from trainway.engine.phases import Phase
from trainway.engine.queues.gangs import (
    amounts_in,
    owed_to,
    request_of,
    running_gang,
    seconds,
    waiting_gang,
)
from trainway.engine.queues.making_room import leaving, left, told
from trainway.engine.record import JobRecord
from trainway.engine.testing import NOW
from trainway.engine.wishes import RESUME, SUSPEND
from trainway.jobset.quantity import Quantity
from trainway.queueing.queue_policy import Eviction

DEMAND = json.dumps({"cpus": "1500m", "memory": "1Gi", "gpus": 2})
DEVICES = json.dumps({"node-0-0": {"gpus": ["0"]}, "node-0-1": {"gpus": ["3"]}})
NOON = "2026-11-15T12:00:00Z"


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
    gang = waiting_gang(record(deadline_seconds=600), "local", 45, frozenset({"i1"}))
    assert (gang.limit_s, gang.is_owed, gang.order) == (645, True, "i1")


def test_a_job_that_runs() -> None:
    begin = seconds(NOON)
    gang = running_gang(record(deadline_seconds=600), "local", 0, begin, can_leave=True)
    assert (gang.started, gang.ends) == (int(begin), int(begin) + 630)
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
    assert owed_to([waits, record()]) == {"i9"}
    assert told(waits, "", "needs 1 CPU") == ("Preempted", "it made room for big (i9); needs 1 CPU")
    assert told(record(), "Why", "needs 1 CPU") == ("Why", "needs 1 CPU")
    order = waiting_gang(waits, "local", 0).order
    assert (order == "i1") == (eviction is Eviction.SUSPEND)
