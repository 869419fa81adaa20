"""What an elastic gang needs with fewer nodes than it asks for. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from trainway.agent.base.job_spec import minimum_nodes
from trainway.jobset.model import replicated_jobs
from trainway.jobset.quantity import ZERO, Quantity
from trainway.jobset.requests import pod_requests


@dataclass(frozen=True)
class ElasticNodes:
    """The nodes of an elastic gang, of which it has the first so many."""

    role: str
    nodes: int
    """How many it has."""
    least: int
    most: int
    cpus: Quantity = ZERO
    """Of each node."""
    memory: Quantity = ZERO

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for the store."""
        amounts = {"cpus": str(self.cpus), "memory": str(self.memory)}
        counts = {"nodes": self.nodes, "least": self.least, "most": self.most}
        return {"role": self.role, **counts, **amounts}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "ElasticNodes":
        """What `to_dict` wrote."""
        amounts = {name: Quantity.parse(data[name]) for name in ("cpus", "memory")}
        return cls(data["role"], data["nodes"], data["least"], data["most"], **amounts)

    def has(self, pod: str) -> bool:
        """Whether a pod is there: one of another role, or of a node that it has."""
        role, _, index = pod.rpartition("-")
        return role.rpartition("-")[0] != self.role or int(index) < self.nodes

    def with_nodes(self, nodes: int) -> "ElasticNodes":
        """With another number of them, between the least and the most."""
        return replace(self, nodes=min(max(nodes, self.least), self.most))


def elastic_nodes(spec: dict[str, Any]) -> ElasticNodes | None:
    """Those of a JobSet's spec; None: it is not elastic."""
    for job in replicated_jobs(spec):
        metadata = (job.data.get("template") or {}).get("metadata") or {}
        most = int(job.job_spec.get("parallelism") or 1)
        least = minimum_nodes(metadata.get("annotations"), most)
        if least is not None and job.replicas == 1:
            requests = pod_requests(job.pod.spec)
            cpus, memory = requests.get("cpu", ZERO), requests.get("memory", ZERO)
            return ElasticNodes(job.name, most, least, most, cpus, memory)
    return None
