"""Windows of a job's logs, wherever in them, for those who do not read them from end to end.

Logs of many gigabytes are looked at some hundred lines at a time. Where a window begins and ends
is a cursor, so that windows join without a gap, forwards and backwards. Lines have a time and files
are in its order, so any place is found by bisection: there is no index to make, keep or mistrust.
"""

import heapq
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple

from trainway.backends.logs.cursor import Cursor
from trainway.backends.logs.files import (
    LogFile,
    backwards,
    beginning_at,
    is_begun,
    lines,
    log_files,
    offset_of_time,
    parts_of,
    time_at,
    time_text,
    whole_size,
)

TEXT_LIMIT: Final = 4096
"""How many bytes are shown of one line."""
MOST_LINES: Final = 2_000
_MOST_BYTES: Final = 4 << 20
"""How many bytes of files a window may have; one line more may be in it."""
_CHUNK: Final = 1 << 16
_PLACED: Final = 16
"""How many files, the largest ones, decide at which time a part of the bytes is passed."""
_ROUNDS: Final = 40
_LAST: Final = b"~"
"""A time that is later than any other."""

Offsets = Mapping[str, int]
"""How far each file is read, by its name."""


class WindowLine(NamedTuple):
    """A line of a file."""

    file: LogFile
    begin: int
    end: int
    time: str
    stream: str
    text: bytes
    """No more of it than is shown."""
    length: int
    """How many bytes it has in all."""
    is_part: bool
    """Whether the next line of the same stream goes on with it."""


@dataclass(frozen=True)
class LogSelection:
    """Which logs of a job."""

    role: str | None = None
    job: int | None = None
    rank: int | None = None
    attempt: int | None = None
    """None: the newest one."""
    all_attempts: bool = False

    def files(self, folder: Path) -> list[LogFile]:
        """The logs that are there."""
        found = log_files(folder)
        newest = found[-1].attempt if found else 0
        attempt = newest if self.attempt is None else self.attempt
        return [
            file
            for file in found
            if (self.all_attempts or file.attempt == attempt)
            and self.role in (None, file.role)
            and self.job in (None, file.job)
            and self.rank in (None, file.rank)
        ]


@dataclass(frozen=True)
class LogWindow:
    """Some lines in the order of time, and where they are in all of them."""

    lines: list[WindowLine]
    start: str
    end: str
    before: int
    """How many bytes there are before the first one."""
    behind: int
    """How many bytes there are before the end of the last one."""
    size: int
    """How many bytes there are in all."""


