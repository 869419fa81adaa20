"""The relay of a Slurm cluster, as a pool agent that holds allocations there speaks to it.

It is asked with numbered questions; what Slurm has to say of a job comes by itself. When the
connection ends another one is made, and whoever listens asks again for what it wants.
"""

from __future__ import annotations

from trainway.agent.base.own_program import agent_command
from trainway.agent.slurm.relay.login import HOME, login_host, relay_script
from trainway.agent.transfer.link import Link, LinkListener
from trainway.agent.transfer.ssh_command import ssh_arguments
from trainway.agent.transfer.ssh_failure import Failure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from abc import abstractmethod
    from collections.abc import Callable, Mapping
    from typing import Protocol

    from trainway.agent.base.event_loop import EventLoop, Timer
    from trainway.agent.transfer.link import Archive
    from trainway.json_types import Json

    Done = Callable[[Json], None]

    class AnyRelay(Protocol):
        """A relay, as those know it who ask."""

        is_ready: bool
        """Whether it has answered on this connection."""
        home: str
        """Where jobs are kept there."""
        absence: Failure
        """Why it did not answer when it last did not."""

        @abstractmethod
        def open(self) -> None:
            """Connect, and stay connected."""

        @abstractmethod
        def close(self) -> None:
            """Speak to it no more."""

        @abstractmethod
        def ask(self, operation: str, done: Done, **fields: object) -> None:
            """Ask something; the answer says `retry` where nobody knows what became of it."""


PING_SECONDS = 10.0
ENDED = Failure("the connection to its login node ended")


class RelayListener:
    """Who wants to know about the relay. The methods do nothing unless they are overridden."""

    def on_ready(self, relay: AnyRelay) -> None:
        """It answers."""

    def on_slurm(self, frame: Json) -> None:
        """Slurm has something to say of a job."""

    def on_absent(self, relay: AnyRelay) -> None:
        """It does not answer, for the reason that it has now; the next attempt follows."""


class RelayLink(Link):
    """The way to it."""

    def arguments(self, digest: str) -> list[str]:
        """A program of this machine, or of the login node."""
        if self._host.get("command"):
            return super().arguments(digest)
        return ssh_arguments(self._host, relay_script(self._host, digest, self._host["env"]))


class HoldRelay(LinkListener):
    """Asks the relay of one cluster."""

    def __init__(
        self,
        cluster: Json,
        loop: EventLoop,
        archive: Callable[[], Archive],
        env: Callable[[], Mapping[str, str]],
        listener: RelayListener,
    ) -> None:
        self.cluster = cluster
        self._loop = loop
        self._listener = listener
        self._questions: dict[int, Done] = {}
        self._count = 0
        self._timer: Timer | None = None
        self.is_ready = False
        """Whether it has answered on this connection."""
        self.home = ""
        """Where jobs are kept there."""
        self.absence = Failure("its login node does not answer")
        """Why it did not answer when it last did not."""
        own: Json = cluster.get("env") or {}
        is_here = not cluster.get("login")
        self._link = RelayLink(
            relay_host(cluster), loop, archive, self, lambda: {**env(), **(own if is_here else {})}
        )

    def open(self) -> None:
        """Connect, and stay connected."""
        self._link.open()

    def close(self) -> None:
        """Speak to it no more."""
        self._stop_timer()
        self.is_ready = False
        self._link.close()

    def ask(self, operation: str, done: Done, **fields: object) -> None:
        """Ask something; the answer says `retry` where nobody knows what became of it."""
        self._count += 1
        number = self._count
        self._questions[number] = done
        if not self._link.send({"op": operation, "request": number, **fields}):
            self._loop.call_soon(lambda: self._answered(number, _absent(ENDED)))

    def on_connected(self) -> None:
        """Say hello."""
        rest = self.cluster.get("rest") or {}
        self.ask("hello", self._on_hello, rest=rest)

    def _on_hello(self, answer: Json) -> None:
        if answer.get("ok"):
            self._link.settle()
            self.is_ready = True
            self._ping()
            self.home = str(answer["home"])
            self._listener.on_ready(self)

    def _ping(self) -> None:
        """Let it know that we are there."""
        self._timer = self._loop.call_later(PING_SECONDS, self._ping)
        self.ask("ping", lambda _answer: None)

    def on_frame(self, frame: Json) -> None:
        """An answer, or news of a job."""
        event = frame.get("event")
        if event == "answer":
            self._answered(int(frame.get("request") or 0), frame)
        elif event == "slurm":
            self._listener.on_slurm(frame)

    def _answered(self, number: int, answer: Json) -> None:
        done = self._questions.pop(number, None)
        if done is not None:
            done(answer)

    def on_down(self, failure: Failure) -> None:
        """Nobody answers what was asked."""
        self._stop_timer()
        self.is_ready = False
        hint = failure.hint.replace("of the pool", "of the cluster")
        self.absence = Failure(failure.message, hint)
        self._listener.on_absent(self)
        for number in list(self._questions):
            self._answered(number, _absent(self.absence))

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def relay_host(cluster: Json) -> Json:
    """Where the relay runs: on the login node, or here."""
    if cluster.get("login"):
        return {**login_host(cluster), "env": cluster.get("env") or {}}
    home = str(cluster.get("home") or HOME)
    words = [*agent_command(), "slurm", "relay", "--home", home]
    return {"name": cluster["name"], "command": words, "by_hand": "sinfo"}


def _absent(failure: Failure) -> Json:
    return {"ok": False, "retry": True, "error": failure.message, "hint": failure.hint}
