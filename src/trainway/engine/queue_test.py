from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainway.backends.base import Capacity
from trainway.backends.demand import Demand
from trainway.engine.queue import (
    Holding,
    QueuedGang,
    Waiting,
    assigned,
    decide,
    names_of,
    never_fits,
    unheld,
)
from trainway.jobset.quantity import Quantity

MACHINE = Capacity(Quantity.parse("4"), Quantity.parse("8Gi"), ("0", "1"))


def demand(cpus: str = "0", memory: str = "0", gpus: int = 0) -> Demand:
    slots = {f"node-0-{pod}": [pod] for pod in range(gpus)}
    return Demand(Quantity.parse(cpus), Quantity.parse(memory), gpus, slots)


@dataclass(frozen=True)
class Case:
    name: str
    waiting: list[QueuedGang]
    start: list[str]
    waits: dict[str, str] = field(default_factory=dict)
    inadmissible: dict[str, str] = field(default_factory=dict)
    holdings: list[Holding] = field(default_factory=list)


CASES = [
    Case("nobody waits", [], []),
    Case("all of a gang fits", [QueuedGang("a", demand("4", "8Gi", 2))], ["a"]),
    Case(
        "first come, first served",
        [QueuedGang("b", demand("3")), QueuedGang("a", demand("2"))],
        ["a"],
        {"b": "needs 3 CPUs, 2 free"},
    ),
    Case(
        "priority goes first",
        [QueuedGang("a", demand("3")), QueuedGang("b", demand("3"), priority=1)],
        ["b"],
        {"a": "needs 3 CPUs, 1 free"},
    ),
    Case(
        "the head holds back those behind it, though they would fit",
        [QueuedGang("a", demand("4")), QueuedGang("b", demand("1"))],
        [],
        {"a": "needs 4 CPUs, 2 free", "b": "waits for its turn"},
        holdings=[Holding(demand("2"))],
    ),
    Case(
        "who asks for nothing waits for nobody",
        [QueuedGang("a", demand("4")), QueuedGang("b", demand())],
        ["b"],
        {"a": "needs 4 CPUs, 2 free"},
        holdings=[Holding(demand("2"))],
    ),
    Case(
        "every shortage is named",
        [QueuedGang("a", demand("3", "8Gi", 2))],
        [],
        {"a": "needs 3 CPUs, 2 free; 8Gi memory, 7Gi free; 2 GPUs, 1 free"},
        holdings=[Holding(demand("2", "1Gi"), {"x": {"gpus": ["1"]}})],
    ),
    Case(
        "what can never fit does not block the others",
        [QueuedGang("a", demand("5")), QueuedGang("b", demand("4"))],
        ["b"],
        inadmissible={"a": "5 CPUs, and there are 4"},
    ),
    Case(
        "one that oversubscribes starts anyway",
        [QueuedGang("a", demand("100", gpus=3), oversubscribe=True)],
        ["a"],
    ),
    Case(
        "others wait for one that oversubscribed, unless they need nothing of what is short",
        [QueuedGang("a", demand("1")), QueuedGang("b", demand(memory="1Gi"))],
        [],
        {"a": "needs 1 CPU, 0 free", "b": "waits for its turn"},
        holdings=[Holding(demand("100"))],
    ),
    Case(
        "nothing wanted of what is short is no shortage",
        [QueuedGang("a", demand(memory="1Gi"))],
        ["a"],
        holdings=[Holding(demand("100"))],
    ),
    Case(
        "a resumed gang needs its own devices back",
        [QueuedGang("a", demand(gpus=1), pinned={"node-0-0": {"gpus": ["1"]}})],
        [],
        {"a": "needs GPU 1, in use"},
        holdings=[Holding(demand(gpus=1), {"x": {"gpus": ["1"]}})],
    ),
    Case(
        "who holds what is short is named, and how it is freed",
        [QueuedGang("a", demand("3", gpus=2), name="mine"), QueuedGang("b", demand("1"))],
        [],
        {
            "a": "needs 3 CPUs, 2 free; 2 GPUs, 1 free; "
            "gpu holds 1 CPU, GPU 1 (to free that: end gpu); "
            "cpu holds 1 CPU (to free that: end cpu)",
            "b": "waits for its turn, after mine",
        },
        holdings=[
            Holding(demand("1", "1Gi"), holder="cpu", release="end cpu"),
            Holding(demand("1", gpus=1), {"x": {"gpus": ["1"]}}, "gpu", "end gpu"),
            Holding(demand(memory="1Gi"), holder="other", release="end other"),
        ],
    ),
    Case(
        "of many who hold it those are named who hold most",
        [QueuedGang("a", demand("4"))],
        [],
        {
            "a": "needs 4 CPUs, 0 free; d holds 1300m CPUs (to free that: x); "
            "c holds 1 CPU (to free that: x); b holds 900m CPUs (to free that: x); "
            "and 1 more",
        },
        holdings=[
            Holding(demand(cpus), holder=name, release="x")
            for name, cpus in (("a", "800m"), ("b", "900m"), ("c", "1"), ("d", "1300m"))
        ],
    ),
    Case(
        "one that has started in this round holds what it got",
        [
            QueuedGang("a", demand("3"), name="first", release="end it"),
            QueuedGang("b", demand("2")),
        ],
        ["a"],
        {"b": "needs 2 CPUs, 1 free; first holds 3 CPUs (to free that: end it)"},
    ),
    Case(
        "what is only promised waits for nobody and takes nothing",
        [
            QueuedGang("a", demand("4")),
            QueuedGang("b", demand("4"), is_promise=True),
            QueuedGang("c", demand("4")),
        ],
        ["b"],
        {"a": "needs 4 CPUs, 2 free", "c": "waits for its turn"},
        holdings=[Holding(demand("2"))],
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_decisions(case: Case) -> None:
    decision = decide(case.waiting, case.holdings, MACHINE)
    assert list(decision.start) == case.start
    assert decision.waiting == case.waits
    assert decision.inadmissible == case.inadmissible


def test_gpus_are_given_to_one_pod_each() -> None:
    gangs = [QueuedGang("a", demand(gpus=1)), QueuedGang("b", demand(gpus=1))]
    decision = decide(gangs, [], MACHINE)
    assert decision.start == {
        "a": {"node-0-0": {"gpus": ["0"]}},
        "b": {"node-0-0": {"gpus": ["1"]}},
    }


def test_one_that_oversubscribes_shares_the_gpus_that_there_are() -> None:
    decision = decide([QueuedGang("a", demand(gpus=3), oversubscribe=True)], [], MACHINE)
    given_out = [kinds["gpus"] for kinds in decision.start["a"].values()]
    assert given_out == [["0"], ["1"], ["0"]]


def test_gpus_that_are_promised_go_last() -> None:
    gangs = [QueuedGang("a", demand(gpus=1), is_promise=True), QueuedGang("b", demand(gpus=1))]
    decision = decide(gangs, [], MACHINE)
    assert decision.start["a"] == {"node-0-0": {"gpus": ["0"]}}
    assert decision.start["b"] == {"node-0-0": {"gpus": ["1"]}}
    alone = decide([QueuedGang("c", demand(gpus=1))], [], MACHINE, promised={"0"})
    assert alone.start["c"] == {"node-0-0": {"gpus": ["1"]}}


def test_what_is_promised_may_be_in_use_now() -> None:
    held = [Holding(demand(gpus=1), {"x": {"gpus": ["0"]}})]
    decision = decide([QueuedGang("a", demand(gpus=2), is_promise=True)], held, MACHINE)
    given_out = [kinds["gpus"] for kinds in decision.start["a"].values()]
    assert given_out == [["1"], ["0"]]


def test_a_resumed_gang_keeps_its_devices() -> None:
    pinned = {"node-0-0": {"gpus": ["1"]}}
    decision = decide([QueuedGang("a", demand(gpus=1), pinned=pinned)], [], MACHINE)
    assert decision.start == {"a": pinned}


def test_without_gpus_nothing_is_assigned() -> None:
    assert assigned(demand(gpus=2), ()) == {}


def test_never_fits_gives_all_numbers() -> None:
    assert never_fits(demand("5", "9Gi", 3), MACHINE) == (
        "5 CPUs, and there are 4; 9Gi memory, and there are 8Gi; 3 GPUs, and there are 2"
    )
    assert never_fits(demand("4", "8Gi", 2), MACHINE) == ""


def test_what_is_left_is_never_less_than_nothing() -> None:
    left = unheld(MACHINE, [Holding(demand("6"), {"x": {"gpus": ["0"]}})])
    assert (str(left.cpus), str(left.memory), left.gpus) == ("0", "8Gi", ("1",))


def test_positions() -> None:
    waiting = Waiting()
    waiting.put({"b": 1, "a": 2})
    assert [waiting.position(job) for job in ("b", "a", "c")] == [1, 2, None]
    waiting.clear()
    assert waiting.position("b") is None


GANGS = st.lists(
    st.builds(
        lambda number, cpus, gpus, priority: QueuedGang(
            f"{number:03}", demand(str(cpus), gpus=gpus), priority
        ),
        st.integers(0, 999),
        st.integers(0, 4),
        st.integers(0, 2),
        st.integers(-1, 1),
    ),
    unique_by=lambda gang: gang.id,
    max_size=12,
)


@given(GANGS)
def test_what_starts_fits_and_no_gpu_is_given_twice(gangs: list[QueuedGang]) -> None:
    decision = decide(gangs, [], MACHINE)
    started = [gang for gang in gangs if gang.id in decision.start]
    assert sum((gang.demand.cpus for gang in started), start=Quantity()) <= MACHINE.cpus
    given_out = [sorted(names_of(devices)) for devices in decision.start.values()]
    everything = [name for names in given_out for name in names]
    assert len(everything) == len(set(everything)) == sum(gang.demand.gpus for gang in started)
    assert {*decision.start, *decision.waiting} == {gang.id for gang in gangs}


@given(GANGS)
def test_nobody_overtakes(gangs: list[QueuedGang]) -> None:
    decision = decide(gangs, [], MACHINE)
    order = sorted(gangs, key=lambda gang: (-gang.priority, gang.id))
    costly = [gang for gang in order if not gang.demand.is_empty]
    fates = [gang.id in decision.start for gang in costly]
    assert fates == sorted(fates, reverse=True)
