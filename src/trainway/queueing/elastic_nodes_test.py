"""What preemption takes of elastic jobs."""

from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from trainway.queueing.amounts import GPU, JOBS, Amounts
from trainway.queueing.decision import PREEMPTING, QUEUED, decide
from trainway.queueing.queue_policy import Preemption, QueuePolicy
from trainway.queueing.snapshot import RunningGang, Snapshot, WaitingGang

NOON = 1_795_003_200
LANES: dict[str, Amounts | None] = {"local": {GPU: 8}, "slurm/hpc": None}
ANY = QueuePolicy("default", preemption=Preemption.ANY)
TEAM = QueuePolicy("team-a", {GPU: 4, JOBS: 3}, preemption=Preemption.QUEUE)


def waits(name: str, gpus: int, queue: str = "default", **more: Any) -> WaitingGang:
    gang = WaitingGang(name, {GPU: gpus}, "local", queue, name=name)
    return replace(gang, **more)


def runs(name: str, gpus: int, queue: str = "default", **more: Any) -> RunningGang:
    gang = RunningGang(name, {GPU: gpus}, "local", queue, started=NOON - 60, name=name)
    return replace(gang, **more)


@dataclass(frozen=True)
class Case:
    name: str
    waiting: WaitingGang
    reason: str
    message: str = ""
    preempted: list[str] = field(default_factory=list)
    """The jobs, with the number of nodes where it is not all of them."""
    running: list[RunningGang] = field(default_factory=list)
    queues: tuple[QueuePolicy, ...] = ()


ONE = {GPU: 1}
ELASTIC = runs("elastic", 4, spare=(ONE, ONE))
CASES = [
    Case(
        "nodes above the minimum are taken before any job is suspended",
        waits("a", 1, priority=9),
        PREEMPTING,
        "It needs 1 GPU, and 0 GPUs are free. It starts as soon as 1 node of elastic makes room "
        "for it, which has begun.",
        preempted=["elastic-1"],
        running=[ELASTIC, runs("low", 4, priority=-5)],
        queues=(ANY,),
    ),
    Case(
        "of the lowest priority first, then of the youngest",
        waits("a", 3, priority=9),
        PREEMPTING,
        preempted=["low-2", "young-1"],
        running=[
            runs("old", 2, spare=(ONE,), started=NOON - 900),
            runs("young", 3, spare=(ONE, ONE)),
            runs("low", 3, spare=(ONE, ONE), priority=-5),
        ],
        queues=(ANY,),
    ),
    Case(
        "where they are not enough, as few jobs as possible are suspended",
        waits("a", 6, priority=9),
        PREEMPTING,
        preempted=["elastic-2", "young"],
        running=[ELASTIC, runs("young", 4)],
        queues=(ANY,),
    ),
    Case(
        "and what a suspended job frees counts for the others",
        waits("a", 4, priority=9),
        PREEMPTING,
        preempted=["young"],
        running=[replace(ELASTIC, spare=()), runs("young", 4, spare=(ONE, ONE), started=NOON)],
        queues=(ANY,),
    ),
    Case(
        "nobody gives anything for nothing",
        waits("a", 8, priority=9),
        QUEUED,
        running=[ELASTIC, runs("high", 4, priority=9)],
        queues=(ANY,),
    ),
    Case(
        "nodes do not help where the number of jobs is short",
        waits("a", 1, "team-a", priority=9),
        PREEMPTING,
        preempted=["t"],
        running=[
            runs("r", 0, "team-a", priority=1),
            runs("s", 0, "team-a", priority=1),
            runs("t", 2, "team-a", spare=(ONE,)),
        ],
        queues=(TEAM,),
    ),
    Case(
        "a quota is freed node by node too",
        waits("a", 1, "team-a", lane="slurm/hpc", priority=9),
        PREEMPTING,
        preempted=["r-1"],
        running=[runs("r", 4, "team-a", spare=(ONE, ONE), lane="slurm/hpc")],
        queues=(TEAM,),
    ),
    Case(
        "nodes that leave already are enough",
        waits("a", 2, priority=9),
        PREEMPTING,
        "It needs 2 GPUs, and 0 GPUs are free. It starts as soon as 2 nodes of elastic make room "
        "for it, which has begun.",
        running=[
            replace(ELASTIC, request={GPU: 6}),
            replace(ELASTIC, id="elastic/nodes", request={GPU: 2}, gives=2, leaves_for="a"),
        ],
        queues=(ANY,),
    ),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_is_taken(case: Case) -> None:
    queues = {policy.name: policy for policy in (QueuePolicy("default"), *case.queues)}
    decided = decide(Snapshot([case.waiting], case.running, queues, LANES, NOON))
    [(_, reason, message)] = decided.waiting
    assert reason == case.reason
    victims = [victim for victim, _ in decided.preempted]
    told = [f"{one.id}-{one.gives}" if one.gives else one.id for one in victims]
    assert told == case.preempted
    assert message == case.message or not case.message
