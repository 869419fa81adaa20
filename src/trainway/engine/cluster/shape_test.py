from dataclasses import dataclass
from typing import Any

import pytest

from trainway.backends.host_amounts import HostAmounts
from trainway.engine.cluster.name import check_name, generated_name
from trainway.engine.cluster.shape import Shape, never_fits, read
from trainway.errors import InvalidError, UsageError
from trainway.jobset.quantity import ZERO, Quantity

GIB = 2**30


@dataclass(frozen=True)
class Read:
    resources: dict[str, Any]
    cpus: str = "1"
    memory: str = "0"
    gpus: float = 0
    accelerators: str = ""


@pytest.mark.parametrize(
    "case",
    [
        Read({}),
        Read({"cpus": "4+", "memory": "16+"}, "4", "16Gi"),
        Read({"cpus": 0.5, "memory": "512MB"}, "500m", "512Mi"),
        Read({"cpus": 2, "memory": "4x"}, "2", "8Gi"),
        Read({"accelerators": "A100:8"}, gpus=8, accelerators="A100:8"),
        Read({"accelerators": {"H100": 0.5}}, gpus=0.5, accelerators="H100:0.5"),
        Read({"gpus": "T4"}, gpus=1, accelerators="T4:1"),
        Read({"any_of": [{"cpus": 3}, {"cpus": 9}]}, "3"),
    ],
)
def test_resources_of_a_task_are_what_a_node_has(case: Read) -> None:
    shape = read(2, case.resources).shape
    assert shape.to_dict() == {
        "cpus": case.cpus,
        "memory": case.memory,
        "gpus": case.gpus,
        "accelerators": case.accelerators,
    }
    assert Shape.from_dict(2, shape.to_dict()) == shape


def test_what_is_wrong_with_resources_is_told() -> None:
    with pytest.raises(InvalidError, match=r"resources\.cpus"):
        read(1, {"cpus": "many"})


@pytest.mark.parametrize(
    ("nodes", "gpus", "slots"),
    [
        (1, 0, {}),
        (2, 1, {"node-0": [0], "node-1": [1]}),
        (2, 2, {"node-0": [0, 1], "node-1": [2, 3]}),
        (3, 0.5, {"node-0": [0], "node-1": [0], "node-2": [1]}),
    ],
)
def test_halves_of_a_device_are_on_the_same_one(
    nodes: int, gpus: float, slots: dict[str, list[int]]
) -> None:
    demand = Shape(nodes, Quantity.parse(2), ZERO, gpus).demand()
    assert demand.slots == slots
    assert demand.cpus == Quantity.parse(2 * nodes)
    assert demand.gpus == len({number for numbers in slots.values() for number in numbers})


@dataclass(frozen=True)
class Fit:
    shape: Shape
    why: str = ""


HOSTS = [HostAmounts("a", 4, 8 * GIB, 2), HostAmounts("b", 2, 8 * GIB, 0)]


@pytest.mark.parametrize(
    "case",
    [
        Fit(Shape(2, Quantity.parse(2))),
        Fit(
            Shape(3, Quantity.parse(1)),
            "it needs 3 nodes of 1 CPU, and 2 fit: "
            "a has 4 CPUs, 8 GiB of memory, 2 GPUs; b has 2 CPUs, 8 GiB of memory",
        ),
        Fit(Shape(1, Quantity.parse(5)), "it needs 1 node of 5 CPUs, and none fits"),
        Fit(Shape(2, Quantity.parse(1), Quantity.parse("8Gi"))),
        Fit(Shape(1, Quantity.parse(1), Quantity.parse("9Gi")), "9 GiB of memory, and none fits"),
        Fit(Shape(1, Quantity.parse("500m"), ZERO, 0.5)),
        Fit(Shape(2, Quantity.parse("500m"), ZERO, 0.5), "and 1 fits"),
        Fit(Shape(2, Quantity.parse(1), ZERO, 2), "and 1 fits"),
    ],
)
def test_what_hosts_could_never_give_is_told_with_the_numbers(case: Fit) -> None:
    found = never_fits(case.shape, HOSTS)
    assert case.why in found
    assert bool(found) == bool(case.why)


@pytest.mark.parametrize("name", ["a", "my-cluster_1.x", "A9", "a" * 63])
def test_names_that_clusters_may_have(name: str) -> None:
    assert check_name(name) == name


@pytest.mark.parametrize("name", ["", "1a", "a-", "-a", "a b", "a/b", "..", "ä", "a\n", "a" * 64])
def test_names_that_they_may_not_have(name: str) -> None:
    with pytest.raises(UsageError, match="cannot be called"):
        check_name(name)


def test_a_name_that_is_made_up_is_a_new_one() -> None:
    taken = {generated_name(()) for _ in range(50)}
    assert generated_name(taken) not in taken
    assert all(check_name(name) for name in taken)
