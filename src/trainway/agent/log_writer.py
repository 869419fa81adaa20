"""The log file of a container: every line with its time and the stream it came from.

    2026-11-15T05:10:00.123456Z o first line of standard output

Lines of the two streams may alternate but never mix: an unfinished line waits in memory until it is
finished or too long to keep; then it is written as it comes, and the other stream waits. A line
that is drawn over and over with carriage returns, as progress bars do, is written about once a
second as it stands. What the disk has no room for is dropped and counted: a full disk must not
hurt the job.
"""

from __future__ import annotations

import os
import time

from trainway.agent.clock import rfc3339

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

STDOUT, STDERR = b"o", b"e"
LINE_LIMIT = 64 * 1024
HELD_LIMIT = 1024 * 1024
REDRAW_SECONDS = 1.0


class LogWriter:
    """Writes one container's output."""

    def __init__(
        self,
        fd: int,
        on_drop: Callable[[OSError], None],
        now: Callable[[], float] = time.time,
    ) -> None:
        self._fd = fd
        self._on_drop = on_drop
        self._now = now
        self._unfinished = {STDOUT: b"", STDERR: b""}
        self._held = {STDOUT: b"", STDERR: b""}
        self._redrawn = {STDOUT: 0.0, STDERR: 0.0}
        self._open: bytes | None = None
        """The stream whose long line the file ends with."""
        size = os.fstat(fd).st_size
        self._whole = not size or os.pread(fd, 1, size - 1) == b"\n"
        """The file ends with a whole line."""
        self.dropped = 0
        """Bytes that did not get into the file."""

    def feed(self, stream: bytes, data: bytes) -> None:
        """Take what a stream gave."""
        self._release()
        if self._open == stream:
            data = self._continue(data)
            self._release()
        if not data:
            return
        if self._open not in (None, stream):
            self._held[stream] += data
            if len(self._held[stream]) <= HELD_LIMIT:
                return
            data = self._break_open_line(stream)
        self._feed_lines(stream, data)

    def finish(self, stream: bytes) -> None:
        """Complete the last line of a stream that ended."""
        self._release()
        waiting = self._held[stream] or self._unfinished[stream]
        if self._open not in (None, stream) and waiting:
            self._feed_lines(stream, self._break_open_line(stream))
        rest, self._unfinished[stream] = self._unfinished[stream], b""
        if self._open == stream:
            self._write(b"\n")
            self._open = None
        elif rest:
            self._write(self._stamped(stream, rest + b"\n"))
        self._release()

    def close(self) -> None:
        """Complete both streams and close the file."""
        for stream in (STDOUT, STDERR):
            self.finish(stream)
        os.close(self._fd)

    def _feed_lines(self, stream: bytes, data: bytes) -> None:
        cut = data.rfind(b"\n") + 1
        rest = self._unfinished[stream]
        if cut:
            self._write(self._stamped(stream, rest + data[:cut]))
            rest = data[cut:]
        else:
            rest += data
        rest = self._write_redrawn(stream, rest)
        if len(rest) > LINE_LIMIT:
            self._open = stream if self._write(self._prefix(stream) + rest) else None
            rest = b""
        self._unfinished[stream] = rest

    def _write_redrawn(self, stream: bytes, rest: bytes) -> bytes:
        """Write a line that is being redrawn as it stands; what follows is left over."""
        cut = rest.rfind(b"\r", 0, -1) + 1
        if not cut or self._now() - self._redrawn[stream] < REDRAW_SECONDS:
            return rest
        if self._redrawn[stream]:
            self._write(self._stamped(stream, rest[:cut] + b"\n"))
            rest = rest[cut:]
        self._redrawn[stream] = self._now()
        return rest

    def _continue(self, data: bytes) -> bytes:
        """Go on with the line that the file ends with; what follows it is left over."""
        cut = data.find(b"\n") + 1
        if not cut:
            self._write(data)
            return b""
        self._write(data[:cut])
        self._open = None
        return data[cut:]

    def _break_open_line(self, stream: bytes) -> bytes:
        """End the long line of the other stream, and give back what was held for this one."""
        self._write(b"\n")
        self._open = None
        held, self._held[stream] = self._held[stream], b""
        return held

    def _release(self) -> None:
        """Write what was held, unless a line is still open."""
        for stream, data in self._held.items():
            if data and self._open is None:
                self._held[stream] = b""
                self._feed_lines(stream, data)

    def _stamped(self, stream: bytes, lines: bytes) -> bytes:
        prefix = self._prefix(stream)
        return prefix + lines[:-1].replace(b"\n", b"\n" + prefix) + b"\n"

    def _prefix(self, stream: bytes) -> bytes:
        return rfc3339(self._now()).encode() + b" " + stream + b" "

    def _write(self, data: bytes) -> bool:
        """Append to the file; whether there was room for all of it."""
        if not self._whole and self._open is None:
            data = b"\n" + data
        view = memoryview(data)
        while view:
            try:
                count = os.write(self._fd, view)
            except OSError as error:
                self._drop(len(view), error)
                return False
            self._whole = view[count - 1] == 10
            view = view[count:]
        return True

    def _drop(self, count: int, error: OSError) -> None:
        if not self.dropped:
            self._on_drop(error)
        self.dropped += count
        self._open = None
