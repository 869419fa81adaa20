from dataclasses import dataclass, field

import pytest

from trainway.queueing.amounts import GPU, JOBS, Amounts
from trainway.queueing.growing import Lack, growths
from trainway.queueing.queue_policy import QueuePolicy, QueueState
from trainway.queueing.quota import Quotas
from trainway.queueing.snapshot import RunningGang, Tally, WaitingGang

ONE: Amounts = {GPU: 1}
OPEN = QueuePolicy("default")
HERE = WaitingGang("w", ONE, "local")


def lack(name: str, nodes: int, *, priority: int = 0, started: int = 0) -> Lack:
    gang = RunningGang(name, {GPU: 2}, "local", priority=priority, started=started)
    return Lack(gang, (ONE,) * nodes)


@dataclass(frozen=True)
class Case:
    name: str
    lacks: list[Lack]
    expected: dict[str, int]
    free: Amounts | None = field(default_factory=lambda: {GPU: 3})
    waiting: tuple[WaitingGang, ...] = ()
    policy: QueuePolicy = OPEN


CASES = (
    Case("all that fit", [lack("a", 2)], {"a": 2}),
    Case("and no more", [lack("a", 5)], {"a": 3}),
    Case("the highest priority first", [lack("a", 2), lack("b", 2, priority=1)], {"b": 2, "a": 1}),
    Case("then the oldest", [lack("a", 3, started=9), lack("b", 2)], {"b": 2, "a": 1}),
    Case("nothing is free", [lack("a", 2)], {}, free={}),
    Case("somebody else decides on the place", [lack("a", 5)], {"a": 5}, free=None),
    Case("a job waits for the place", [lack("a", 2)], {}, waiting=(HERE,)),
    Case(
        "a job waits for the quota",
        [lack("a", 2)],
        {},
        waiting=(WaitingGang("w", ONE, "ssh/lab"),),
    ),
    Case(
        "one elsewhere in another queue does not matter",
        [lack("a", 2)],
        {"a": 2},
        waiting=(WaitingGang("w", ONE, "ssh/lab", "other"),),
    ),
    Case(
        "the quota counts, but no node is a job",
        [lack("a", 3)],
        {"a": 2},
        policy=QueuePolicy("default", {GPU: 4, JOBS: 1}),
    ),
    Case(
        "a paused queue",
        [lack("a", 2)],
        {},
        policy=QueuePolicy("default", state=QueueState.PAUSED),
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_who_gets_back_nodes(case: Case) -> None:
    queues = {"default": case.policy, "other": QueuePolicy("other")}
    quotas = Quotas(queues, Tally(item.gang for item in case.lacks), {})
    assert growths(case.lacks, lambda _: case.free, quotas, queues, case.waiting) == case.expected
