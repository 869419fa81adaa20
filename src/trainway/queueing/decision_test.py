from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from trainway.agent.controllers import gang_queue
from trainway.queueing.amounts import CPU, GPU, JOBS, Amounts, gpu_of
from trainway.queueing.decision import (
    NO_QUEUE,
    PAUSED,
    PREEMPTING,
    QUEUED,
    QUOTA,
    SPENT,
    ManagedPolicy,
    decide,
    positions,
)
from trainway.queueing.queue_policy import Preemption, QueuePolicy, QueueState
from trainway.queueing.room import Places
from trainway.queueing.snapshot import RunningGang, Snapshot, Used, WaitingGang

NOON = 1_795_003_200  # 2026-11-18 12:00 UTC
LANES: dict[str, Amounts | None] = {"local": {CPU: 8_000, GPU: 8}, "slurm/hpc": None}
H100 = gpu_of("H100")

A = QueuePolicy("team-a", {GPU: 4, JOBS: 3})
B = QueuePolicy("team-b", {GPU: 4}, cohort="research")
C = QueuePolicy("team-c", {GPU: 4}, cohort="research", reclaims=True)


def waits(name: str, gpus: int = 1, queue: str = "default", **more: Any) -> WaitingGang:
    """A job that asks for GPUs; ids and names are the same, and arrive in their order."""
    gang = WaitingGang(name, {GPU: gpus}, "local", queue, order=name, name=name)
    return replace(gang, **more)


def runs(name: str, gpus: int = 1, queue: str = "default", **more: Any) -> RunningGang:
    gang = RunningGang(name, {GPU: gpus}, "local", queue, started=NOON - 60, name=name)
    return replace(gang, **more)


@dataclass(frozen=True)
class Case:
    name: str
    waiting: list[WaitingGang]
    start: list[str]
    reasons: dict[str, str] = field(default_factory=dict)
    message: str = ""
    """What the first is told that waits or is refused."""
    preempted: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    running: list[RunningGang] = field(default_factory=list)
    queues: tuple[QueuePolicy, ...] = ()
    used: Used = field(default_factory=Used)


