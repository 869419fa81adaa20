"""Stands in for the backend of stored jobs whose package is gone, or cannot be loaded.

It does nothing, and says what is missing, so that a server starts with such jobs and shows them.
Once the package is back, the next server has the backend itself.
"""

from collections.abc import AsyncIterator
from typing import NoReturn

from trainway.backends.base import Absence, Handle, Request, Update, Workload
from trainway.compiler.network import JobIdentity, Network
from trainway.errors import NotFoundError, TrainwayError, UnavailableError

_HINT = "install the package that brings it, and start the server anew: trainway server stop"


class MissingBackend:
    """A backend that is not there."""

    schedules = True
    """Nobody knows whether it does; the engine may place none of its jobs."""

    def __init__(self, name: str, cause: TrainwayError) -> None:
        self.name = name
        is_gone = isinstance(cause, NotFoundError)
        self._problem = f"no package brings the backend {name!r}" if is_gone else cause.message

    @property
    def error(self) -> UnavailableError:
        """What is missing."""
        return UnavailableError(self._problem, hint=_HINT)

    def network(self, job: JobIdentity) -> Network:
        """Raise what is missing."""
        del job
        raise self.error

    def plan(self, workload: Workload) -> Request:
        """Raise what is missing."""
        del workload
        raise self.error

    async def submit(self, request: Request) -> None:
        """Raise what is missing."""
        del request
        raise self.error

    async def watch(self, handle: Handle, after: int) -> AsyncIterator[Update]:
        """Raise what is missing."""
        del handle, after
        self._refuse()
        yield  # type: ignore[unreachable] # which makes it an iterator

    async def cancel(self, handle: Handle) -> None:
        """Raise what is missing."""
        del handle
        raise self.error

    async def delete(self, handle: Handle) -> None:
        """Raise what is missing."""
        del handle
        raise self.error

    async def suspend(self, handle: Handle) -> None:
        """Raise what is missing; until it is there, the job waits for that."""
        del handle
        raise self.error

    async def resume(self, handle: Handle) -> None:
        """Raise what is missing."""
        del handle
        raise self.error

    async def absence(self, handle: Handle) -> Absence:
        """Why its jobs cannot be reached."""
        del handle
        return Absence(self._problem, f"what it has left at {self.name} stays there")

    async def forget(self, handle: Handle) -> None:
        """Nothing is kept here that is known of."""

    def _refuse(self) -> NoReturn:
        raise self.error
