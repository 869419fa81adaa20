"""What a gang needs at the same time: the sum of its pods' requests.

Roles that wait for another one to complete never run beside it, so the larger of the two counts,
and they may share GPUs. What is not requested counts nothing.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from trainway.backends.elastic_demand import ElasticNodes, elastic_nodes
from trainway.backends.pod_limit import pods_of_job
from trainway.compiler.devices import is_gpu
from trainway.jobset.model import ReplicatedJob, replicated_jobs
from trainway.jobset.quantity import ZERO, Quantity
from trainway.jobset.requests import pod_requests

_MOST_ROLES = 12
"""How many roles there may be for every set of them to be looked at; beyond, all count as running
together."""


@dataclass(frozen=True)
class Demand:
    """CPUs, memory and GPUs of a whole gang."""

    cpus: Quantity = ZERO
    memory: Quantity = ZERO
    gpus: int = 0
    slots: Mapping[str, Sequence[int]] = field(default_factory=dict)
    """The GPUs of the gang, counted from 0, that each pod uses."""
    types: Mapping[str, int] = field(default_factory=dict)
    """How many of the GPUs are to be of a type, where that is said."""
    elastic: ElasticNodes | None = None
    """The nodes that it has of those it would have; None: it has all or none."""
    nodes: int = 1
    """How many of its pods run at the same time."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing was requested."""
        return self.cpus.is_zero and self.memory.is_zero and not self.gpus

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for the store."""
        slots = {pod: list(numbers) for pod, numbers in self.slots.items()}
        more: dict[str, Any] = {"types": dict(self.types)} if self.types else {}
        if self.elastic is not None:
            more["elastic"] = self.elastic.to_dict()
        if self.nodes != 1:
            more["nodes"] = self.nodes
        return {
            "cpus": str(self.cpus), "memory": str(self.memory), "gpus": self.gpus, "slots": slots,
            **more,
        }  # fmt: skip

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Demand":
        """What `to_dict` wrote."""
        return cls(
            Quantity.parse(data["cpus"]),
            Quantity.parse(data["memory"]),
            data["gpus"],
            data.get("slots", {}),
            data.get("types", {}),
            ElasticNodes.from_dict(data["elastic"]) if data.get("elastic") else None,
            data.get("nodes", 1),
        )


@dataclass(frozen=True)
class _Role:
    name: str
    after: frozenset[str]
    """The roles that are over before this one starts."""
    cpus: Quantity
    memory: Quantity
    gpus_per_pod: int
    pods: tuple[str, ...]
    at_once: int
    """How many of its pods run at the same time."""


def pod_keys(job: ReplicatedJob) -> Iterator[str]:
    """The name of every pod of a role within the gang: `<role>-<job>-<pod>`."""
    for index in range(job.replicas):
        for pod in range(pods_of_job(job)):
            yield f"{job.name}-{index}-{pod}"


def demand_of(spec: dict[str, Any]) -> Demand:
    """What the pods of a JobSet's spec need while most of them run."""
    roles = list(_roles(spec))
    slots = _gpu_slots(roles)
    together = list(_running_together(roles))
    return Demand(
        cpus=max((_total(role.cpus for role in group) for group in together), default=ZERO),
        memory=max((_total(role.memory for role in group) for group in together), default=ZERO),
        gpus=len({number for numbers in slots.values() for number in numbers}),
        slots=slots,
        elastic=elastic_nodes(spec),
        nodes=max([1, *(sum(role.at_once for role in group) for group in together)]),
    )


def with_nodes(demand: Demand, nodes: int) -> Demand:
    """What an elastic gang needs with so many nodes."""
    if demand.elastic is None:
        return demand
    now, then = demand.elastic, demand.elastic.with_nodes(nodes)
    more = then.nodes - now.nodes
    pods = demand.slots.items()
    gpus = len({number for pod, numbers in pods if then.has(pod) for number in numbers})
    types = {name: count * gpus // (demand.gpus or 1) for name, count in demand.types.items()}
    cpus, memory = demand.cpus + now.cpus * more, demand.memory + now.memory * more
    return replace(
        demand,
        cpus=cpus,
        memory=memory,
        gpus=gpus,
        types=types,
        elastic=then,
        nodes=demand.nodes + more,
    )


def roles_together(spec: dict[str, Any]) -> list[list[str]]:
    """The sets of roles that may run at the same time: of none does another wait for the end."""
    return [[role.name for role in group] for group in _running_together(list(_roles(spec)))]


def pods_at_once(job: ReplicatedJob) -> int:
    """How many pods of one Job of a role run at the same time."""
    parallelism = job.job_spec.get("parallelism")
    return min(1 if parallelism is None else int(parallelism), pods_of_job(job))


def gpu_count(spec: dict[str, Any]) -> int:
    """How many GPUs all pods of a JobSet's spec ask for, whether together or not."""
    return sum(
        job.replicas * pods_of_job(job) * _gpus_per_pod(pod_requests(job.pod.spec))
        for job in replicated_jobs(spec)
    )


def _roles(spec: dict[str, Any]) -> Iterator[_Role]:
    earlier: dict[str, frozenset[str]] = {}
    for job in replicated_jobs(spec):
        after: set[str] = set()
        for dependency in job.depends_on:
            after |= earlier.get(dependency["name"], frozenset())
            if dependency.get("status") == "Complete":
                after.add(dependency["name"])
        earlier[job.name] = frozenset(after)
        requests = pod_requests(job.pod.spec)
        at_once = job.replicas * pods_at_once(job)
        yield _Role(
            name=job.name,
            after=earlier[job.name],
            cpus=requests.get("cpu", ZERO) * at_once,
            memory=requests.get("memory", ZERO) * at_once,
            gpus_per_pod=_gpus_per_pod(requests),
            pods=tuple(pod_keys(job)),
            at_once=at_once,
        )


def _gpus_per_pod(requests: Mapping[str, Quantity]) -> int:
    return sum(amount.ceil() for name, amount in requests.items() if is_gpu(name))


def _running_together(roles: Sequence[_Role]) -> Iterator[list[_Role]]:
    """The sets of roles of which none waits for another one's end."""
    if len(roles) > _MOST_ROLES or not any(role.after for role in roles):
        yield list(roles)
        return
    yield from _extended([], roles)


def _extended(group: list[_Role], rest: Sequence[_Role]) -> Iterator[list[_Role]]:
    if not rest:
        yield group
        return
    role, others = rest[0], rest[1:]
    clashes = [other for other in group if not _may_overlap(role, other)]
    if clashes:
        yield from _extended(group, others)
        group = [other for other in group if other not in clashes]
    yield from _extended([*group, role], others)


def _may_overlap(one: _Role, other: _Role) -> bool:
    return one.name not in other.after and other.name not in one.after


def _gpu_slots(roles: Sequence[_Role]) -> dict[str, list[int]]:
    """GPUs of the gang for each pod; two pods share one only if they never run together."""
    slots: dict[str, list[int]] = {}
    for index, role in enumerate(roles):
        beside = [other for other in roles[:index] if _may_overlap(role, other)]
        taken = {number for other in beside for pod in other.pods for number in slots.get(pod, ())}
        free = (number for number in itertools.count() if number not in taken)
        if role.gpus_per_pod:
            for pod in role.pods:
                slots[pod] = [next(free) for _ in range(role.gpus_per_pod)]
    return slots


def _total(amounts: Iterator[Quantity]) -> Quantity:
    return sum(amounts, start=ZERO)
