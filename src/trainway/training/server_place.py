"""Jobs of the SDK on what Trainway's server runs them on: this machine, SSH hosts, Slurm, ..."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from trainway.json_types import Json
from trainway.sdk.client import Client
from trainway.sdk.failures import JobFailedError
from trainway.sdk.job import Job
from trainway.sdk.phases import CANCELLED, FAILED
from trainway.sdk.transport import StreamControl
from trainway.training.state import JobStatus, State

_STATES: Final = {
    "Pending": State.CREATED,
    "Queued": State.QUEUED,
    "Inadmissible": State.QUEUED,
    "Starting": State.STARTING,
    "Running": State.RUNNING,
    "Restarting": State.STARTING,
    "Paused": State.SUSPENDED,
    "Stopping": State.TERMINATING,
    "Succeeded": State.SUCCEEDED,
    FAILED: State.FAILED,
    CANCELLED: State.FAILED,
}
"""The phases of the server, each as a job of a cluster would have it."""


@dataclass
class ServerPlace:
    """A place that Trainway's server knows, such as `local` or `ssh/POOL`."""

    on: str
    server: str | None = None
    ids: dict[str, str] = field(default_factory=dict)
    """The id of each job that was created here; another job is the newest of its name."""

    @cached_property
    def client(self) -> Client:
        """The client of the server."""
        return Client(self.server)

    async def create(self, job: Json) -> None:
        """Submit a job."""
        made = await asyncio.to_thread(lambda: self.client.run(job, on=self.on))
        self.ids[made.name] = made.id

    async def status(self, name: str) -> JobStatus:
        """How a job stands."""
        return await asyncio.to_thread(lambda: _status(self._job(name).refresh()))

    async def wait(self, name: str) -> JobStatus:
        """Wait for the end of a job; how it ended."""
        job = await asyncio.to_thread(self._job, name)
        control = StreamControl()
        try:
            await asyncio.to_thread(job.follow, control)
        finally:
            control.stop()
        return await self.status(name)

    async def failure(self, name: str, status: JobStatus) -> tuple[str, tuple[str, ...]]:
        """Why a job failed, and the last lines of whoever failed first."""
        return await asyncio.to_thread(self._failure, name, status)

    def _failure(self, name: str, status: JobStatus) -> tuple[str, tuple[str, ...]]:
        error = self._job(name).exception()
        if isinstance(error, JobFailedError):
            said = error.message.splitlines()[0]
            return said.removeprefix(f"{name} has failed: "), error.log
        return ": ".join(filter(None, (status.reason, status.message))), ()

    async def logs(
        self, name: str, role: str, index: int, *, follow: bool, tail: int | None
    ) -> AsyncGenerator[str, None]:
        """The lines of one member of a job."""
        job = await asyncio.to_thread(self._job, name)
        control = StreamControl()
        lines = job.logs(follow=follow, role=role, rank=index, tail=tail, control=control)
        try:
            while (line := await asyncio.to_thread(next, lines, None)) is not None:
                yield line.text
        finally:
            control.stop()

    async def suspend(self, name: str, *, suspend: bool) -> None:
        """Suspend a job, or resume it."""
        job = await asyncio.to_thread(self._job, name)
        await asyncio.to_thread(job.suspend if suspend else job.resume)

    async def scale(self, name: str, workers: int) -> None:
        """Give a job so many workers, which the server refuses unless the job waits."""
        job = await asyncio.to_thread(self._job, name)
        await asyncio.to_thread(job.scale, workers)

    async def delete(self, name: str) -> None:
        """Delete a job with all its files."""
        job = await asyncio.to_thread(self._job, name)
        await asyncio.to_thread(job.delete)
        self.ids.pop(name, None)

    def _job(self, name: str) -> Job:
        return self.client.job(self.ids.get(name, name))


def _status(data: Json) -> JobStatus:
    status = data.get("status") or {}
    nodes = status.get("nodes") or []
    workers = [node for node in nodes if node.get("role") != "launcher"]
    return JobStatus(
        name=str(data["metadata"]["name"]),
        namespace="",
        state=_STATES.get(str(status.get("phase")), State.CREATED),
        reason=str(status.get("reason") or ""),
        message=str(status.get("message") or ""),
        workers=len(workers),
        active=sum(node.get("phase") == "Running" for node in workers),
        started=str(status.get("startTime") or ""),
        ended=str(status.get("completionTime") or ""),
    )
