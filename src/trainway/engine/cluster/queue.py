"""The jobs of a cluster as its queue shows them."""

from typing import Final

from trainway.backends.host_amounts import TASK_CPUS
from trainway.engine.cluster.record import ClusterRecord
from trainway.engine.job_filter import Filter
from trainway.engine.ledger import Ledger
from trainway.engine.record import JobRecord
from trainway.engine.view import job_view
from trainway.jobset.labels import CLUSTER_JOB
from trainway.jobset.quantity import Quantity
from trainway.json_types import Json

MOST: Final = 1_000
"""How many jobs are shown: the newest."""


async def cluster_jobs(ledger: Ledger, cluster: ClusterRecord) -> list[Json]:
    """All jobs since the cluster was made, newest first, each with its number."""
    wanted = Filter(backend=cluster.backend, after=cluster.id)
    found = await ledger.call(ledger.store.page, wanted, MOST)
    objects = await ledger.call(ledger.store.objects, [record.id for record in found])
    return [
        {
            "number": int(record.label_map.get(CLUSTER_JOB) or 0),
            "resources": described(record, objects.get(record.id, [])),
            "logs": _logs(record),
            "job": job_view(record, None, None),
        }
        for record in found
    ]


def described(record: JobRecord, objects: list[Json]) -> str:
    """What each node of a job takes, as SkyPilot writes it: `2x[CPU:1, A100:0.5]`."""
    nodes = max(1, len(record.observed_data.get("nodes") or ()))
    demand = record.demand_data
    is_task = record.kind == "Task"
    cpus = Quantity.parse(demand.get("cpus") or 0).nanos / 10**9 / nodes
    parts = [f"CPU:{cpus or TASK_CPUS:g}"] if cpus or is_task else []
    named = _accelerators(objects) if is_task else ""
    gpus = int(demand.get("gpus") or 0) / nodes
    if named or gpus:
        parts.append(named or f"GPU:{gpus:g}")
    memory = Quantity.parse(demand.get("memory") or 0).ceil() / nodes
    if memory:
        parts.append(f"mem:{memory / 2**30:.4g}GB")
    return f"{nodes}x[{', '.join(parts) or '-'}]"


def _accelerators(objects: list[Json]) -> str:
    """As the author of a task wrote them, where that is a name and a number."""
    for obj in objects:
        if obj.get("kind") == "Task":
            resources = obj["spec"]["tasks"][0]["task"].get("resources") or {}
            named = resources.get("accelerators") or resources.get("gpus")
            return named if isinstance(named, str) else ""
    return ""


def _logs(record: JobRecord) -> str:
    folder = str(record.handle_data.get("directory") or "")
    return f"{folder}/logs" if folder and not record.is_expired else ""
