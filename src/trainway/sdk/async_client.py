"""The client for programs that run an event loop; threads do the waiting."""

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from typing import TYPE_CHECKING, Any

from trainway.errors import TrainwayError
from trainway.json_types import Json
from trainway.sdk.client import Client
from trainway.sdk.failures import WaitTimeoutError
from trainway.sdk.job import Job
from trainway.sdk.log_line import LogLine
from trainway.sdk.transport import StreamControl

if TYPE_CHECKING:
    from trainway.sdk.async_clusters import AsyncCluster


class AsyncJob:
    """A job whose methods are awaited; they are those of `Job`."""

    def __init__(self, job: Job) -> None:
        self.job = job
        """The same job for code that may block."""

    @property
    def id(self) -> str:
        """What no other job shares."""
        return self.job.id

    @property
    def name(self) -> str:
        """The job's name."""
        return self.job.name

    def done(self) -> bool:
        """Whether it was over when it was last looked at."""
        return self.job.done()

    async def status(self) -> str:
        """The phase it is in now."""
        return await asyncio.to_thread(lambda: self.job.status)

    async def wait(self, timeout: float | None = None) -> str:
        """Wait for the end and give the phase it ended in."""
        control = StreamControl()
        try:
            async with asyncio.timeout(timeout):
                await asyncio.to_thread(self.job.follow, control)
        except TimeoutError:
            raise WaitTimeoutError(f"{self.name} has not ended after {timeout:g} s") from None
        finally:
            control.stop()
        return await self.status()

    async def result(
        self, timeout: float | None = None, *, allow_pickle: bool | None = None
    ) -> Any:
        """Wait for the end; the value that the function returned on the first rank."""
        await self.wait(timeout)
        return await asyncio.to_thread(partial(self.job.result, allow_pickle=allow_pickle))

    async def exception(self, timeout: float | None = None) -> TrainwayError | None:
        """Wait for the end; what result() would raise for a job that failed, else None."""
        await self.wait(timeout)
        return await asyncio.to_thread(self.job.exception)

    async def logs(self, **query: Any) -> AsyncIterator[LogLine]:
        """The lines that its containers wrote; the arguments are those of `Job.logs`."""
        control = StreamControl()
        lines = self.job.logs(**query, control=control)
        try:
            while (line := await asyncio.to_thread(next, lines, None)) is not None:
                yield line
        finally:
            control.stop()

    async def events(self) -> list[Json]:
        """What happened to it."""
        return await asyncio.to_thread(self.job.events)

    async def metrics(self) -> dict[str, float | str]:
        """The metrics that the training code last reported."""
        return await asyncio.to_thread(self.job.metrics)

    async def cancel(self) -> None:
        """Stop everything and wait until no process is left."""
        await asyncio.to_thread(self.job.cancel)

    async def suspend(self) -> None:
        """Stop the processes and keep the job."""
        await asyncio.to_thread(self.job.suspend)

    async def resume(self) -> None:
        """Go on with a suspended job."""
        await asyncio.to_thread(self.job.resume)

    async def rerun(self) -> "AsyncJob":
        """Submit the same job again."""
        return AsyncJob(await asyncio.to_thread(self.job.rerun))

    async def delete(self, *, force: bool = False) -> str:
        """Stop it if it runs, and forget it with all its files; see `Job.delete`."""
        return await asyncio.to_thread(self.job.delete, force=force)


class AsyncClient:
    """`Client`, to be awaited."""

    def __init__(self, server: str | None = None, *, token: str = "") -> None:
        self._client = Client(server, token=token)

    async def run(self, target: Any, **options: Any) -> AsyncJob:
        """Submit a function, a script, a manifest or objects; see `Client.run`."""
        return AsyncJob(await asyncio.to_thread(partial(self._client.run, target, **options)))

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
