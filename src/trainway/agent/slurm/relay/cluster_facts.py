"""What a cluster is like, from what scontrol and srun print. Pure.

Nodes of several partitions count in each of them, and once in the whole.
"""

from __future__ import annotations

import re

from trainway.agent.slurm.relay import accounting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from trainway.agent.slurm.relay.relay_frames import SlurmFacts
    from trainway.json_types import Json


NODES = ["scontrol", "--oneliner", "--details", "show", "node"]
PARTITIONS = ["scontrol", "--oneliner", "show", "partition"]
MPI = ["srun", "--mpi=list"]
OPTIONS = ["srun", "--help"]
QUESTIONS = {
    "config": accounting.CONFIGURATION,
    "nodes": NODES,
    "partitions": PARTITIONS,
    "mpi": MPI,
    "options": OPTIONS,
}
USABLE = ("IDLE", "MIXED", "ALLOCATED", "COMPLETING", "PLANNED")
UNUSABLE = ("DOWN", "DRAIN", "NOT_RESPONDING", "FAIL", "INVALID", "POWERED_DOWN", "FUTURE")
DEFAULT_MEMORY = ("DefMemPerCPU", "DefMemPerNode")
_PAIR = re.compile(r"(\S+?)=(\S*)")
_GPU = re.compile(r"gpu(?::([A-Za-z_][\w.-]*))?(?::(\d+))?(?:\([^)]*\))?$")
_VERSION = re.compile(r"(\d+\.\d+(\.\d+)?)")


def facts(answers: Mapping[str, str]) -> SlurmFacts:
    """All that is known, from the answers to `QUESTIONS`."""
    configuration = accounting.settings(answers.get("config", ""))
    version = _VERSION.search(configuration.get("SLURM_VERSION", ""))
    nodes = answers.get("nodes", "")
    found = partitions(answers.get("partitions", ""), nodes)
    for partition in found:
        partition["default_memory"] = default_memory(partition["default_memory"], configuration)
    return {
        "version": version.group(1) if version else "",
        "cluster": configuration.get("ClusterName", ""),
        "accounting": accounting.kind_of(configuration),
        "partitions": found,
        "whole": whole(found, nodes),
        "mpi": mpi_plugins(answers.get("mpi", "")),
        "pyxis": "--container-image" in answers.get("options", ""),
    }


def partitions(text: str, nodes: str) -> list[Json]:
    """What each partition has, and what of it is free."""
    found = [_partition(pairs(line)) for line in text.splitlines() if "PartitionName=" in line]
    by_name = {partition["name"]: partition for partition in found}
    for line in nodes.splitlines():
        node = pairs(line)
        for name in node.get("Partitions", "").split(","):
            if name in by_name and is_usable(node.get("State", "")):
                _add(by_name[name], node)
    return found


def whole(found: Iterable[Json], nodes: str) -> Json:
    """What all partitions have that are up, and what of it is free; each node counts once."""
    up = {partition["name"] for partition in found if partition["state"] == "up"}
    total = _partition({})
    for node in map(pairs, nodes.splitlines()):
        if is_usable(node.get("State", "")) and up & set(node.get("Partitions", "").split(",")):
            _add(total, node)
    return total


def default_memory(partition: Mapping[str, str], configuration: Mapping[str, str]) -> Json:
    """The MiB that a job gets which asks for no memory, by Slurm's word for them; empty: all."""
    if "MEMORY" not in configuration.get("SelectTypeParameters", "").upper():
        return {}  # Slurm does not count memory
    for said in (partition, configuration):
        for name in DEFAULT_MEMORY:
            if said.get(name, "").isdigit() and int(said[name]):
                return {name: int(said[name])}
    return {}


def is_usable(state: str) -> bool:
    """Whether jobs can run on a node."""
    words = state.replace("*", "+NOT_RESPONDING").split("+")
    return words[0] in USABLE and not any(word.startswith(UNUSABLE) for word in words)


def _partition(pairs: Mapping[str, str]) -> Json:
    return {
        "name": pairs.get("PartitionName", ""),
        "default": pairs.get("Default") == "YES",
        "state": pairs.get("State", "").lower(),
        "time_limit": pairs.get("MaxTime", "").lower(),
        "total_nodes": _number(pairs, "TotalNodes"),
        "default_memory": {name: pairs[name] for name in DEFAULT_MEMORY if name in pairs},
        "nodes": 0,
        "cpus": 0,
        "free_cpus": 0,
        "memory": 0,
        "free_memory": 0,
        "gpus": {},
        "free_gpus": {},
        "largest": {"cpus": 0, "memory": 0, "gpus": 0},
    }


def _add(partition: Json, node: Mapping[str, str]) -> None:
    cpus, memory = _number(node, "CPUTot"), _number(node, "RealMemory")
    there, used = gpus(node.get("Gres", "")), gpus(node.get("GresUsed", ""))
    partition["nodes"] += 1
    partition["cpus"] += cpus
    partition["free_cpus"] += max(0, cpus - _number(node, "CPUAlloc"))
    partition["memory"] += memory
    partition["free_memory"] += max(0, memory - _number(node, "AllocMem"))
    for name, count in there.items():
        partition["gpus"][name] = partition["gpus"].get(name, 0) + count
        free = max(0, count - used.get(name, 0))
        partition["free_gpus"][name] = partition["free_gpus"].get(name, 0) + free
    sizes = {"cpus": cpus, "memory": memory, "gpus": sum(there.values())}
    largest = partition["largest"]
    partition["largest"] = {name: max(size, largest[name]) for name, size in sizes.items()}


def gpus(text: str) -> dict[str, int]:
    """The GPUs in a list of generic resources, by their type; `gpu` where they have none."""
    found: dict[str, int] = {}
    for item in re.split(r",(?![^(]*\))", text):
        gpu = _GPU.match(item.strip())
        if gpu is not None:
            name = gpu.group(1) or "gpu"
            found[name] = found.get(name, 0) + int(gpu.group(2) or 1)
    return found


def mpi_plugins(text: str) -> list[str]:
    """The names that `srun --mpi` takes; later versions put a list of versions behind them."""
    names = [line.replace("srun:", "", 1).strip() for line in text.splitlines()]
    return [name for name in names if re.fullmatch(r"[\w./-]+", name)]


def pairs(line: str) -> dict[str, str]:
    """The first value of each name: what free text says later does not count."""
    pairs: dict[str, str] = {}
    for name, value in _PAIR.findall(line):
        pairs.setdefault(name, value)
    return pairs


def _number(pairs: Mapping[str, str], name: str) -> int:
    value = pairs.get(name, "")
    return int(value) if value.isdigit() else 0