CASES = [
    Case("all fit", [waits("a", 4), waits("b", 4)], ["a", "b"]),
    Case(
        "the first of a place holds back those behind it",
        [waits("a", 6), waits("b", 1)],
        [],
        {"a": QUEUED, "b": QUEUED},
        "It needs 6 GPUs, and 4 GPUs are free. When that becomes free is not known, since "
        "something that runs has no time limit.",
        running=[runs("r", 4)],
    ),
    Case(
        "and says when it starts, if that is known",
        [waits("a", 6)],
        [],
        {"a": QUEUED},
        "It needs 6 GPUs, and 4 GPUs are free. It starts at 2026-11-18 12:10 UTC at the latest, "
        "when r has ended.",
        running=[runs("r", 4, ends=NOON + 600)],
    ),
    Case(
        "who has ended by then may start before",
        [waits("a", 8), waits("b", 1, limit_s=600), waits("c", 1, limit_s=601), waits("d", 1)],
        ["b"],
        {"a": QUEUED, "c": QUEUED, "d": QUEUED},
        running=[runs("r", 4, ends=NOON + 600)],
    ),
    Case(
        "so may who fits beside it even then",
        [waits("a", 6), waits("b", 2, limit_s=9_999), waits("c", 1, limit_s=9_999)],
        ["b"],
        {"a": QUEUED, "c": QUEUED},
        running=[runs("r", 4, ends=NOON + 600)],
    ),
    Case(
        "who takes nothing that the first wants too",
        [waits("a", 6), waits("b", request={CPU: 1000}, limit_s=60)],
        ["b"],
        {"a": QUEUED},
        running=[runs("r", 4)],
    ),
    Case(
        "places do not hold back each other, and some decide by themselves",
        [waits("a", 6), waits("b", 99, lane="slurm/hpc")],
        ["b"],
        {"a": QUEUED},
        running=[runs("r", 4)],
    ),
    Case(
        "also there the quota counts",
        [waits("a", 3, "team-a", lane="slurm/hpc"), waits("b", 3, "team-a", lane="slurm/hpc")],
        ["a"],
        {"b": QUOTA},
        "Queue team-a uses 3 of its 4 GPUs, and this job needs 3. It starts when jobs of the "
        "queue end, or with a larger quota.",
        queues=(A,),
    ),
    Case(
        "a quota holds back its own queue, and of that only who wants the same",
        [
            waits("a", 2, "team-a"),
            waits("b", 1, "team-a"),
            waits("c", 0, "team-a", request={CPU: 1000}),
            waits("d", 1),
        ],
        ["d", "c"],
        {"a": QUOTA, "b": QUEUED},
        running=[runs("r", 3, "team-a")],
        queues=(A,),
    ),
    Case(
        "how many jobs run is a quota for all of them",
        [waits("a", 0, "team-a", request={CPU: 1000})],
        [],
        {"a": QUOTA},
        "Queue team-a uses 3 of its 3 running jobs, and this job needs 1. It starts when jobs of "
        "the queue end, or with a larger quota.",
        running=[runs(name, 0, "team-a") for name in "rst"],
        queues=(A,),
    ),
    Case(
        "more than the quota can never start",
        [waits("a", 5, "team-a"), waits("b", 1, "team-a")],
        ["b"],
        message="5 GPUs, and queue team-a may use 4",
        refused=["a"],
        queues=(A,),
    ),
    Case(
        "GPUs of a type have a quota of their own",
        [waits("a", 1, "team-h", request={GPU: 1, H100: 1}, lane="slurm/hpc"),
         waits("b", 1, "team-h")],
        ["b"],
        {"a": QUOTA},
        "Queue team-h uses 2 of its 2 GPUs of type H100, and this job needs 1. It starts when jobs "
        "of the queue end, or with a larger quota.",
        running=[runs("r", 2, "team-h", request={GPU: 2, H100: 2}, lane="slurm/hpc")],
        queues=(QueuePolicy("team-h", {H100: 2}),),
    ),
    Case("what a cohort does not use is lent", [waits("a", 7, "team-b")], ["a"], queues=(B, C)),
    Case(
        "not beyond the limit of borrowing",
        [waits("a", 3, "team-b")],
        [],
        {"a": QUOTA},
        "Queue team-b uses 4 of its 4 GPUs and may borrow 2, and this job needs 3. It starts when "
        "jobs of the queue end, or with a larger quota.",
        running=[runs("r", 4, "team-b")],
        queues=(replace(B, borrowing={GPU: 2}, quota={GPU: 4}), C),
        used=Used(),
    ),
    Case(
        "what one waits for is not borrowed any more",
        [waits("a", 4, "team-d"), waits("b", 1, "team-b", limit_s=1)],
        [],
        {"a": QUOTA, "b": QUOTA},
        "Queue team-d uses 0 of its 4 GPUs, and this job needs 4. The queues of cohort research "
        "use 5 of 8. It starts when jobs of the cohort end, or with a larger quota.",
        running=[runs("r", 5, "team-b")],
        queues=(B, QueuePolicy("team-d", {GPU: 4}, cohort="research")),
    ),
    Case(
        "what was lent is taken back, from the youngest",
        [waits("a", 3, "team-c")],
        [],
        {"a": PREEMPTING},
        "Queue team-c uses 0 of its 4 GPUs, and this job needs 3. The queues of cohort research "
        "use 6 of 8. It starts as soon as s makes room for it, which has begun.",
        preempted=["s"],
        running=[runs("r", 3, "team-b"), runs("s", 3, "team-b", started=NOON)],
        queues=(B, C),
    ),
    Case(
        "a queue that is paused starts nothing",
        [waits("a", 1, "team-a"), waits("b")],
        ["b"],
        {"a": PAUSED},
        "Queue team-a is paused, and none of its jobs starts. To let them start: trainway queues "
        "resume team-a",
        queues=(replace(A, state=QueueState.PAUSED),),
    ),
    Case(
        "one that is drained does",
        [waits("a", 1, "team-a")],
        ["a"],
        queues=(replace(A, state=QueueState.DRAINING),),
    ),
    Case(
        "one that is not there does not",
        [waits("a", 1, "team-x"), waits("b")],
        ["b"],
        {"a": NO_QUEUE},
        "There is no queue team-x. Create it with trainway queues apply, or submit the job to "
        "another queue.",
    ),
    Case(
        "GPU-hours of a month",
        [waits("a", 1, "team-g"), waits("b", 0, "team-g")],
        ["b"],
        {"a": SPENT},
        "Queue team-g has used 10.5 of its 10 GPU-hours of this month. Its jobs with GPUs start "
        "again next month, or when it gets more.",
        queues=(QueuePolicy("team-g", gpu_hours=10),),
        used=Used(gpu_seconds={"team-g": 37_800}),
    ),
]  # fmt: skip

