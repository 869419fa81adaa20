"""A job for programs that run an event loop; threads do the waiting."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from functools import partial
from typing import Any

from trainway.errors import TrainwayError
from trainway.json_types import Json
from trainway.sdk.failures import WaitTimeoutError
from trainway.sdk.job import Job
from trainway.sdk.log_line import LogLine
from trainway.sdk.metric_history import MetricHistory
from trainway.sdk.transport import StreamControl


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

    async def metrics(
        self, *series: str, resolution: int | None = None, system: bool = False
    ) -> MetricHistory:
        """What the training code reported over time, or what it used; see `Job.metrics`."""
        metrics = partial(self.job.metrics, *series, resolution=resolution, system=system)
        return await asyncio.to_thread(metrics)

    async def stacks(self, *, rank: int | None = None, attempt: int | None = None) -> Json:
        """The Python stacks of its processes; see `Job.stacks`."""
        return await asyncio.to_thread(partial(self.job.stacks, rank=rank, attempt=attempt))

    async def last_metrics(self) -> dict[str, float | str]:
        """The metrics that the training code last reported."""
        return await asyncio.to_thread(self.job.last_metrics)

    async def set_note(self, text: str) -> None:
        """Write a note on it; see `Job.set_note`."""
        await asyncio.to_thread(self.job.set_note, text)

    async def link(self, name: str, url: str | None) -> None:
        """Write a link on it; see `Job.link`."""
        await asyncio.to_thread(self.job.link, name, url)

    async def cancel(self) -> None:
        """Stop everything and wait until no process is left."""
        await asyncio.to_thread(self.job.cancel)

    async def suspend(self) -> None:
        """Stop the processes and keep the job."""
        await asyncio.to_thread(self.job.suspend)

    async def resume(self) -> None:
        """Go on with a suspended job."""
        await asyncio.to_thread(self.job.resume)

    async def scale(self, nodes: int) -> None:
        """Give it another number of nodes; see `Job.scale`."""
        await asyncio.to_thread(self.job.scale, nodes)

    async def move(self, on: str) -> None:
        """Have it go on at another place; see `Job.move`."""
        await asyncio.to_thread(self.job.move, on)

    async def rerun(
        self,
        *,
        env: Mapping[str, Any] | None = None,
        set: Mapping[str, Any] | None = None,  # noqa: A002 - as the option of the command
    ) -> "AsyncJob":
        """Submit the same job again, maybe with a difference; see `Job.rerun`."""
        again = partial(self.job.rerun, env=env, set=set)
        return AsyncJob(await asyncio.to_thread(again))

    async def delete(self, *, force: bool = False) -> str:
        """Stop it if it runs, and forget it with all its files; see `Job.delete`."""
        return await asyncio.to_thread(self.job.delete, force=force)
