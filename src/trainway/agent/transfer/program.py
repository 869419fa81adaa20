"""A child with pipes, in the event loop: `ssh`, or what takes its place without a network."""

from __future__ import annotations

import os
import signal
import subprocess
from collections import deque
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import IO

    from trainway.agent.base.event_loop import EventLoop, Timer

READ_SIZE = 256 * 1024
KEPT_ERRORS = 16 * 1024
LOOK_SECONDS = 0.02
LAST_SECONDS = 1.0
LOOKS = 50
"""How often to look whether a program that closed its output has ended, before it is killed."""


class Program:
    """Runs until its output ends; then says how it ended."""

    def __init__(
        self,
        loop: EventLoop,
        arguments: Sequence[str],
        *,
        env: Mapping[str, str],
        on_output: Callable[[bytes], None],
        on_end: Callable[[int | None, bytes], None],
        stdin: int | None = None,
        cwd: str = "/",
    ) -> None:
        """Start it; OSError where that fails. Without `stdin` it is written to with `write`."""
        self._loop = loop
        self._on_output = on_output
        self._on_end = on_end
        self._errors = b""
        self._unsent: deque[memoryview] = deque()
        self.backlog = 0
        """How many bytes are still to be written."""
        self.on_written: Callable[[], object] | None = None
        self._given_up = False
        self._timer: Timer | None = None
        self._process = subprocess.Popen(  # noqa: S603 - a program of the pool's configuration
            list(arguments),
            stdin=subprocess.PIPE if stdin is None else stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            env=dict(env),
            cwd=cwd,
            start_new_session=True,
        )
        self._input = _number(self._process.stdin)
        self._output = _number(self._process.stdout)
        self._error_output = _number(self._process.stderr)
        for fd in (self._input, self._output, self._error_output):
            if fd >= 0:
                os.set_blocking(fd, False)
        loop.watch(self._output, on_readable=self._read)
        loop.watch(self._error_output, on_readable=self._read_errors)

    @property
    def is_open(self) -> bool:
        """Whether it can still be written to."""
        return self._input >= 0

    def write(self, data: bytes) -> None:
        """Write to its standard input, at its own pace."""
        if self._input < 0:
            return
        self._unsent.append(memoryview(data))
        self.backlog += len(data)
        if len(self._unsent) == 1:
            self._flush()

    def _flush(self) -> None:
        try:
            while self._unsent and self._input >= 0:
                data = self._unsent[0]
                count = os.write(self._input, data)
                self.backlog -= count
                if count == len(data):
                    self._unsent.popleft()
                else:
                    self._unsent[0] = data[count:]
        except BlockingIOError:
            pass
        except OSError:
            self._close_input()
            return
        if self._input >= 0:
            self._loop.watch(self._input, on_writable=self._flush if self._unsent else None)
        if self.on_written is not None:
            self.on_written()

    def _read(self) -> None:
        try:
            data = os.read(self._output, READ_SIZE)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            self._on_output(data)
            return
        self._end()

    def _read_errors(self) -> None:
        """A background process may hold this pipe open for ever, so its end means nothing."""
        if self._error_output < 0:
            return
        try:
            data = os.read(self._error_output, READ_SIZE)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            self._errors = (self._errors + data)[-KEPT_ERRORS:]
        else:
            self._loop.forget(self._error_output)

    def give_up(self) -> None:
        """Kill it; its end is reported as usual, without a status."""
        self._given_up = True
        self._kill()
        self._end()

    def close(self) -> None:
        """End it, and say nothing more about it."""
        self._on_output = _ignore_output
        self._on_end = _ignore_end
        self.give_up()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(LAST_SECONDS)

    def _kill(self) -> None:
        # It has not been waited for, so the number is its own.
        if self._process.returncode is None:
            with suppress(OSError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def _end(self) -> None:
        """Let go of its pipes, and wait for it."""
        if self._output < 0:
            return
        self._read_errors()
        self._close_input()
        for fd in (self._output, self._error_output):
            self._loop.forget(fd)
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()
        self._output = self._error_output = -1
        self._wait(LOOKS)

    def _close_input(self) -> None:
        if self._input >= 0:
            self._loop.forget(self._input)
            self._input = -1
            self._unsent.clear()
            self.backlog = 0
            if self._process.stdin is not None:
                self._process.stdin.close()

    def _wait(self, looks: int) -> None:
        status = self._process.poll()
        if status is None:
            if not looks:
                self._kill()
            self._loop.call_later(LOOK_SECONDS, lambda: self._wait(max(0, looks - 1)))
            return
        self._on_end(None if self._given_up else status, self._errors)


def _number(pipe: IO[bytes] | None) -> int:
    return -1 if pipe is None else pipe.fileno()


def _ignore_output(_data: bytes) -> None:
    """What it says does not matter any more."""


def _ignore_end(_status: int | None, _errors: bytes) -> None:
    """Nor how it ends."""
