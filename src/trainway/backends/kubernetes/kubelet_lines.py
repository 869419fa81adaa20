"""The lines of a container as a kubelet sends them, made into those of our files. Pure.

A kubelet puts the time before each line, to the nanosecond and in the time zone of its node. It
does not say whether a line went to stdout or stderr. Lines of any length come whole, however its
container runtime has cut them.

A line that is longer than what one would keep in memory, or that is drawn over and over with
carriage returns as progress bars do, is cut. It is cut at the same places however the network cuts
it, so that lines that come again can be told from new ones.
"""

import re
from datetime import datetime
from typing import Final, NamedTuple

from trainway.backends.logs.files import time_text

LONGEST: Final = 1 << 20
REDRAWN: Final = 4096
"""From here on a line is cut behind a carriage return."""

_STAMP: Final = re.compile(
    rb"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)) ", re.ASCII
)
_LONGEST_STAMP: Final = 36


class Entry(NamedTuple):
    """A line."""

    time: bytes
    """As in our files."""
    text: bytes

    def line(self) -> bytes:
        """As it stands in a file, without its end."""
        return self.time + b" o " + self.text


class KubeletLines:
    """Takes pieces of an answer, gives the lines that are complete."""

    def __init__(self) -> None:
        self._pending = b""
        self._time = b""
        """Of the unfinished line, once the first part of it was given away."""

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
            return []
        time, text = first
        found = []
        begin = 0
        while (end := _end_of_part(text, begin)) is not None:
            found.append(Entry(time, text[begin:end]))
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
    return begin + LONGEST if len(text) - begin > LONGEST else None
