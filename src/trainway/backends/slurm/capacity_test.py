from trainway.backends.base import free_of
from trainway.backends.slurm.capacity import capacity_of
from trainway.jobset.quantity import Quantity

FACTS = {
    "partitions": [
        {
            "name": "main",
            "state": "up",
            "nodes": 4,
            "cpus": 32,
            "free_cpus": 20,
            "memory": 64_000,
            "free_memory": 1_000,
        },
        {
            "name": "gpu",
            "state": "up",
            "nodes": 2,
            "cpus": 16,
            "gpus": {"a100": 2, "gpu": 1},
            "free_gpus": {"a100": 1},
        },
        {"name": "old", "state": "down", "nodes": 9, "cpus": 99},
    ],
    "whole": {
        "nodes": 5,
        "cpus": 40,
        "free_cpus": 21,
        "memory": 80_000,
        "gpus": {"a100": 2, "gpu": 1},
        "free_gpus": {"a100": 1},
    },
}


def test_partitions_are_not_added_up() -> None:
    found = capacity_of(FACTS)
    assert found.cpus == Quantity.parse(40)
    assert found.memory == Quantity.parse("80000Mi")
    assert found.gpus == ("a100/0", "a100/1", "GPU/0")
    free = free_of(found)
    assert (free.cpus, len(free.gpus)) == (Quantity.parse(21), 1)
    main, gpu = found.pools
    assert (main.name, main.nodes, main.free_cpus) == ("main", 4, Quantity.parse(20))
    assert main.free_memory == Quantity.parse("1000Mi")
    assert (gpu.gpus, gpu.free_gpus) == ({"a100": 2, "GPU": 1}, {"a100": 1})


def test_one_partition_may_be_meant() -> None:
    found = capacity_of(FACTS, "gpu")
    assert [pool.name for pool in found.pools] == ["gpu"]
    assert found.cpus == Quantity.parse(16)
    assert not capacity_of(FACTS, "old").pools
    assert capacity_of({}).cpus.is_zero
