from dataclasses import dataclass

import pytest

from trainway.agent.slurm.relay.cluster_facts import (
    facts,
    gpus,
    is_usable,
    mpi_plugins,
    partitions,
    whole,
)

PARTITIONS = """\
PartitionName=main AllowGroups=ALL Default=YES MaxTime=UNLIMITED State=UP TotalCPUs=16
PartitionName=big AllowGroups=ALL Default=NO MaxTime=1-00:00:00 State=DOWN TotalCPUs=8
"""
NODES = """\
NodeName=n0 Arch=x86_64 CPUAlloc=2 CPUTot=8 Gres=gpu:a100:2(S:0-1) GresDrain=N/A \
GresUsed=gpu:a100:1(IDX:0) OS=Linux 5.10 #1 SMP RealMemory=16000 AllocMem=4000 \
State=MIXED Partitions=main,big Reason=none State=DOWN
NodeName=n1 CPUAlloc=0 CPUTot=8 Gres=(null) RealMemory=16000 AllocMem=0 State=IDLE Partitions=main
NodeName=n2 CPUAlloc=0 CPUTot=8 Gres=(null) RealMemory=16000 AllocMem=0 State=DOWN* Partitions=main
"""


def test_partitions_with_what_is_free() -> None:
    main, big = partitions(PARTITIONS, NODES)
    assert (main["name"], main["default"], main["state"]) == ("main", True, "up")
    assert (main["nodes"], main["cpus"], main["free_cpus"]) == (2, 16, 14)
    assert (main["memory"], main["free_memory"]) == (32000, 28000)
    assert (main["gpus"], main["free_gpus"]) == ({"a100": 2}, {"a100": 1})
    assert main["largest"] == {"cpus": 8, "memory": 16000, "gpus": 2}
    assert (big["default"], big["state"], big["time_limit"]) == (False, "down", "1-00:00:00")
    assert big["nodes"] == 1


def test_a_node_of_two_partitions_counts_once() -> None:
    both = PARTITIONS.replace("State=DOWN", "State=UP")
    found = whole(partitions(both, NODES), NODES)
    assert (found["nodes"], found["cpus"], found["free_cpus"]) == (2, 16, 14)
    assert (found["gpus"], found["free_gpus"]) == ({"a100": 2}, {"a100": 1})
    assert whole([], NODES)["nodes"] == 0


@pytest.mark.parametrize(
    ("partition", "configuration", "found"),
    [
        ("DefMemPerCPU=100", "SelectTypeParameters = CR_CPU_MEMORY", {"DefMemPerCPU": 100}),
        ("DefMemPerNode=UNLIMITED", "SelectTypeParameters = CR_CPU_MEMORY", {}),
        (
            "DefMemPerNode=UNLIMITED",
            "DefMemPerNode = 500\nSelectTypeParameters = CR_CORE_MEMORY",
            {"DefMemPerNode": 500},
        ),
        ("DefMemPerCPU=100", "SelectTypeParameters = CR_CPU", {}),
    ],
)
def test_the_memory_of_who_asks_for_none(
    partition: str, configuration: str, found: dict[str, int]
) -> None:
    text = f"PartitionName=main TotalNodes=4 {partition}\n"
    (told,) = facts({"partitions": text, "config": configuration})["partitions"]
    assert (told["total_nodes"], told["default_memory"]) == (4, found)


@dataclass(frozen=True)
class Gres:
    text: str
    found: dict[str, int]


@pytest.mark.parametrize(
    "case",
    [
        Gres("(null)", {}),
        Gres("gpu:2", {"gpu": 2}),
        Gres("gpu:a100:4(S:0-1),shard:8", {"a100": 4}),
        Gres("gpu:a100:1(IDX:0,2),gpu:v100:2", {"a100": 1, "v100": 2}),
        Gres("gpu", {"gpu": 1}),
        Gres("gpu:0(IDX:N/A)", {"gpu": 0}),
    ],
)
def test_gpus_among_generic_resources(case: Gres) -> None:
    assert gpus(case.text) == case.found


@pytest.mark.parametrize("state", ["IDLE", "MIXED", "ALLOCATED+COMPLETING", "IDLE+PLANNED"])
def test_usable_nodes(state: str) -> None:
    assert is_usable(state)


@pytest.mark.parametrize(
    "state", ["DOWN", "IDLE+DRAIN", "MIXED*", "IDLE+NOT_RESPONDING", "UNKNOWN", ""]
)
def test_nodes_that_nothing_can_run_on(state: str) -> None:
    assert not is_usable(state)


@pytest.mark.parametrize(
    "text",
    [
        "MPI plugin types are...\n\tnone\n\tpmix\n\tpmi2\nspecific versions available: pmix_v4\n",
        "srun: MPI types are...\nsrun: none\nsrun: pmix\nsrun: pmi2\n",
    ],
)
def test_mpi_plugins(text: str) -> None:
    assert mpi_plugins(text) == ["none", "pmix", "pmi2"]


def test_facts_from_all_answers() -> None:
    config = (
        "ClusterName             = hpc\nSLURM_VERSION           = 22.05.8\n"
        "AccountingStorageType   = accounting_storage/slurmdbd\n"
    )
    found = facts({"config": config, "options": "  --container-image=[USER@]..."})
    assert (found["version"], found["cluster"]) == ("22.05.8", "hpc")
    assert (found["accounting"], found["pyxis"], found["partitions"]) == ("slurmdbd", True, [])
