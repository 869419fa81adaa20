"""The connection to one host: JSON lines through `ssh`, made again whenever it breaks.

The agent of this very version is on the host before anything is said: where it is missing, it is
copied once. What `ssh` complains about is kept, as the reason why the host cannot be reached.
"""

from __future__ import annotations

import json
import os

from trainway.agent.transfer.program import Program
from trainway.agent.transfer.ssh_command import (
    GREETING,
    NO_AGENT,
    connect_arguments,
    copy_arguments,
)
from trainway.agent.transfer.ssh_failure import Failure, explain, not_startable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from trainway.agent.base.event_loop import EventLoop, Timer
    from trainway.json_types import Json


RETRY_SECONDS = 2.0
CONNECT_SECONDS = 15.0
COPY_SECONDS = 120.0
LONGEST_LINE = 16 * 1024 * 1024
ROOM = 1024 * 1024
"""The backlog below which there is room for more, in bytes."""


class Archive:
    """The agent as one file."""

    def __init__(self, path: str, digest: str) -> None:
        self.path = path
        self.digest = digest


class LinkListener:
    """Who wants to know about a link. The methods do nothing unless they are overridden."""

    def on_connected(self) -> None:
        """The host listens: time to say hello."""

    def on_frame(self, frame: Json) -> None:
        """The host said something."""

    def on_down(self, failure: Failure) -> None:
        """The connection ended, or could not be made; the next attempt follows."""


class Link:
    """Keeps one host connected."""

    def __init__(
        self,
        host: Json,
        loop: EventLoop,
        archive: Callable[[], Archive],
        listener: LinkListener,
        env: Callable[[], Mapping[str, str]],
    ) -> None:
        self._host = host
        self._loop = loop
        self._archive = archive
        self._listener = listener
        self._env = env
        self._program: Program | None = None
        self._timer: Timer | None = None
        self._received = bytearray()
        self._waiting: list[Callable[[], object]] = []
        self._closed = False
        self._tried_copy = False
        self.is_connected = False
        """Whether the other side has been heard on this connection."""

    def open(self) -> None:
        """Connect now."""
        self._received.clear()
        digest = "" if self._host.get("command") else self._archive().digest
        self._start(self.arguments(digest), self._on_output, self._on_end, CONNECT_SECONDS)
        if self._program is not None and self._host.get("command"):
            # Nothing lies between us and this one, so it need not greet.
            self._on_greeting()

    def arguments(self, digest: str) -> list[str]:
        """The program that connects."""
        return connect_arguments(self._host, digest)

    def _start(
        self,
        arguments: list[str],
        on_output: Callable[[bytes], None],
        on_end: Callable[[int | None, bytes], None],
        seconds: float,
        stdin: int | None = None,
    ) -> None:
        self._stop_timer()
        try:
            self._program = Program(
                self._loop,
                arguments,
                env=self._env(),
                on_output=on_output,
                on_end=on_end,
                stdin=stdin,
            )
        except OSError as error:
            self._retry(not_startable(error, arguments[0]))
            return
        self._program.on_written = self._on_written
        self._timer = self._loop.call_later(seconds, self._program.give_up)

    def send(self, frame: Mapping[str, object]) -> bool:
        """Say something; whether there is anybody to say it to."""
        if self._program is None or not self._program.is_open or not self.is_connected:
            return False
        self._program.write(json.dumps(frame, separators=(",", ":")).encode() + b"\n")
        return True

    @property
    def backlog(self) -> int:
        """How many bytes have yet to be written."""
        return 0 if self._program is None else self._program.backlog

    def when_room(self, callback: Callable[[], object]) -> None:
        """Call back once, when the backlog is small; never, if the connection ends before."""
        self._waiting.append(callback)
        if self.backlog < ROOM:
            self._loop.call_soon(self._on_written)

    def _on_written(self) -> None:
        while self._waiting and self.backlog < ROOM and self.is_connected:
            self._waiting.pop(0)()

    def settle(self) -> None:
        """The host has answered properly: it may now be silent for as long as its lease lasts."""
        self._stop_timer()

    def hurry(self) -> None:
        """Connect now, if that was to happen later."""
        if self._program is None and not self._closed:
            self.open()

    def drop(self) -> None:
        """Give this connection up and make another."""
        if self._program is not None:
            self._program.give_up()

    def close(self) -> None:
        """Connect no more."""
        self._closed = True
        self._stop_timer()
        program, self._program = self._program, None
        self.is_connected = False
        if program is not None:
            program.close()

    def _on_greeting(self) -> None:
        self.is_connected = True
        self._listener.on_connected()

    def _on_output(self, data: bytes) -> None:
        self._received += data
        if b"\n" not in data:
            if len(self._received) > LONGEST_LINE:
                self.drop()
            return
        *lines, rest = bytes(self._received).split(b"\n")
        self._received = bytearray(rest)
        for line in lines:
            if self._closed:
                return
            self._on_line(line)

    def _on_line(self, line: bytes) -> None:
        if not self.is_connected:
            # Before the greeting, the shell's start-up files may have had their say.
            if line.strip() == GREETING.encode():
                self._on_greeting()
            return
        try:
            frame = json.loads(line)
        except ValueError:
            frame = None
        if isinstance(frame, dict):
            self._listener.on_frame(frame)
        elif line.strip():
            os.write(2, b"%s: not a frame: %s\n" % (str(self._host["name"]).encode(), line[:200]))

    def _on_end(self, status: int | None, said: bytes) -> None:
        self._ended()
        if status == NO_AGENT and not self._tried_copy:
            self._tried_copy = True
            self._copy()
            return
        self._tried_copy = False
        self._retry(explain(self._host, status, said))

    def _copy(self) -> None:
        """Put the agent on the host."""
        archive = self._archive()
        file = os.open(archive.path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            size = os.fstat(file).st_size
            arguments = copy_arguments(self._host, archive.digest, size)
            self._start(arguments, lambda _data: None, self._on_copied, COPY_SECONDS, file)
        finally:
            os.close(file)

    def _on_copied(self, status: int | None, said: bytes) -> None:
        self._ended()
        if status == 0:
            self.open()
        else:
            self._tried_copy = False
            self._retry(explain(self._host, status, said))

    def _ended(self) -> None:
        self._stop_timer()
        self._program = None
        self.is_connected = False
        self._waiting.clear()

    def _retry(self, failure: Failure) -> None:
        if self._closed:
            return
        self._timer = self._loop.call_later(RETRY_SECONDS, self.open)
        self._listener.on_down(failure)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
