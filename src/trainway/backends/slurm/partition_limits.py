"""What a job's partition means for it: its nodes, and the memory of who asks for none. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainway.agent.pool.placement import PACKING
from trainway.backends.slurm import options
from trainway.backends.slurm.layout import Layout
from trainway.backends.slurm.options import Options
from trainway.counting import counted
from trainway.json_types import Json

_PER_CPU: Final = "DefMemPerCPU"


def partition_of(facts: Mapping[str, Any], said: Options) -> Json | None:
    """The partition that a job will be in; None: it is not known, or there are several."""
    found: list[Json] = list(facts.get("partitions") or ())
    name = said.get("partition")
    if name is None:
        return next((told for told in found if told.get("default")), None)
    return next((told for told in found if told["name"] == name), None)


def too_many_nodes(layout: Layout, partition: Mapping[str, Any], said: Options) -> Iterator[str]:
    """Why there can never be so many nodes."""
    there = int(partition.get("total_nodes") or 0)
    if not layout.one_per_node or not there or said.keys() & set(options.NODES):
        return
    wanted = sum(part.tasks for part in layout.parts)
    if wanted > there:
        has = f"partition {partition['name']} has {counted(there, 'node')}"
        yield f"it asks for {wanted} nodes, and {has}; {PACKING}"


def memory_given(layout: Layout, partition: Mapping[str, Any], said: Options) -> Iterator[str]:
    """What roles get that ask for no memory, where Slurm gives them less than a whole node."""
    if said.keys() & set(options.MEMORY):
        return
    for word, size in (partition.get("default_memory") or {}).items():
        for step in layout.steps:
            if step.shape.memory or step.sits_beside:
                continue
            gets = _memory(step.shape.cpus, word, size)
            yield (
                f"role {step.role}: it asks for no memory, and gets {gets} ({word} of partition "
                f"{partition['name']}); --memory asks for more"
            )


def _memory(cpus: int, word: str, size: int) -> str:
    if word != _PER_CPU:
        return f"{size} MiB on each node"
    count = cpus or 1
    return f"{size * count} MiB with its {counted(count, 'CPU')}"
