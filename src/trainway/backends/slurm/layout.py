"""How the pods of a job lie in one allocation: tasks of equal shape, and parts that differ. Pure.

Every pod is a task. Roles whose pods ask for the same, and those that only run when another one is
over, share a part of the allocation; roles that differ and run together are parts of a
heterogeneous job. The launcher of an MPI job that asks for nothing needs no place of its own: it
sits beside the first worker, unless it runs ranks itself.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from trainway.api import accelerators
from trainway.backends.demand import pods_at_once, roles_together
from trainway.compiler.devices import is_gpu
from trainway.compiler.workload import LAUNCHER
from trainway.jobset.labels import CANDIDATES
from trainway.jobset.model import ReplicatedJob, replicated_jobs
from trainway.jobset.quantity import ZERO
from trainway.jobset.requests import pod_requests

_MIB: Final = 2**20
_ANY_GPU: Final = re.compile(r"[0-9]+GB\+?|GPU", re.IGNORECASE)
"""A GPU of any sort, or one that is named by its memory alone, for which Slurm has no word."""


@dataclass(frozen=True, order=True)
class Shape:
    """What one pod asks for; 0: nothing."""

    gpus: int = 0
    memory: int = 0
    """The memory, in MiB."""
    cpus: int = 0
    gpu_type: str = ""

    def holds(self, other: "Shape") -> bool:
        """Whether a pod of the other shape fits into a task of this one."""
        mine = (self.gpus, self.memory or other.memory, self.cpus or 1)
        fits = zip(mine, (other.gpus, other.memory, other.cpus), strict=True)
        return all(have >= need for have, need in fits) and other.gpu_type in ("", self.gpu_type)


@dataclass(frozen=True)
class Step:
    """The pods of one Job of a role, as one call of srun starts them."""

    role: str
    pods: int
    shape: Shape
    part: int = 0
    """The part of a heterogeneous job that they are in."""
    sits_beside: bool = False
    """Whether they take nothing for themselves, and share what others have."""


@dataclass(frozen=True)
class Part:
    """Tasks that ask for the same."""

    tasks: int
    shape: Shape


@dataclass(frozen=True)
class Layout:
    """An allocation."""

    parts: tuple[Part, ...]
    steps: tuple[Step, ...]
    one_per_node: bool
    """Whether each pod has a node to itself, as far as this job is concerned."""

    @property
    def is_heterogeneous(self) -> bool:
        """Whether Slurm has to put together parts that differ."""
        return len(self.parts) > 1


@dataclass
class _Group:
    """Roles that share a part, and what their tasks ask for."""

    shape: Shape
    roles: list[str] = field(default_factory=list)


def layout_of(
    jobset: Mapping[str, Any],
    *,
    one_per_node: bool,
    gpu_names: Mapping[str, str] | None = None,
    launcher_works: bool = False,
) -> Layout:
    """Where the pods of a JobSet go.

    `gpu_names` is what the cluster calls sorts of GPUs; `launcher_works`: it runs ranks itself.
    """
    types = gpu_types(jobset.get("metadata") or {}, gpu_names or {})
    jobs = [job for job in replicated_jobs(jobset["spec"]) if job.replicas and pods_at_once(job)]
    steps = [_step(job, types.get(job.name, "")) for job in jobs]
    guests = {step.role for step in steps if not launcher_works and _is_guest(step, steps)}
    settled = [step for step in steps if step.role not in guests]
    together = roles_together(jobset["spec"])
    groups = _groups(settled, together)
    tasks = {job.name: job.replicas * pods_at_once(job) for job in jobs}
    part_of = {role: index for index, group in enumerate(groups) for role in group.roles}
    return Layout(
        parts=tuple(Part(_most(group.roles, together, tasks), group.shape) for group in groups),
        steps=tuple(
            replace(step, part=part_of.get(step.role, 0), sits_beside=step.role in guests)
            for step in steps
        ),
        one_per_node=one_per_node,
    )


def shape_of(job: ReplicatedJob, gpu_type: str = "") -> Shape:
    """What a pod of a role asks for: whole CPUs and MiB, since Slurm knows no less."""
    requests = pod_requests(job.pod.spec)
    gpus = sum(amount.ceil() for name, amount in requests.items() if is_gpu(name))
    return Shape(
        gpus=gpus,
        memory=-(-requests.get("memory", ZERO).ceil() // _MIB),
        cpus=requests.get("cpu", ZERO).ceil(),
        gpu_type=gpu_type if gpus else "",
    )


def gpu_types(metadata: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, str]:
    """The sort of GPU that the task of a role names, as the cluster calls it."""
    text = (metadata.get("annotations") or {}).get(CANDIDATES)
    try:
        roles = json.loads(text or "{}")
        named = {
            str(role): accelerators.candidates(told["candidates"][0].get("accelerators"))
            for role, told in roles.items()
        }
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError):
        return {}  # whoever wrote it, it is not what our compiler writes
    types = {role: gpu_type(found[0].name, names) for role, found in named.items() if found}
    return {role: name for role, name in types.items() if name}


def gpu_type(name: str, names: Mapping[str, str]) -> str:
    """What the cluster calls a sort of GPU; empty: any will do."""
    return "" if _ANY_GPU.fullmatch(name) else names.get(name, name.lower())


def _step(job: ReplicatedJob, gpu_type: str) -> Step:
    return Step(job.name, pods_at_once(job), shape_of(job, gpu_type))


def _is_guest(step: Step, steps: Sequence[Step]) -> bool:
    return step.role == LAUNCHER and step.shape == Shape() and step.pods == 1 and len(steps) > 1


def _groups(steps: Sequence[Step], together: Iterable[Sequence[str]]) -> list[_Group]:
    """The parts, in the order of their first roles."""
    groups: list[_Group] = []
    for step in sorted(steps, key=lambda step: step.shape, reverse=True):
        found = next((group for group in groups if _may_join(step, group, together)), None)
        if found is None:
            groups.append(_Group(step.shape, [step.role]))
        else:
            found.roles.append(step.role)
    order = {step.role: index for index, step in enumerate(steps)}
    return sorted(groups, key=lambda group: min(order[role] for role in group.roles))


def _may_join(step: Step, group: _Group, together: Iterable[Sequence[str]]) -> bool:
    if step.shape == group.shape:
        return True
    clashes = any(step.role in roles and set(group.roles) & set(roles) for roles in together)
    return not clashes and group.shape.holds(step.shape)


def _most(roles: Sequence[str], together: Iterable[Sequence[str]], tasks: Mapping[str, int]) -> int:
    """How many tasks of a part run at the same time, at most."""
    return max(sum(tasks[role] for role in roles if role in group) for group in together)
