"""A worker pool as the API shows it."""

from collections.abc import Mapping, Sequence
from typing import Final

from trainway.engine.cluster.record import ClusterRecord
from trainway.engine.worker_pool.record import WorkerPoolRecord, WorkerRecord, pool_state
from trainway.engine.worker_pool.state import WorkerState
from trainway.json_types import Json

API_VERSION: Final = "trainway.dev/v1alpha1"
KIND: Final = "WorkerPool"


def pool_view(
    pool: WorkerPoolRecord,
    workers: Sequence[WorkerRecord],
    clusters: Mapping[str, ClusterRecord | None],
    used_by: Mapping[str, str],
    waiting: int,
) -> Json:
    """The pool; `used_by` has the job of each worker that has one, by the worker's name."""
    size = pool.limits
    ready = [worker for worker in workers if worker.state == WorkerState.READY]
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {"id": pool.id, "name": pool.name, "creationTimestamp": pool.created},
        "spec": {
            "infra": pool.infra,
            "nodes": pool.nodes,
            "resources": pool.resource_data,
            "minWorkers": size.least,
            "maxWorkers": size.most,
            "queueLengthThreshold": size.threshold,
            "upscaleDelaySeconds": size.patience_s,
            "downscaleDelaySeconds": size.idle_s,
            "version": pool.version,
        },
        "status": {
            "phase": pool_state(pool, workers),
            "message": pool_message(pool, workers),
            "readyWorkers": len(ready),
            "waitingJobs": waiting,
            "workers": [
                _worker_view(worker, clusters.get(worker.name), used_by.get(worker.name, ""))
                for worker in workers
            ],
        },
    }


def pool_message(pool: WorkerPoolRecord, workers: Sequence[WorkerRecord]) -> str:
    """Why a pool has no workers though it should; empty: it has, or will."""
    if not pool.has_given_up:
        return ""
    failed = [worker for worker in workers if worker.state == WorkerState.FAILED]
    last = f": {failed[-1].message}" if failed else ""
    again = "trainway jobs pool apply tries again"
    if pool.limits.goes_with_jobs:
        again = "run it again to try once more"
    return f"{pool.failures} workers in a row could not be made{last}; {again}"


def why_none(
    pool: WorkerPoolRecord,
    workers: Sequence[WorkerRecord],
    clusters: Mapping[str, ClusterRecord | None],
) -> str:
    """What a job is told that gets no worker."""
    problem = pool_message(pool, workers)
    ready = sum(worker.state == WorkerState.READY for worker in workers)
    if problem and not ready:
        return f"the worker pool {pool.name} has no workers: {problem}"
    making = [worker for worker in workers if worker.is_counted]
    if not ready and pool.limits.goes_with_jobs:
        found = [cluster for worker in making if (cluster := clusters.get(worker.name))]
        said = next((cluster.message for cluster in found if cluster.message), "")
        return f"waits for its machines: {said}" if said else "waits for its machines"
    if not ready:
        return f"waits for a worker of the worker pool {pool.name}; none is ready yet"
    made = len(making) - ready
    more = f", and {made} more in the making" if made else ""
    busy = "the worker is" if ready == 1 else f"all {ready} workers are"
    return f"waits for a worker of the worker pool {pool.name}: {busy} busy{more}"


def _worker_view(worker: WorkerRecord, cluster: ClusterRecord | None, job: str) -> Json:
    message = worker.message or (cluster.message if cluster is not None else "")
    return {
        "id": worker.number,
        "name": worker.name,
        "version": worker.version,
        "phase": worker.state,
        "message": message,
        "launched": worker.created,
        "setupJob": worker.setup_job or None,
        "usedBy": job or None,
        "nodes": [] if cluster is None else cluster.placed_data,
    }