ANY = QueuePolicy("default", preemption=Preemption.ANY)
OWN = QueuePolicy("default", preemption=Preemption.QUEUE)
FULL = [
    runs("old", 4, priority=1, started=NOON - 900),
    runs("low", 2, priority=-5),
    runs("young", 2, priority=1),
]

PREEMPTION_CASES = [
    Case(
        "nobody is preempted unless the queue says so",
        [waits("a", 2, priority=5)],
        [],
        {"a": QUEUED},
        running=FULL,
    ),
    Case(
        "the lowest priority first",
        [waits("a", 2, priority=5)],
        [],
        {"a": PREEMPTING},
        "It needs 2 GPUs, and 0 GPUs are free. It starts as soon as low makes room for it, which "
        "has begun.",
        preempted=["low"],
        running=FULL,
        queues=(ANY,),
    ),
    Case(
        "then the youngest",
        [waits("a", 4, priority=5)],
        [],
        {"a": PREEMPTING},
        preempted=["low", "young"],
        running=FULL,
        queues=(ANY,),
    ),
    Case(
        "who is not needed after all is spared",
        [waits("a", 4, priority=5)],
        [],
        {"a": PREEMPTING},
        preempted=["big"],
        running=[runs("small", 2, priority=-5), runs("big", 4, priority=0), runs("c", 2)],
        queues=(ANY,),
    ),
    Case(
        "nobody of the same priority",
        [waits("a", 8, priority=1)],
        [],
        {"a": QUEUED},
        running=FULL,
        queues=(ANY,),
    ),
    Case(
        "nobody, if all of them are not enough",
        [waits("a", 5, priority=0)],
        [],
        {"a": QUEUED},
        running=FULL,
        queues=(ANY,),
    ),
    Case(
        "only of its own queue, if the policy says that",
        [waits("a", 2, priority=5)],
        [],
        {"a": PREEMPTING},
        preempted=["young"],
        running=[FULL[0], replace(FULL[1], queue="team-a"), FULL[2]],
        queues=(OWN, A),
    ),
    Case(
        "nobody who cannot be",
        [waits("a", 2, priority=5)],
        [],
        {"a": PREEMPTING},
        preempted=["young"],
        running=[FULL[0], replace(FULL[1], is_preemptible=False), FULL[2]],
        queues=(ANY,),
    ),
    Case(
        "nobody more while room is being made",
        [waits("a", 2, priority=5, owed=1), waits("b", 1, limit_s=1)],
        [],
        {"a": PREEMPTING, "b": QUEUED},
        running=[FULL[0], replace(FULL[1], leaves_for="a", ends=NOON + 30), FULL[2]],
        queues=(ANY,),
    ),
]


