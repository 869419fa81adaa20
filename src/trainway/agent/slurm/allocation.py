"""What Slurm gave a job: nodes, and how many tasks there is room for on each. Pure.

A heterogeneous job has several parts with nodes of their own, others have one.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from trainway.agent.base.plan import Plan
    from trainway.json_types import Json


_REPEATED = re.compile(r"(\d+)(?:\(x(\d+)\))?")


class AllocationError(Exception):
    """There is no allocation here. The message is for the user."""


class Part:
    """Nodes that are alike."""

    def __init__(self, nodes: Sequence[str], tasks: Sequence[int]) -> None:
        self.nodes = list(nodes)
        self.tasks = list(tasks)

    @property
    def slots(self) -> list[str]:
        """The node of each task."""
        room = zip(self.nodes, self.tasks)  # noqa: B905 - not in Python 3.8
        return [node for node, count in room for _ in range(count)]


def parts(environ: Mapping[str, str], expand: Callable[[str], Sequence[str]]) -> list[Part]:
    """The parts of the allocation that this process is in; `expand` gives the nodes of a list."""
    size = environ.get("SLURM_HET_SIZE")
    endings = [f"_HET_GROUP_{number}" for number in range(int(size))] if size else [""]
    found = []
    for ending in endings:
        listed = environ.get(f"SLURM_JOB_NODELIST{ending}")
        if not listed:
            raise AllocationError(f"this is not a Slurm job: SLURM_JOB_NODELIST{ending} is not set")
        nodes = expand(listed)
        tasks = counts(environ.get(f"SLURM_TASKS_PER_NODE{ending}", ""))
        found.append(Part(nodes, tasks if len(tasks) == len(nodes) else [1] * len(nodes)))
    return found


def counts(text: str) -> list[int]:
    """The numbers in Slurm's short form of them: `2(x3),1`."""
    found: list[int] = []
    for word in text.split(",") if text else ():
        match = _REPEATED.fullmatch(word)
        if match is None:
            return []
        found += [int(match.group(1))] * int(match.group(2) or 1)
    return found


def places(plan: Plan, settings: Json, found: Sequence[Part]) -> dict[str, str]:
    """The node of each pod that may run at once with others, as far as an elastic job has one.

    Roles that share a part lie in it one after the other; those that run only when others are over
    begin again at its start.
    """
    taken = [0] * len(found)
    result: dict[str, str] = {}
    for role in plan.roles:
        told: Json = settings.get(role.name) or {}
        number = min(int(told.get("group") or 0), len(found) - 1)
        slots = found[number].slots or found[number].nodes
        if role.job.minimum is not None and told.get("nodes"):
            slots = found[number].nodes  # each has one, however many tasks Slurm would put there
        pods = role.job.parallelism
        if role.job.completions is not None:
            pods = min(pods, role.job.completions)
        for job in range(role.replicas):
            for slot in range(pods):
                if role.job.minimum is not None and taken[number] >= len(slots):
                    continue  # Slurm gave an elastic job fewer nodes than it may have
                if told.get("overlap"):
                    node = slots[0]
                else:
                    node = slots[taken[number] % len(slots)]
                    taken[number] += 1
                result[f"{role.name}-{job}-{slot}"] = node
    return result
