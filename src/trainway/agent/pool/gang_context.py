"""What a gang knows of the pool and its hosts: no more than it needs. For type checkers only."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from abc import abstractmethod
    from collections.abc import Mapping
    from typing import Protocol, TypeVar

    from trainway.agent.base.clock import Clock
    from trainway.agent.base.event_loop import Timetable
    from trainway.agent.transfer.delivery import Channel
    from trainway.json_types import Json

    Job_contra = TypeVar("Job_contra", contravariant=True)

    class HostFacts(Protocol):
        """One host."""

        facts: Json
        """What the host said of itself."""

        @property
        def state(self) -> str:
            """Whether it is there: connecting, up, silent or lost."""

        @property
        def address(self) -> str:
            """Where other hosts reach it."""

        @property
        def port(self) -> int:
            """Where its sshd listens."""

        @property
        def env(self) -> Mapping[str, str]:
            """Variables that all pods on it get."""

        @property
        def join(self) -> Json:
            """How pods elsewhere get to those on it, where that is not by SSH."""

    class GangPool(Channel, Protocol[Job_contra]):
        """The pool, whose jobs are of one class."""

        clock: Clock

        @abstractmethod
        def loop_of(self, job: Job_contra) -> Timetable:
            """A loop in which an error ends that job alone."""

        @abstractmethod
        def host(self, name: str) -> HostFacts | None:
            """The host of that name."""

        @abstractmethod
        def silence(self, name: str) -> str:
            """What is to be said of a host that does not answer."""

        @abstractmethod
        def is_last(self, name: str) -> bool:
            """Whether a host must not be set aside, since no other could take its jobs."""

        @abstractmethod
        def set_aside(self, name: str, why: str, by: str) -> None:
            """Let a host take no new pods; that is on the disk before this returns."""

        @abstractmethod
        def resized(self, job: Job_contra) -> None:
            """An elastic job has more or fewer places than before."""

        @abstractmethod
        def changed(self, job: Job_contra) -> None:
            """A job has, wants or gave up a placement, or ended."""
