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
    ]
}


def test_partitions_are_not_added_up() -> None:
    found = capacity_of(FACTS)
    assert found.cpus == Quantity.parse(32)
    assert found.memory == Quantity.parse("64000Mi")
    assert found.gpus == ("gpu/a100/0", "gpu/a100/1", "gpu/GPU/0")
    main, gpu = found.pools
    assert (main.name, main.nodes, main.free_cpus) == ("main", 4, Quantity.parse(20))
    assert main.free_memory == Quantity.parse("1000Mi")
    assert (gpu.gpus, gpu.free_gpus) == ({"a100": 2, "GPU": 1}, {"a100": 1})


def test_one_partition_may_be_meant() -> None:
    assert [pool.name for pool in capacity_of(FACTS, "gpu").pools] == ["gpu"]
    assert not capacity_of(FACTS, "old").pools
    assert capacity_of({}).cpus.is_zero
