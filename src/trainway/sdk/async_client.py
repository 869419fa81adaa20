"""The client for programs that run an event loop; threads do the waiting."""

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any

from trainway.errors import UsageError
from trainway.json_types import Json
from trainway.sdk.async_job import AsyncJob
from trainway.sdk.client import Client
from trainway.sdk.job import Job

if TYPE_CHECKING:
    from trainway.sdk.async_clusters import AsyncCluster
    from trainway.sdk.queues import Queues
    from trainway.sdk.run import Run
    from trainway.sdk.schedules import Schedule


class AsyncClient:
    """`Client`, to be awaited."""

    def __init__(self, server: str | None = None, *, token: str = "") -> None:
        self._client = Client(server, token=token)

    async def run(self, target: Any, **options: Any) -> AsyncJob:
        """Submit a function, a script, a manifest or objects; see `Client.run`.

        A sweep is submitted by `Client.run` in a thread, which gives the Run. A file with a
        pipeline gives the Run too; what a run does waits: call it in a thread.
        """
        if options.keys() & {"grid", "sweep"}:
            raise UsageError(
                "AsyncClient.run runs one job",
                hint="submit a sweep with asyncio.to_thread(Client().run, ...)",
            )
        made: Any = await asyncio.to_thread(lambda: self._client.run(target, **options))
        return AsyncJob(made) if isinstance(made, Job) else made

    async def run_array(self, target: Any, num_jobs: int, **options: Any) -> list[AsyncJob]:
        """Submit so many jobs of one thing; see `Client.run_array`."""
        call = partial(self._client.run_array, target, num_jobs, **options)
        return [AsyncJob(job) for job in await asyncio.to_thread(call)]

    async def job(self, ref: str) -> AsyncJob:
        """The job of that id, or the newest of that name."""
        return AsyncJob(await asyncio.to_thread(self._client.job, ref))

    async def jobs(self, **query: Any) -> list[AsyncJob]:
        """The newest jobs; see `Client.jobs`."""
        jobs = await asyncio.to_thread(partial(self._client.jobs, **query))
        return [AsyncJob(job) for job in jobs]

    async def runs(self, **query: Any) -> "list[Run]":
        """The newest runs; see `Client.runs`. What a run does waits: call it in a thread."""
        return await asyncio.to_thread(partial(self._client.runs, **query))

    async def create_schedule(self, cron: str, target: Any, **options: Any) -> "Schedule":
        """Submit something again and again; see `Client.create_schedule`.

        What a schedule does waits: call it in a thread.
        """
        call = partial(self._client.create_schedule, cron, target, **options)
        return await asyncio.to_thread(call)

    async def schedules(self) -> "list[Schedule]":
        """All schedules, by name; as above."""
        return await asyncio.to_thread(self._client.schedules)

    @property
    def queues(self) -> "Queues":
        """The managed queues; see `Client.queues`. What it does waits: call it in a thread."""
        return self._client.queues

    async def budgets(self) -> list[Json]:
        """The budgets of months; see `Client.budgets`."""
        return await asyncio.to_thread(self._client.budgets)

    async def set_budget(self, name: str, **budget: Any) -> Json:
        """Make or change a budget; see `Client.set_budget`."""
        return await asyncio.to_thread(partial(self._client.set_budget, name, **budget))

    async def usage(self, *args: Any, **query: Any) -> Json:
        """GPU-hours and CPU-hours of all jobs; see `Client.usage`."""
        return await asyncio.to_thread(partial(self._client.usage, *args, **query))

    async def launch(self, target: Any, **options: Any) -> "tuple[AsyncCluster, AsyncJob]":
        """Run a task, or a command of a shell, on a cluster; see `Client.launch`."""
        from trainway.sdk.async_clusters import AsyncCluster  # noqa: PLC0415 - seldom needed

        call = partial(self._client.launch, target, **options)
        cluster, job = await asyncio.to_thread(call)
        return AsyncCluster(cluster), AsyncJob(job)

    async def cluster(self, name: str) -> "AsyncCluster":
        """The cluster of that name."""
        from trainway.sdk.async_clusters import AsyncCluster  # noqa: PLC0415 - seldom needed

        return AsyncCluster(await asyncio.to_thread(self._client.cluster, name))

    async def clusters(self, *, refresh: bool = False) -> "list[AsyncCluster]":
        """All clusters; `refresh` asks their agents first."""
        from trainway.sdk.async_clusters import AsyncCluster  # noqa: PLC0415 - seldom needed

        found = await asyncio.to_thread(partial(self._client.clusters, refresh=refresh))
        return [AsyncCluster(cluster) for cluster in found]

    async def runtimes(self) -> list[Json]:
        """The training runtimes that the server knows."""
        return await asyncio.to_thread(self._client.runtimes)

    async def backends(self) -> list[Json]:
        """Where jobs can run: checks and capacity."""
        return await asyncio.to_thread(self._client.backends)
