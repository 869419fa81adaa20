"""Looks for a text in the logs of a job, a bounded part of them at a time.

One answer takes a fraction of a second however large the logs are: it says where it stopped, and
whoever wants to know more asks again from there. Upper and lower case of ASCII letters are alike.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from trainway.backends import job_file
from trainway.backends.logs.files import LogFile, parts_of, whole_size
from trainway.backends.logs.window import LogSelection
from trainway.errors import UsageError

MOST_FOUND: Final = 200
LONGEST_TEXT: Final = 200
_CHUNK: Final = 1 << 20
_TIME_S: Final = 0.4
_SHOWN_BEFORE: Final = 60
_SHOWN: Final = 200
_PREFIX: Final = 128
"""How many bytes of the beginning of a line tell when it was written."""


class Match(NamedTuple):
    """A line that has the text in it."""

    file: LogFile
    offset: int
    """Where the line begins."""
    time: str
    text: bytes
    """What is around the place."""


@dataclass(frozen=True)
class SearchResult:
    """What was found."""

    matches: list[Match]
    next: str | None
    """Where to go on; None: all was looked at."""
    searched: int
    """How many bytes there are before that place."""
    size: int


def search(
    folder: Path,
    selection: LogSelection,
    text: str,
    after: str = "",
    clock: Callable[[], float] = time.monotonic,
) -> SearchResult:
    """The next lines with a text, file by file from where an earlier search stopped."""
    wanted = text.encode().lower()
    deadline = clock() + _TIME_S
    files = selection.files(folder)
    sizes = {file.name: whole_size(file) for file in files}
    name, begin = _place(after)
    skipped = next((index for index, file in enumerate(files) if file.name == name), 0)
    passed = sum(sizes[file.name] for file in files[:skipped])
    found: list[Match] = []
    for file in files[skipped:]:
        start = begin if file.name == name else 0
        for place, match in _matches(file, start, sizes[file.name], wanted):
            if match is not None:
                found.append(match)
            if len(found) >= MOST_FOUND or clock() >= deadline:
                total = sum(sizes.values())
                return SearchResult(found, f"{file.name}:{place}", passed + place, total)
        passed += sizes[file.name]
    return SearchResult(found, None, passed, passed)


def _place(after: str) -> tuple[str, int]:
    name, _, offset = after.rpartition(":")
    if after and not (name and offset.isascii() and offset.isdecimal() and len(offset) < 19):
        raise UsageError(f"not a place in a log: {after[:40]!r}", field="after")
    return name, int(offset or 0)


def _matches(
    file: LogFile, start: int, end: int, wanted: bytes
) -> Iterator[tuple[int, Match | None]]:
    """Each line with the text and the place behind it; without one, how far all was looked at."""
    position = start
    while position < end:
        data = job_file.read_at(file.root, file.path, position, min(_CHUNK, end - position))
        if not data:
            return
        whole = data.rfind(b"\n") + 1
        # A line that is longer than a chunk, of the job's own making, is looked at in pieces.
        data = data[:whole] if whole else data
        lowered = data.lower()
        place = lowered.find(wanted)
        while place >= 0:
            line_begin = data.rfind(b"\n", 0, place) + 1
            line_end = data.find(b"\n", place)
            line_end = len(data) if line_end < 0 else line_end
            match = _match(file, position, data, line_begin, place, line_end)
            if match is not None:
                yield position + min(line_end + 1, len(data)), match
                place = lowered.find(wanted, line_end)
            else:
                place = lowered.find(wanted, place + 1)
        position += len(data)
        yield position, None


def _match(
    file: LogFile, position: int, data: bytes, begin: int, place: int, end: int
) -> Match | None:
    """The line; None, where the text is only in what stands before each line."""
    head, _, _ = parts_of(data[begin : min(end, begin + _PREFIX)])
    written = begin + (len(head) + 3 if head else 0)
    if place < written:
        return None
    first = max(written, place - _SHOWN_BEFORE)
    return Match(
        file, position + begin, head.decode("ascii"), data[first : min(end, first + _SHOWN)]
    )
