"""What a gang knows of the pool and its hosts: no more than it needs. For type checkers only."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from abc import abstractmethod
    from collections.abc import Callable, Mapping
    from typing import Protocol

    from trainway.agent.base.clock import Clock
    from trainway.agent.base.event_loop import Timetable
    from trainway.agent.pool.gang import Gang
    from trainway.agent.transfer.frames import HostRequest
    from trainway.json_types import Json

    class HostFacts(Protocol):
        """One host."""

        facts: Json
        """What it said of itself."""

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

    class Channel(Protocol):
        """The way to the hosts."""

        @abstractmethod
        def send(self, host: str, frame: HostRequest) -> bool:
            """Say something to a host; False where it is not there."""

        @abstractmethod
        def backlog(self, host: str) -> int:
            """How many bytes for a host have yet to be written."""

        @abstractmethod
        def when_room(self, host: str, callback: Callable[[], object]) -> None:
            """Call back once when more can be said; never, if the connection ends before."""

    class GangPool(Channel, Protocol):
        """The pool."""

        clock: Clock

        @abstractmethod
        def loop_of(self, gang: Gang) -> Timetable:
            """A loop in which an error ends that job alone."""

        @abstractmethod
        def host(self, name: str) -> HostFacts | None:
            """The host of that name."""

        @abstractmethod
        def changed(self, gang: Gang) -> None:
            """A job has, wants or gave up a placement, or ended."""