class LogWindows:
    """Windows of the selected logs, as long as they are now."""

    def __init__(
        self, folder: Path, selection: LogSelection, text_limit: int | None = TEXT_LIMIT
    ) -> None:
        self._text_limit = text_limit
        self._files = selection.files(folder)
        self._sizes = {file.name: whole_size(file) for file in self._files}

    def forwards(self, start: Offsets, count: int) -> LogWindow:
        """The lines that follow a place."""
        begins = self._within(start)
        ends = dict(begins)
        found: list[WindowLine] = []
        size = 0
        for line in self._merged(begins, self._sizes):
            if len(found) >= count or size >= _MOST_BYTES:
                break
            found.append(line)
            size += line.end - line.begin
            ends[line.file.name] = line.end
        return self._window(found, begins, ends)

    def backwards(self, end: Offsets, count: int) -> LogWindow:
        """The lines before a place."""
        ends = self._within(end)
        begins = dict(ends)
        sources = [
            self._backwards(order, file, ends[file.name]) for order, file in enumerate(self._files)
        ]
        size = 0
        for number, (_, order, offset) in enumerate(heapq.merge(*sources, reverse=True)):
            if number >= count or size >= _MOST_BYTES:
                break
            name = self._files[order].name
            size += begins[name] - offset
            begins[name] = offset
        return self._window(list(self._merged(begins, ends)), begins, ends)

    def around(self, name: str, offset: int, count: int) -> LogWindow:
        """The lines before and behind a line of a file, and that one."""
        file = next((each for each in self._files if each.name == name), None)
        if file is None:
            return self.backwards(self._sizes, count)
        place = {**self.at_time(time_at(file, offset)), name: offset}
        before = self.backwards(place, count // 2)
        behind = self.forwards(place, count - len(before.lines))
        return LogWindow(
            before.lines + behind.lines,
            before.start,
            behind.end,
            before.before,
            behind.behind,
            behind.size,
        )

    @property
    def ends(self) -> Offsets:
        """The place behind the last whole line."""
        return self._sizes

    def at_time(self, moment: bytes) -> Offsets:
        """The place before all lines that are not older."""
        return {file.name: offset_of_time(file, moment) for file in self._files}

    def at_share(self, share: float) -> Offsets:
        """The place that so much of the bytes is before, as nearly as lines and times allow."""
        if len(self._files) == 1:
            (file,) = self._files
            return {file.name: beginning_at(file, int(share * self._sizes[file.name]))}
        placed = heapq.nlargest(_PLACED, self._files, key=lambda file: self._sizes[file.name])
        wanted = share * sum(self._sizes[file.name] for file in placed)
        times = [moment for file in placed for moment in _span(file)]
        if not times:
            return {}
        low, high = min(times), max(times)
        for _ in range(_ROUNDS):
            middle = low + (high - low) / 2
            if middle in (low, high):
                break
            passed = sum(offset_of_time(file, time_text(middle)) for file in placed)
            low, high = (middle, high) if passed < wanted else (low, middle)
        return self.at_time(time_text(high if share else low))

    def offsets(self, cursor: Cursor) -> Offsets:
        """The place that a cursor means."""
        return {file.name: cursor.offset(file.name) for file in self._files}

    def _within(self, offsets: Offsets) -> dict[str, int]:
        return {name: min(offsets.get(name, 0), size) for name, size in self._sizes.items()}

    def _merged(self, begins: Offsets, ends: Offsets) -> Iterator[WindowLine]:
        sources = [
            _entries(order, file, (begins[file.name], ends[file.name]), self._text_limit)
            for order, file in enumerate(self._files)
        ]
        for _, _, _, line in heapq.merge(*sources):
            yield line

    def _backwards(self, order: int, file: LogFile, end: int) -> Iterator[tuple[bytes, int, int]]:
        latest = _LAST
        for time, offset in backwards(file, end=end):
            latest = min(latest, time or latest)
            yield latest, order, offset

    def _window(self, found: list[WindowLine], begins: Offsets, ends: Offsets) -> LogWindow:
        return LogWindow(
            found,
            Cursor(0, begins).text(),
            Cursor(0, ends).text(),
            sum(begins.values()),
            sum(ends.values()),
            sum(self._sizes.values()),
        )


def all_lines(folder: Path, selection: LogSelection) -> Iterator[list[WindowLine]]:
    """All lines in full, in the order of time, some at a time."""
    windows = LogWindows(folder, selection, text_limit=None)
    window = windows.forwards({}, MOST_LINES)
    while window.lines:
        yield window.lines
        window = windows.forwards(windows.offsets(Cursor.parse(window.end)), MOST_LINES)


def _entries(
    order: int, file: LogFile, bounds: tuple[int, int], text_limit: int | None
) -> Iterator[tuple[bytes, int, int, WindowLine]]:
    latest, time, stream, is_whole, begin = b"", b"", "", True, bounds[0]
    for line in lines(file, *bounds, _CHUNK):
        text = line.data
        if is_whole:
            time, stream, text = parts_of(line.data)
        is_part = not line.is_whole or (is_whole and is_begun(line.data))
        is_whole = line.is_whole
        latest = max(latest, time)
        shown = WindowLine(
            file, begin, line.end, time.decode("ascii"), stream,
            text[:text_limit], len(text), is_part,
        )  # fmt: skip
        yield latest, order, line.end, shown
        begin = line.end


def _span(file: LogFile) -> Iterator[datetime]:
    """When the first line was written, and just after the last one."""
    first = _moment(time_at(file, 0))
    last = next((_moment(time) for time, _ in backwards(file)), None)
    if first is not None:
        yield first
    if last is not None:
        yield last + timedelta(microseconds=1)


def _moment(time: bytes) -> datetime | None:
    try:
        return datetime.fromisoformat(time.decode("ascii")).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
