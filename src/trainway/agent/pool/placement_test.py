from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainway.agent.pool.placement import (
    PACKING,
    WHOLE,
    Amount,
    Placement,
    Room,
    place,
    place_anyway,
    shortage,
    thousandths,
)
from trainway.json_types import Json

GIB = 2**30


def apart(count: int, **amounts: Any) -> list[Json]:
    return [{**item, "apart": "node"} for item in pods(count, **amounts)]


def pods(count: int, role: str = "node", **amounts: float) -> list[Json]:
    return [{"pod": f"{role}-0-{index}", **amounts} for index in range(count)]


def room(name: str, cpus: float = 4, memory: int = 8 * GIB, gpus: str = "") -> Room:
    devices = dict.fromkeys(gpus, WHOLE)
    return Room(name, thousandths(cpus), memory, devices)


@dataclass(frozen=True)
class Case:
    name: str
    demand: list[Json]
    rooms: list[Room]
    hosts: list[str] | None
    devices: dict[str, list[str]] = field(default_factory=dict)


CASES = [
    Case(
        "spread evenly, neighbours together",
        pods(4, cpus=1),
        [room("a"), room("b")],
        ["a", "a", "b", "b"],
    ),
    Case("one each", pods(3, cpus=1), [room("a"), room("b"), room("c")], ["a", "b", "c"]),
    Case(
        "nothing requested is spread", pods(2), [room("a", cpus=0), room("b", cpus=0)], ["a", "b"]
    ),
    Case(
        "the fuller host gets fewer", pods(3, cpus=2), [room("a", cpus=2), room("b")], list("abb")
    ),
    Case("all or nothing", pods(5, cpus=2), [room("a"), room("b")], None),
    Case("no hosts", pods(1), [], None),
    Case("nodes never share a host", apart(2), [room("a"), room("b", cpus=0)], ["a", "b"]),
    Case("nor where that would fit", apart(3, cpus=1), [room("a"), room("b")], None),
    Case(
        "nor on the one that has room",
        apart(2, cpus=2),
        [room("a", cpus=4), room("b", cpus=1), room("c", cpus=2)],
        ["a", "c"],
    ),
    Case(
        "others may be there too",
        [*pods(1, role="launcher"), *apart(2, cpus=4)],
        [room("a"), room("b")],
        ["a", "a", "b"],
    ),
    Case("memory counts", pods(2, memory=5 * GIB), [room("a"), room("b")], ["a", "b"]),
    Case("memory is short", pods(3, memory=5 * GIB), [room("a"), room("b")], None),
    Case("not counted is endless", pods(2, cpus=900), [Room("a")], ["a", "a"]),
    Case(
        "two halves share a device",
        pods(2, gpus=0.5),
        [room("a", gpus="01")],
        ["a", "a"],
        {"node-0-0": ["0"], "node-0-1": ["0"]},
    ),
    Case(
        "a half does not fit beside two thirds",
        pods(2, gpus=0.6),
        [room("a", gpus="01")],
        ["a", "a"],
        {"node-0-0": ["0"], "node-0-1": ["1"]},
    ),
    Case(
        "whole devices",
        pods(2, gpus=2),
        [room("a", gpus="012"), room("b", gpus="01")],
        ["a", "b"],
        {"node-0-0": ["0", "1"], "node-0-1": ["0", "1"]},
    ),
    Case("one and a half are two", pods(1, gpus=1.5), [room("a", gpus="0")], None),
    Case(
        "the large one first where order fails",
        [*pods(2, "small", cpus=2), *pods(1, "large", cpus=4)],
        [room("a"), room("b")],
        ["b", "b", "a"],
    ),
    Case(
        "halves of a gang do not open a second device",
        [*pods(1, "one", gpus=0.5), *pods(1, "two", gpus=0.5)],
        [room("a", gpus="0")],
        ["a", "a"],
        {"one-0-0": ["0"], "two-0-0": ["0"]},
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_place(case: Case) -> None:
    placement = place(case.demand, case.rooms)
    if case.hosts is None:
        assert placement is None
        return
    assert placement is not None
    assert [placement.hosts[item["pod"]] for item in case.demand] == case.hosts
    assert {pod: placement.names(pod) for pod in placement.devices} == case.devices


def test_a_fraction_prefers_the_host_whose_device_is_open() -> None:
    rooms = [room("a", gpus="0"), room("b", gpus="0")]
    rooms[1].change(Amount("other", gpus=500), ["0"], -1)
    placement = place(pods(1, gpus=0.5), rooms)
    assert placement is not None
    assert placement.hosts == {"node-0-0": "b"}


def test_packed() -> None:
    placement = place(pods(2, cpus=1), [room("a"), room("b")], packed=True)
    assert placement is not None
    assert set(placement.hosts.values()) == {"a"}


def test_jobs_of_one_pod_go_round() -> None:
    rooms = [room("a"), room("b"), room("c")]
    went = []
    for _ in range(4):
        placement = place(pods(1), rooms)
        assert placement is not None
        went.append(placement.hosts["node-0-0"])
        next(item for item in rooms if item.name == went[-1]).change(Amount("x"), [], -1)
    assert went == ["a", "b", "c", "a"]


def test_more_than_there_is_by_wish() -> None:
    rooms = [room("a", cpus=1, gpus="01"), room("b", cpus=1)]
    placement = place_anyway(pods(2, cpus=64, gpus=4), rooms)
    assert placement is not None
    assert placement.hosts == {"node-0-0": "a", "node-0-1": "b"}
    assert placement.devices == {"node-0-0": {"gpus": ["0", "1"]}}
    assert place_anyway(pods(1), []) is None


@dataclass(frozen=True)
class Short:
    demand: list[Json]
    text: str
    empty: bool = True


@pytest.mark.parametrize(
    "case",
    [
        Short(pods(3, cpus=4), "it needs 12 CPUs, and there are 8"),
        Short(pods(3, cpus=4), "it needs 12 CPUs, with only 8 free", empty=False),
        Short(pods(2, memory=9 * GIB), "it needs 18 GiB of memory, and there are 16 GiB"),
        Short(pods(1, gpus=2), "it needs 2 GPUs, and there is 1"),
        Short(pods(1, cpus=9, gpus=2), "it needs 9 CPUs, and there are 8; 2 GPUs, and there is 1"),
        Short(pods(1, cpus=6), "its pod of 6 CPUs does not fit on these hosts"),
    ],
    ids=lambda case: case.text,
)
def test_shortage_has_the_numbers(case: Short) -> None:
    assert shortage(case.demand, [room("a", gpus="0"), room("b")], empty=case.empty) == case.text


def test_json() -> None:
    placement = Placement({"node-0-0": "a"}, {"node-0-0": {"gpus": ["1"]}})
    again = Placement.from_json(placement.to_json())
    assert (again.hosts, again.devices) == (placement.hosts, placement.devices)


amounts = st.fixed_dictionaries(
    {
        "cpus": st.sampled_from([0, 0.1, 0.5, 1, 2, 3.7]),
        "memory": st.sampled_from([0, GIB, 3 * GIB]),
        "gpus": st.sampled_from([0, 0, 0.25, 0.5, 0.75, 1, 1.5, 2]),
    }
)
rooms = st.lists(
    st.tuples(st.sampled_from([0, 1, 2.5, 8]), st.sampled_from([0, 4 * GIB]), st.integers(0, 3)),
    min_size=1,
    max_size=4,
)


@given(st.lists(amounts, min_size=1, max_size=8), rooms, st.booleans())
def test_never_more_than_there_is_and_always_the_same(
    asked: list[Json], there: list[tuple[float, int, int]], packed: bool
) -> None:
    demand = [{"pod": f"node-0-{index}", **item} for index, item in enumerate(asked)]
    hosts = [
        room(f"h{index}", cpus, memory, "0123"[:gpus])
        for index, (cpus, memory, gpus) in enumerate(there)
    ]
    placement = place(demand, hosts, packed=packed)
    if placement is None:
        return
    again = place(demand, hosts, packed=packed)
    assert again is not None
    assert again.to_json() == placement.to_json()
    assert set(placement.hosts) == {item["pod"] for item in demand}
    left = {item.name: item.copy() for item in hosts}
    for item in demand:
        amount = Amount.read(item)
        devices = placement.names(amount.pod)
        expected = 0 if not amount.gpus else max(1, amount.gpus // WHOLE)
        assert len(set(devices)) == len(devices) == expected
        left[placement.hosts[amount.pod]].change(amount, devices, -1)
    for rest in left.values():
        assert rest.cpus is not None
        assert rest.memory is not None
        assert min(rest.cpus, rest.memory, *rest.gpus.values(), 0) == 0


@given(st.integers(1, 12), st.integers(1, 5))
def test_equal_pods_on_equal_hosts_differ_by_one_at_most(count: int, hosts: int) -> None:
    placement = place(pods(count), [room(f"h{index}") for index in range(hosts)])
    assert placement is not None
    numbers = [list(placement.hosts.values()).count(f"h{index}") for index in range(hosts)]
    assert max(numbers) - min(numbers) <= 1


@pytest.mark.parametrize(
    ("demand", "rooms", "why"),
    [
        (
            apart(9),
            [room("a"), room("b")],
            f"it asks for 9 nodes, and there are 2; {PACKING}",
        ),
        (
            apart(2, gpus=1),
            [room("a", gpus="01"), room("b")],
            f"it asks for 2 nodes with 1 GPU each, and 1 of 2 has that much; {PACKING}",
        ),
        (apart(3, cpus=4), [room("a"), room("b")], "it asks for 3 nodes, and there are 2"),
    ],
)
def test_too_few_hosts_are_told_with_what_would_help(
    demand: list[Json], rooms: list[Room], why: str
) -> None:
    assert place(demand, rooms) is None
    assert shortage(demand, rooms, empty=True) == why
    found = place_anyway(demand, rooms)
    assert found is not None
    assert len(found.hosts) == len(demand)
