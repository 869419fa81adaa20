"""Workloads as Kueue 0.16 writes them."""

from typing import Any

from trainway.backends.kubernetes.queue_states import states_of
from trainway.backends.queues import Queue, Waiter
from trainway.json_types import Json
from trainway.kube.queue_position import positions_in

NO_QUOTA = "couldn't assign flavors to pod set node: insufficient unused quota for cpu in flavor a"
TOO_LARGE = "couldn't assign flavors to pod set node: insufficient quota for cpu in flavor a"
TEAM = Queue("team", "ml", "all", 2, 1)


def workload(name: str, minute: int, *, why: str = NO_QUOTA, **more: Any) -> Json:
    reserved = {"type": "QuotaReserved", "status": "False", "reason": "Pending", "message": why}
    conditions = more.pop("conditions", [reserved])
    owner = {"kind": "TrainJob", "name": f"{name}-job", "controller": True}
    return {
        "metadata": {
            "name": name,
            "creationTimestamp": f"2026-11-17T09:{minute:02}:00Z",
            "ownerReferences": [owner],
        },
        "spec": {"queueName": "team", **more},
        "status": {"conditions": conditions},
    }


def names(*workloads: Json, **positions: int) -> list[str]:
    (state,) = states_of([TEAM], workloads, {"team": positions})
    return [waiter.name for waiter in state.waiting]


def test_a_queue_says_who_waits_and_why() -> None:
    admitted = {"type": "Admitted", "status": "True"}
    running = workload("running", 1, conditions=[admitted])
    elsewhere = workload("elsewhere", 1, queueName="other")
    (state,) = states_of([TEAM], [running, elsewhere, workload("a", 2, priority=7)], {})
    assert state.waiting == (
        Waiter("a", 1, NO_QUOTA, "2026-11-17T09:02:00Z", 7, "TrainJob a-job", "a-job"),
    )


def test_the_order_is_that_of_kueue() -> None:
    found = (workload("new", 9), workload("old", 1), workload("urgent", 5, priority=10))
    assert names(*found) == ["urgent", "old", "new"]
    assert names(*found, new=1, urgent=2) == ["new", "urgent", "old"]
    off = workload("off", 0, priority=99, active=False)
    assert names(off, *found) == ["urgent", "old", "new", "off"]


def test_what_will_never_be_admitted_says_so() -> None:
    off = workload("off", 1, active=False)
    large = workload("large", 2, why=TOO_LARGE)
    unseen = workload("unseen", 3, conditions=[])
    (state,) = states_of([TEAM], [off, large, unseen], {})
    assert [waiter.reason for waiter in state.waiting] == [
        f"it can never be admitted: {TOO_LARGE}",
        "the queue has not looked at it yet",
        "it was deactivated",
    ]


def test_positions_are_counted_from_one() -> None:
    items = [{"metadata": {"name": "a"}}, {"metadata": {"name": "b"}, "positionInLocalQueue": 1}]
    assert positions_in({"items": items}) == {"a": 1, "b": 2}
    assert positions_in({}) == {}
