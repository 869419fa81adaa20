from trainway.agent.pool.placement import PACKING
from trainway.backends.slurm.layout import layout_of
from trainway.backends.slurm.partition_limits import memory_given, partition_of, too_many_nodes
from trainway.backends.slurm.testing import jobset, role
from trainway.json_types import Json

SMALL: Json = {"name": "small", "total_nodes": 2, "default_memory": {"DefMemPerCPU": 100}}
MAIN: Json = {"name": "main", "default": True, "total_nodes": 4, "default_memory": {}}
FACTS = {"partitions": [SMALL, MAIN]}


def test_the_partition_of_a_job() -> None:
    assert partition_of(FACTS, {}) == MAIN
    assert partition_of(FACTS, {"partition": "small"}) == SMALL
    assert partition_of(FACTS, {"partition": "small,main"}) is None
    assert partition_of({}, {}) is None


def test_more_nodes_than_there_are_can_never_be_had() -> None:
    layout = layout_of(jobset(role("node", pods=3)), one_per_node=True)
    assert list(too_many_nodes(layout, MAIN, {})) == []
    assert list(too_many_nodes(layout, SMALL, {})) == [
        f"it asks for 3 nodes, and partition small has 2 nodes; {PACKING}"
    ]
    assert list(too_many_nodes(layout, SMALL, {"nodes": "1"})) == []
    packed = layout_of(jobset(role("node", pods=3)), one_per_node=False)
    assert list(too_many_nodes(packed, SMALL, {})) == []


def test_who_asks_for_no_memory_is_told_what_there_will_be() -> None:
    layout = layout_of(jobset(role("a", cpu=2), role("b", memory="1Gi")), one_per_node=True)
    (said,) = memory_given(layout, SMALL, {})
    assert said == (
        "role a: it asks for no memory, and gets 200 MiB with its 2 CPUs (DefMemPerCPU of "
        "partition small); --memory asks for more"
    )
    assert list(memory_given(layout, SMALL, {"mem": "1G"})) == []
    assert list(memory_given(layout, MAIN, {})) == []
    by_node = {**MAIN, "default_memory": {"DefMemPerNode": 2000}}
    (said,) = memory_given(layout, by_node, {})
    assert "gets 2000 MiB on each node (DefMemPerNode of partition main)" in said
