"""The lines of a container as a kubelet sends them, made into those of our files. Pure.

A kubelet puts the time before each line, to the nanosecond and in the time zone of its node. It
does not say whether a line went to stdout or stderr. Container runtimes cut lines at 16 KiB, but
the kubelet joins what belongs together: lines of any length come whole.

A line that is longer than one of our files may be, or that is drawn over and over with carriage
returns as progress bars do, is cut. It is cut at the same places however the network cuts it, so
that lines that come again can be told from new ones, and never in a piece of a function's value.
"""

import re
from datetime import datetime
from typing import Final, NamedTuple

from trainway.agent.kubelet.long_lines import LINE_LIMIT, end_of_part
from trainway.backends.logs.files import time_text
from trainway.backends.logs.results import MARK

LONGEST: Final = LINE_LIMIT
REDRAWN: Final = 4096
"""The length from which on a line is cut behind a carriage return."""

_STAMP: Final = re.compile(
    rb"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)) ", re.ASCII
)
_LONGEST_STAMP: Final = 36


class Entry(NamedTuple):
    """A line."""

    time: bytes
    """The time, as our files have it."""
    text: bytes
    is_part: bool = False
    """Whether the next entry goes on with the line, which was too long."""

    def line(self) -> bytes:
        """As it stands in a file, without its end."""
        return self.time + (b" O " if self.is_part else b" o ") + self.text


class KubeletLines:
    """Takes pieces of an answer, gives the lines that are complete."""

    def __init__(self) -> None:
        self._pending = b""
        self._time = b""
        """The time of the unfinished line, once the first part of it was given away."""

    def feed(self, piece: bytes) -> list[Entry]:
        """The lines that ended in this piece; what has no time is no line of a container."""
        *whole, rest = piece.split(b"\n")
        found: list[Entry] = []
        for line in whole:
            self._pending += line
            found += self._finished()
        self._pending += rest
        if len(self._pending) > REDRAWN:
            found += self._cut()
        return found

    def rest(self) -> list[Entry]:
        """The last line, where it was not ended."""
        return self._finished() if self._pending else []

    def _finished(self) -> list[Entry]:
        found = self._cut() if len(self._pending) > REDRAWN else []
        entry = self._entry(self._pending)
        self._pending, self._time = b"", b""
        return [*found, entry] if entry is not None else found

    def _entry(self, line: bytes) -> Entry | None:
        return Entry(self._time, line) if self._time else entry_of(line)

    def _cut(self) -> list[Entry]:
        """The parts of a long line that can be given away already."""
        first = self._entry(self._pending)
        if first is None:
            self._pending = self._pending[:_LONGEST_STAMP]  # enough to see that it is no line
            return []
        time, text = first.time, first.text
        found = []
        begin = 0
        while (end := _end_of_part(text, begin)) is not None:
            found.append(Entry(time, text[begin:end], is_part=text[end - 1 : end] != b"\r"))
            begin = end
        if found:
            self._time, self._pending = time, text[begin:]
        return found


def entry_of(line: bytes) -> Entry | None:
    """A whole line; None: it does not begin with a time."""
    if line[29:31] == b"Z " and line[19:20] == b"." and line[10:11] == b"T":
        return Entry(line[:26] + b"Z", line[31:])
    match = _STAMP.match(line[:_LONGEST_STAMP])
    if match is None:
        return None
    moment = datetime.fromisoformat(match[1].decode("ascii"))
    return Entry(time_text(moment), line[match.end() :])


def _end_of_part(text: bytes, begin: int) -> int | None:
    """Where a part of a long line ends; None: what there is may be all of it."""
    drawn = text.find(b"\r", begin + REDRAWN, min(begin + LONGEST, len(text) - 1))
    if drawn >= 0:
        return drawn + 1
    if len(text) - begin <= LONGEST:
        return None
    value = text.rfind(MARK[:1], begin + 1, begin + LONGEST)
    if value >= 0 and text.startswith(MARK[: begin + LONGEST - value], value):
        return value
    return begin + end_of_part(memoryview(text)[begin : begin + LONGEST + 1], LONGEST)
