"""Jobs of the SDK in a Kubernetes cluster, reached by a kubeconfig."""

import codecs
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from trainway.errors import TrainwayError
from trainway.json_types import Json
from trainway.training.cluster_jobs import ClusterJobs, cluster_jobs
from trainway.training.cluster_logs import LogQuery, last_lines, log_pieces
from trainway.training.kinds import JobKind
from trainway.training.members import culprit
from trainway.training.state import JobStatus, status_of

_LAST: Final = 20


@dataclass(frozen=True)
class ClusterPlace:
    """A namespace of a cluster."""

    kind: JobKind
    namespace: str | None = None
    kubeconfig: str | Path | None = None
    context: str | None = None
    tell: Callable[[str], None] = lambda _: None
    """Told what a log is waited for."""

    async def create(self, job: Json) -> None:
        """Create a job."""
        async with self._jobs() as jobs:
            await jobs.create(job)

    async def status(self, name: str) -> JobStatus:
        """How a job stands."""
        async with self._jobs() as jobs:
            return status_of(await jobs.get(name))

    async def wait(self, name: str) -> JobStatus:
        """Wait for the end of a job; how it ended."""
        async with self._jobs() as jobs, aclosing(jobs.states(name)) as states:
            async for job in states:
                status = status_of(job)
                if status.is_over:
                    return status
        raise TrainwayError(f"the watch of {name} has ended")

    async def failure(self, name: str, status: JobStatus) -> tuple[str, tuple[str, ...]]:
        """Why a job failed, and the last lines of whoever failed first."""
        said = ": ".join(filter(None, (status.reason, status.message)))
        async with self._jobs() as jobs:
            members, _ = await jobs.members(name)
            guilty = culprit(members)
            if guilty is None:
                return said, ()
            return (
                f"the {guilty.title} {guilty.problem}",
                tuple(await last_lines(jobs, guilty, _LAST)),
            )

    async def logs(
        self, name: str, role: str, index: int, *, follow: bool, tail: int | None
    ) -> AsyncGenerator[str, None]:
        """The lines of one member of a job."""
        query = LogQuery(role, index, follow=follow, tail=tail)
        decoder, pending = codecs.getincrementaldecoder("utf-8")(errors="replace"), ""
        async with self._jobs() as jobs, aclosing(log_pieces(jobs, name, query, self.tell)) as log:
            async for piece in log:
                *lines, pending = (pending + decoder.decode(piece)).split("\n")
                for line in lines:
                    yield line
        if pending:
            yield pending

    async def suspend(self, name: str, *, suspend: bool) -> None:
        """Suspend a job, or resume it."""
        async with self._jobs() as jobs:
            await jobs.suspend(name, suspend=suspend)

    async def scale(self, name: str, workers: int) -> None:
        """Give a job so many workers."""
        async with self._jobs() as jobs:
            await jobs.scale(name, workers)

    async def delete(self, name: str) -> None:
        """Delete a job with all it has."""
        async with self._jobs() as jobs:
            await jobs.delete(name)

    def _jobs(self) -> AbstractAsyncContextManager[ClusterJobs]:
        return cluster_jobs(self.kind, self.namespace, self.kubeconfig, self.context)
