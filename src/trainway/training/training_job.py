"""What an MPIJob and a TrainJob of the SDK have in common; to be awaited, or to be called."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

from trainway.errors import InvalidError, UsageError
from trainway.json_types import Json
from trainway.schema.field import ErrorType, FieldError
from trainway.sdk.failures import JobFailedError, WaitTimeoutError
from trainway.training.loop_thread import LoopThread
from trainway.training.packages import require_packages
from trainway.training.state import JobStatus, State

if TYPE_CHECKING:
    from trainway.training.kinds import JobKind
    from trainway.training.place import Place

_LOOP: Final = LoopThread()
_NO_IMAGE: Final = (("image",), ErrorType.REQUIRED)


@dataclass(frozen=True)
class Written:
    """A job as it was asked for."""

    name: str
    namespace: str
    build: Callable[[], Json]
    """Gives the manifest, if there are no problems."""
    problems: Sequence[FieldError]


class AsyncTrainingJob(ABC):
    """A job in a cluster, or on a place of Trainway's server; its methods are awaited."""

    first_role: ClassVar[str]
    """The role whose log is meant if none is named."""

    def __init__(
        self,
        written: Written,
        on: str | None,
        kubeconfig: str | Path | None,
        context: str | None,
    ) -> None:
        if on is not None and (kubeconfig is not None or context is not None):
            raise UsageError(
                "kubeconfig and context name a cluster, and on= names a place of Trainway's server",
                hint="give one of the two",
            )
        self._written = written
        self._on = on
        self._access = (kubeconfig, context)
        self._made: Place | None = None

    @property
    def name(self) -> str:
        """The job's name."""
        return self._written.name

    def to_dict(self) -> Json:
        """The manifest; what is wrong with it is an InvalidError."""
        wrong = self._written.problems
        if self._on is not None:  # where there may be no containers; the server says if there are
            wrong = [each for each in wrong if (each.path, each.type) != _NO_IMAGE]
        if wrong:
            raise InvalidError([str(problem) for problem in wrong])
        return self._written.build()

    async def create(self) -> None:
        """Create the job; what is wrong with it is an InvalidError."""
        await self._place().create(self.to_dict())

    async def get_status(self) -> JobStatus:
        """How the job stands."""
        return await self._place().status(self.name)

    async def wait_for_completion(self, timeout: float | None = None) -> JobStatus:
        """Wait for the end.

        JobFailedError: it failed, and this is why. WaitTimeoutError: `timeout` seconds are over.
        """
        try:
            async with asyncio.timeout(timeout):
                status = await self._place().wait(self.name)
        except TimeoutError:
            raise WaitTimeoutError(f"{self.name} has not ended after {timeout:g} s") from None
        if status.state is State.SUCCEEDED:
            return status
        why, lines = await self._place().failure(self.name, status)
        raise JobFailedError(f"{self.name} has failed" + (f": {why}" if why else ""), log=lines)

    async def get_logs(
        self, role: str | None = None, index: int = 0, *, tail: int | None = None
    ) -> str:
        """What the launcher wrote so far, or the member named; waits until that has started."""
        lines = self._lines(role, index, follow=False, tail=tail)
        return "".join([f"{line}\n" async for line in lines])

    def follow_logs(
        self, role: str | None = None, index: int = 0, *, tail: int | None = None
    ) -> AsyncGenerator[str, None]:
        """The same line by line, with those to come."""
        return self._lines(role, index, follow=True, tail=tail)

    async def suspend(self) -> None:
        """Stop the pods and keep the job."""
        await self._place().suspend(self.name, suspend=True)

    async def resume(self) -> None:
        """Let a suspended job run."""
        await self._place().suspend(self.name, suspend=False)

    async def scale(self, workers: int) -> None:
        """Give the job so many workers."""
        if workers < 1:
            raise UsageError(f"a job cannot have {workers} workers", hint="it needs at least one")
        await self._place().scale(self.name, workers)

    async def delete(self) -> None:
        """Delete the job with all it has, and wait until it is gone."""
        await self._place().delete(self.name)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"

    def _lines(
        self, role: str | None, index: int, *, follow: bool, tail: int | None
    ) -> AsyncGenerator[str, None]:
        if tail is not None and tail < 0:
            raise UsageError(f"tail cannot be {tail}", hint="it is a number of lines")
        place = self._place()
        return place.logs(self.name, role or self.first_role, index, follow=follow, tail=tail)

    def _place(self) -> "Place":
        if self._made is None:
            self._made = self._cluster() if self._on is None else self._server(self._on)
        return self._made

    def _cluster(self) -> "Place":
        require_packages()
        from trainway.training.cluster_place import ClusterPlace  # noqa: PLC0415 - needs the extra

        return ClusterPlace(self._kind(), self._written.namespace or None, *self._access)

    def _server(self, on: str) -> "Place":
        from trainway.training.server_place import ServerPlace  # noqa: PLC0415 - or this one

        return ServerPlace(on)

    @classmethod
    @abstractmethod
    def _kind(cls) -> "JobKind":
        """What it is in a cluster."""


class TrainingJob:
    """A job in a cluster, or on a place of Trainway's server."""

    def __init__(self, job: AsyncTrainingJob) -> None:
        self.asynchronous = job
        """The same job for programs that run an event loop."""

    @property
    def name(self) -> str:
        """The job's name."""
        return self.asynchronous.name

    def to_dict(self) -> Json:
        """The manifest."""
        return self.asynchronous.to_dict()

    def create(self) -> None:
        """Create the job; what is wrong with it is an InvalidError."""
        _LOOP.run(self.asynchronous.create())

    def get_status(self) -> JobStatus:
        """How the job stands."""
        return _LOOP.run(self.asynchronous.get_status())

    def wait_for_completion(self, timeout: float | None = None) -> JobStatus:
        """Wait for the end.

        JobFailedError: it failed, and this is why. WaitTimeoutError: `timeout` seconds are over.
        """
        return _LOOP.run(self.asynchronous.wait_for_completion(timeout))

    def get_logs(self, role: str | None = None, index: int = 0, *, tail: int | None = None) -> str:
        """What the launcher wrote so far, or the member named; waits until that has started."""
        return _LOOP.run(self.asynchronous.get_logs(role, index, tail=tail))

    def follow_logs(
        self, role: str | None = None, index: int = 0, *, tail: int | None = None
    ) -> Iterator[str]:
        """The same line by line, with those to come."""
        return _LOOP.iterate(lambda: self.asynchronous.follow_logs(role, index, tail=tail))

    def suspend(self) -> None:
        """Stop the pods and keep the job."""
        _LOOP.run(self.asynchronous.suspend())

    def resume(self) -> None:
        """Let a suspended job run."""
        _LOOP.run(self.asynchronous.resume())

    def scale(self, workers: int) -> None:
        """Give the job so many workers."""
        _LOOP.run(self.asynchronous.scale(workers))

    def delete(self) -> None:
        """Delete the job with all it has, and wait until it is gone."""
        _LOOP.run(self.asynchronous.delete())

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"
