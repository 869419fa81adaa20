"""The log file of a container: every line with its time and the stream it came from.

    2026-11-15T05:10:00.123456Z o first line of standard output

Only whole lines are written, so that those of the two streams may alternate but never mix: an
unfinished line waits in memory until it is finished or too long to keep. A line of more than 64 KiB
becomes several; `long_lines` has how they are marked. A line that is drawn over and over with
carriage returns, as progress bars do, is written about once a second as it stands. What the disk
has no room for is dropped and counted, and so is what exceeds the job's limit: neither must hurt
the job.
"""

from __future__ import annotations

import os
import time

from trainway.agent.base.clock import rfc3339
from trainway.agent.base.log_limit import LogLimit
from trainway.agent.kubelet.long_lines import LINE_LIMIT, end_of_part, parts_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

STDOUT, STDERR = b"o", b"e"
REDRAW_SECONDS = 1.0
UNLIMITED = 1 << 62


class _Line:
    """The line that a stream has begun."""

    def __init__(self) -> None:
        self.text = bytearray()
        self.drawn = 0
        """The length of what was drawn over already."""
        self.written_at = 0.0
        """When a line that is drawn over was last written."""

    def add(self, data: bytes) -> None:
        """Go on with it."""
        begin = max(0, len(self.text) - 1)
        self.text += data
        # A carriage return at the very end may be the beginning of a line's end.
        self.drawn = self.text.rfind(b"\r", begin, len(self.text) - 1) + 1 or self.drawn

    def take(self, length: int) -> bytes:
        """The first so many bytes of it, which it loses."""
        taken = bytes(self.text[:length])
        del self.text[:length]
        self.drawn = max(0, self.drawn - length)
        return taken


class LogWriter:
    """Writes one container's output."""

    def __init__(
        self,
        fd: int,
        on_drop: Callable[[OSError], None],
        now: Callable[[], float] = time.time,
        limit: LogLimit | None = None,
    ) -> None:
        self._fd = fd
        self._on_drop = on_drop
        self._now = now
        self._limit = limit or LogLimit(UNLIMITED)
        self._lines = {STDOUT: _Line(), STDERR: _Line()}
        size = os.fstat(fd).st_size
        self._whole = not size or os.pread(fd, 1, size - 1) == b"\n"
        """Whether the file ends with a whole line."""
        self._is_full = False
        """Whether the limit was reached and the file says so."""
        self._is_drop_told = False
        self.dropped = 0
        """How many bytes did not get into the file."""

    def feed(self, stream: bytes, data: bytes) -> None:
        """Take what a stream gave."""
        line = self._lines[stream]
        cut = data.rfind(b"\n") + 1
        if cut:
            line.add(data[:cut])
            self._write(self._stamped(stream, line.take(len(line.text))))
        line.add(data[cut:])
        self._write_redrawn(stream, line)
        self._write_parts(stream, line)

    def finish(self, stream: bytes) -> None:
        """Complete the last line of a stream that ended."""
        line = self._lines[stream]
        if line.text:
            self._write(self._stamped(stream, line.take(len(line.text)) + b"\n"))

    def close(self) -> None:
        """Complete both streams and close the file."""
        for stream in (STDOUT, STDERR):
            self.finish(stream)
        os.close(self._fd)

    def _write_redrawn(self, stream: bytes, line: _Line) -> None:
        """Write a line that is being redrawn as it stands; what follows is left over."""
        if not line.drawn or self._now() - line.written_at < REDRAW_SECONDS:
            return
        if line.written_at:
            self._write(self._stamped(stream, line.take(line.drawn) + b"\n"))
        line.written_at = self._now()

    def _write_parts(self, stream: bytes, line: _Line) -> None:
        """Write what is too long to wait; something of it always waits for the line's end."""
        made = []
        while len(line.text) > LINE_LIMIT:
            made.append(line.take(end_of_part(line.text, LINE_LIMIT)))
        if made:
            prefix = self._prefix(stream.upper())
            self._write(b"".join(prefix + part + b"\n" for part in made))

    def _stamped(self, stream: bytes, lines: bytes) -> bytes:
        prefix = self._prefix(stream)
        if len(lines) <= LINE_LIMIT:
            return prefix + lines[:-1].replace(b"\n", b"\n" + prefix) + b"\n"
        made = []
        for line in lines[:-1].split(b"\n"):
            *begun, last = parts_of(line, LINE_LIMIT)
            made += [self._prefix(stream.upper()) + part for part in begun]
            made.append(prefix + last)
        return b"\n".join(made) + b"\n"

    def _prefix(self, stream: bytes) -> bytes:
        return rfc3339(self._now()).encode() + b" " + stream + b" "

    def _write(self, lines: bytes) -> None:
        """Append to the file what the job may still write."""
        fitting = b"" if self._is_full else self._limit.fitting(lines)
        self._append(fitting)
        if len(fitting) < len(lines):
            self.dropped += len(lines) - len(fitting)
            if not self._is_full:
                self._is_full = True
                self._append(self._limit.notice(self._now()))

    def _append(self, data: bytes) -> None:
        if data and not self._whole:
            data = b"\n" + data
        view = memoryview(data)
        while view:
            try:
                count = os.write(self._fd, view)
            except OSError as error:
                self._drop(len(view), error)
                return
            self._limit.spend(count)
            self._whole = view[count - 1] == 10
            view = view[count:]

    def _drop(self, count: int, error: OSError) -> None:
        if not self._is_drop_told:
            self._is_drop_told = True
            self._on_drop(error)
        self.dropped += count
