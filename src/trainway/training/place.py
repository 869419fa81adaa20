"""Where a job of the SDK runs: the interface that a cluster and Trainway's server both have."""

from collections.abc import AsyncGenerator
from typing import Protocol

from trainway.json_types import Json
from trainway.training.state import JobStatus


class Place(Protocol):
    """Holds the jobs of one kind."""

    async def create(self, job: Json) -> None:
        """Create a job."""

    async def status(self, name: str) -> JobStatus:
        """How a job stands."""

    async def wait(self, name: str) -> JobStatus:
        """Wait for the end of a job; how it ended."""

    async def failure(self, name: str, status: JobStatus) -> tuple[str, tuple[str, ...]]:
        """Why a job failed, and the last lines of whoever failed first."""

    def logs(
        self, name: str, role: str, index: int, *, follow: bool, tail: int | None
    ) -> AsyncGenerator[str, None]:
        """The lines of one member of a job."""

    async def suspend(self, name: str, *, suspend: bool) -> None:
        """Suspend a job, or resume it."""

    async def scale(self, name: str, workers: int) -> None:
        """Give a job so many workers."""

    async def delete(self, name: str) -> None:
        """Delete a job with all it has."""