@pytest.mark.parametrize("case", CASES + PREEMPTION_CASES, ids=lambda case: case.name)
def test_decisions(case: Case) -> None:
    queues = {policy.name: policy for policy in (QueuePolicy("default"), *case.queues)}
    decided = decide(Snapshot(case.waiting, case.running, queues, LANES, NOON, case.used))
    assert [gang.id for gang, _ in decided.start] == case.start
    assert {gang.id: reason for gang, reason, _ in decided.waiting} == case.reasons
    assert [victim.id for victim, _ in decided.preempted] == case.preempted
    assert [gang.id for gang, _, _ in decided.refused] == case.refused
    if case.message:
        assert [*decided.waiting, *decided.refused][0][2] == case.message


def test_those_behind_are_told_of_the_first_and_what_would_help() -> None:
    waiting = [waits("a", 6), waits("b", 1), waits("c", 1, limit_s=9_999)]
    snapshot = Snapshot(waiting, [runs("r", 4)], {"default": QueuePolicy("default")}, LANES, NOON)
    told = {gang.id: message for gang, _, message in decide(snapshot).waiting}
    ahead = "It waits for its turn: a is ahead. a needs 6 GPUs, and 4 GPUs are free."
    assert told["b"] == (
        f"{ahead} With a time limit it could start earlier, where that delays nobody."
    )
    assert told["c"] == ahead


def test_of_those_who_ask_for_the_same_each_hears_what_holds_for_it() -> None:
    same = {GPU: 6}
    paused = QueuePolicy("later", state=QueueState.PAUSED)
    waiting = [
        waits("a", request=same),
        waits("b", request=same),
        waits("c", request=same),
        waits("d", queue="later", request=same),
        waits("e", queue="nowhere", request=same),
        waits("f", queue="team-a", request=same),
        waits("g", lane="slurm/hpc", request=same),
        waits("h", request=same),
    ]
    queues = {one.name: one for one in (QueuePolicy("default"), paused, A)}
    decisions = decide(Snapshot(waiting, [runs("r", 4)], queues, LANES, NOON))

    reasons = {gang.id: reason for gang, reason, _ in decisions.waiting}
    assert reasons == {
        **dict.fromkeys("abch", QUEUED),
        "d": PAUSED,
        "e": NO_QUEUE,
    }
    assert [gang.id for gang, _ in decisions.start] == ["g"]
    assert [gang.id for gang, _, _ in decisions.refused] == ["f"]
    told = {gang.id: message for gang, _, message in decisions.waiting}
    assert told["b"] == told["c"] == told["h"] != told["a"]


def test_who_waits_for_a_place_alone_is_told_apart_as_far_as_quotas_reach() -> None:
    waiting = [
        waits("a", 8),
        *(waits(name, 2, "team-a") for name in "bcd"),  # it has 4, and uses 1
        waits("e", 1, "team-a"),
        waits("f", queue="later"),
        waits("g", queue="nowhere"),
        waits("h", 9, "team-a"),
        waits("i", queue="spent"),
        waits("j"),
        waits("k", lane="slurm/hpc"),
        waits("l", lane="other"),
    ]
    later = QueuePolicy("later", state=QueueState.PAUSED)
    spent = QueuePolicy("spent", gpu_hours=0)
    queues = {one.name: one for one in (QueuePolicy("default"), later, spent, A)}
    running, lanes = [runs("r", 7), runs("s", 1, "team-a")], LANES | {"other": {}}
    snapshot = Snapshot(waiting, running, queues, lanes, NOON)
    places = Places(snapshot.lanes, snapshot.running)
    policy = ManagedPolicy(snapshot, places)
    decisions = gang_queue.decide(waiting, places, policy)
    found = sorted(gang.id for gang in policy.short_of_room(decisions, {"local"}))
    assert found == ["a", "b", "j"], "behind c, which lacks quota, e waits as well"


def test_positions_are_those_in_the_queue() -> None:
    waiting = [
        waits("a", 8),
        waits("b", 4, "team-a"),
        waits("c", 8),
        waits("d", 4, "team-a", priority=9),
    ]
    queues = {"default": QueuePolicy("default"), "team-a": A}
    decided = decide(Snapshot(waiting, [runs("r", 8)], queues, LANES, NOON))
    assert positions(decided) == {"d": 1, "a": 1, "b": 2, "c": 2}
