"""What is refused before anything is done with a cluster."""

from collections.abc import Callable

from trainway.backends.base import Capacity
from trainway.engine.cluster import shape as cluster_shape
from trainway.engine.cluster.agents import Agents
from trainway.engine.cluster.record import ClusterRecord
from trainway.engine.cluster.shape import Shape
from trainway.engine.errors import UnfittingJobError
from trainway.engine.queue import never_fits
from trainway.errors import ConflictError
from trainway.families.builtin import HERE


def refuse_worker(record: ClusterRecord, worker_pool: str = "") -> None:
    """Raise for a worker of another worker pool than that one, and for no worker if it is one's."""
    pool = record.worker_pool
    if worker_pool and not pool:
        raise ConflictError(f"there is a cluster {record.name}, which is not of a worker pool")
    if pool and pool != worker_pool:
        raise ConflictError(
            f"{record.name} is a worker of the worker pool {pool}, which looks after it",
            hint=f"run a job with trainway jobs launch -p {pool}; trainway jobs pool down {pool} "
            "releases all workers",
        )


async def refuse_unfitting(
    name: str, infra: str, shape: Shape, agents: Agents, capacity: Callable[[], Capacity]
) -> None:
    """Raise for a cluster that could not be had even if nobody else were there."""
    if infra == HERE:
        why = never_fits(shape.demand(), capacity())
        why = f"it needs {why}" if why else ""
    else:
        hosts = await agents.hosts(infra)
        why = "" if hosts is None else cluster_shape.never_fits(shape, hosts)
    if why:
        raise UnfittingJobError(
            f"cluster {name} can never start: {why}", hint="request less, or fewer nodes"
        )
