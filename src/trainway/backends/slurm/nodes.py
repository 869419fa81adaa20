"""The nodes of a Slurm cluster, from what `scontrol show node` prints. Pure."""

import re
from collections.abc import Mapping
from typing import Final

from trainway.agent.slurm.relay.cluster_facts import gpus, is_usable, pairs
from trainway.backends.nodes import Gpu, Node
from trainway.jobset.quantity import Quantity

_REASON: Final = re.compile(r"\sReason=(.*?)(?:\s+\[[^\]]*\])?(?=\s+\w+=|$)")
_INDICES: Final = re.compile(r"\(IDX:([\d,-]+)\)")


def nodes_of(text: str, partition: str = "") -> list[Node]:
    """The nodes that are told one in a line; only those of a partition where one is named."""
    found = []
    for line in text.splitlines():
        node = pairs(line)
        partitions = [name for name in node.get("Partitions", "").split(",") if name]
        if "NodeName" in node and (not partition or partition in partitions):
            found.append(_node(node, line, ", ".join(partitions)))
    return sorted(found, key=lambda node: node.name)


def _node(node: Mapping[str, str], line: str, partitions: str) -> Node:
    state = node.get("State", "UNKNOWN")
    cpus, memory = _number(node, "CPUTot"), _number(node, "RealMemory")
    held, there = gpus(node.get("GresUsed", "")), gpus(node.get("Gres", ""))
    all_gpus, used = sum(there.values()), sum(held.values())
    return Node(
        node["NodeName"],
        state,
        "" if is_usable(state) else _problem(state, line),
        partitions,
        cpus=Quantity.parse(cpus),
        free_cpus=Quantity.parse(max(0, cpus - _number(node, "CPUAlloc"))),
        memory=_mebibytes(memory),
        free_memory=_mebibytes(max(0, memory - _number(node, "AllocMem"))),
        gpus=all_gpus,
        free_gpus=max(0, all_gpus - used),
        devices=_devices(all_gpus, used, node.get("GresUsed", "")),
    )


def _devices(count: int, used: int, text: str) -> tuple[Gpu, ...]:
    """Which GPUs are held; nothing where Slurm tells only how many."""
    held = {index for found in _INDICES.findall(text) for index in _indices(found)}
    if len(held) != used or any(index >= count for index in held):
        return ()
    return tuple(Gpu(str(index), index in held) for index in range(count))


def _indices(text: str) -> list[int]:
    """The numbers of a list such as `0,2-3`."""
    found: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        if first.isdigit():
            found += range(int(first), (int(last) if last.isdigit() else int(first)) + 1)
    return found


def _problem(state: str, line: str) -> str:
    reason = _REASON.search(line)
    return f"it is {state}: {reason.group(1)}" if reason and reason.group(1) else f"it is {state}"


def _number(node: Mapping[str, str], name: str) -> int:
    value = node.get(name, "")
    return int(value) if value.isdigit() else 0


def _mebibytes(number: int) -> Quantity:
    return Quantity.parse(f"{number}Mi")
