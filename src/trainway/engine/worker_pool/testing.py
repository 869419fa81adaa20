"""Worker pools in memory: the test plays the agents, the setup of workers, and the jobs."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

from trainway.backends.testing import FakeBackend, FakeJob
from trainway.engine.cluster.testing import ClusterJobs, ClusterWorld, FakeAgents
from trainway.engine.store import Store
from trainway.engine.submission import Submission
from trainway.engine.testing import jobset
from trainway.engine.worker_pool.request import NewPool
from trainway.json_types import Json

GPU = "nvidia.com/gpu"
MOST = 9
"""How many clusters of the pool have backends."""


class WorkerJobs(FakeBackend):
    """The backend of the jobs of a pool."""

    schedules = True
    name = "worker-pool/p"


class PoolWorld(ClusterWorld):
    """An engine with a worker pool `p`, on a machine of 4 CPUs."""

    def __init__(self, agents: FakeAgents | None = None, store: Store | None = None) -> None:
        super().__init__(agents, store)
        self.workers = WorkerJobs()
        self.setups = {f"p-{number}": ClusterJobs(f"p-{number}") for number in range(1, MOST + 1)}
        for backend in (self.workers, *self.setups.values()):
            self.engine.registry.put(backend)

    async def apply(self, setup: str = "true", infra: str = "", **workers: Any) -> Json:
        """Ask for the pool; it has two workers where nothing is said."""
        return await self.engine.worker_pools.apply(new_pool(setup, infra, **workers))

    @property
    def pool(self) -> Json:
        """The pool as it is shown."""
        return self.engine.worker_pools.get("p")

    def states(self) -> dict[str, str]:
        """The state of each worker, by name."""
        return {each["name"]: each["phase"] for each in self.pool["status"]["workers"]}

    async def until_states(self, **states: str) -> None:
        """Wait until the workers with these numbers, and no others, have these states."""
        wanted = {f"p-{name[1:]}": state for name, state in states.items()}
        await self.until_cluster(lambda: self.states() == wanted)

    async def setup(self, worker: str) -> FakeJob:
        """The job that sets up a worker."""
        backend = self.setups[worker]
        async with asyncio.timeout(60):
            while not backend.jobs:
                await asyncio.sleep(0.001)
        return next(iter(backend.jobs.values()))

    async def set_up(self, *workers: str) -> None:
        """Let the setup of workers succeed, of one after the other."""
        for worker in workers:
            (await self.setup(worker)).end()
            await self.until_cluster(partial(self.is_ready, worker))

    def is_ready(self, worker: str) -> bool:
        """Whether a worker can have jobs."""
        return self.states().get(worker) == "READY"

    def successor(self) -> "PoolWorld":
        """The next server, with the same store, agents, workers and setups."""
        after = PoolWorld(self.agents, self.store)
        after.workers, after.setups = self.workers, self.setups
        for backend in (after.workers, *after.setups.values()):
            after.engine.registry.put(backend)
        return after

    async def job(self, name: str = "job", requests: Json | None = None, **options: Any) -> str:
        """The id of a job that is submitted to the pool."""
        objects = [jobset(name, requests=requests or {})]
        submission = Submission(objects, backend="worker-pool/p", **options)
        job, _ = await self.engine.submit(submission)
        return str(job["metadata"]["id"])

    async def begun_on(self, job_id: str) -> tuple[FakeJob, str]:
        """Wait until a job has begun; it, and the worker that it is on."""
        async with asyncio.timeout(60):
            while job_id not in self.workers.jobs:
                await asyncio.sleep(0.001)
        found = self.workers.jobs[job_id]
        return found, str(found.workload.handle["queue"])

    async def until_shown(self, holds: Callable[[Json], bool]) -> None:
        """Wait until something holds of the pool."""
        await self.until_cluster(lambda: holds(self.pool))


def new_pool(setup: str = "true", infra: str = "", **workers: Any) -> NewPool:
    """A request for the pool `p`, whose workers have a CPU each."""
    task: Json = {
        "apiVersion": "trainway.dev/v1alpha1",
        "kind": "Task",
        "metadata": {"name": "p"},
        "spec": {"tasks": [{"task": {"setup": setup}, "secrets": []}]},
        "origin": {"at": "2026-11-15-05-00-00-000000", "by": "a", "directory": "/", "home": "/"},
    }
    return NewPool(
        "p", infra, 1, {"cpus": 1}, {}, workers or {"workers": 2}, Submission([task], workdir="/")
    )


def trainjob(
    nodes: int = 2, requests: Json | None = None, runtime: str = "torch-distributed", **more: Any
) -> Json:
    """A TrainJob of so many nodes, which request this each; `annotations` are its own."""
    trainer: Json = {"numNodes": nodes, "command": ["torchrun", "x.py"]}
    if requests:
        trainer["resourcesPerNode"] = {"requests": requests, "limits": requests}
    annotations = more.pop("annotations", {})
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": "train", "annotations": annotations},
        "spec": {"runtimeRef": {"name": runtime}, "trainer": trainer, **more},
    }
