"""The logs of all pods of a job as one stream, in the order of time, that can be taken up again.

What is there already is merged by time. What comes later is passed on as it comes: to wait for a
line of another pod that might be older would hold back every line.
"""

import asyncio
import heapq
from collections.abc import AsyncIterator, Iterator
from datetime import datetime
from itertools import chain, islice
from pathlib import Path
from typing import Final

from trainway.backends.base import LogLine, LogQuery
from trainway.backends.logs.cursor import Cursor
from trainway.backends.logs.files import (
    LogFile,
    last_lines,
    lines,
    log_files,
    offset_of_time,
    parts_of,
    time_text,
)
from trainway.backends.logs.inotify import DirectoryChanges

_BATCH: Final = 1_000
"""Lines that are handed on together."""

_Entry = tuple[bytes, int, int, bytes, str, bytes, LogFile]
"""A line of a file, in the order in which it is shown: by time, then file, then place."""


async def stream_logs(
    folder: Path, query: LogQuery, ended: asyncio.Event
) -> AsyncIterator[list[LogLine]]:
    """Lines in batches; with `follow` until the job has ended."""
    with DirectoryChanges(folder) as changes:
        reader = await asyncio.to_thread(LogReader, folder, query)
        while True:
            # Asked before reading: what is written before the end must not be missed.
            is_over = ended.is_set() or not query.follow
            batches = reader.unread()
            while batch := await asyncio.to_thread(next, batches, None):
                yield batch
            if is_over:
                return
            await changes.wait(stop=ended)


class LogReader:
    """Reads the selected logs of a job, each line once."""

    def __init__(self, folder: Path, query: LogQuery) -> None:
        self._folder = folder
        self._query = query
        if query.cursor:
            self._cursor = Cursor.parse(query.cursor)
        else:
            self._cursor = self._beginning()

    def unread(self) -> Iterator[list[LogLine]]:
        """What was written since the last call, merged by time."""
        sources = [self._entries(order, file) for order, file in enumerate(self._files())]
        merged = heapq.merge(*sources) if len(sources) > 1 else chain(*sources)
        made = (self._line(entry) for entry in merged)
        while batch := list(islice(made, _BATCH)):
            yield batch

    def _entries(self, order: int, file: LogFile) -> Iterator[_Entry]:
        latest = b""
        for line, end in lines(file, self._cursor.offset(file.name), file.size()):
            time, stream, text = parts_of(line)
            # A line without a time of its own stays behind the one before it.
            latest = max(latest, time)
            yield latest, order, end, time, stream, text, file

    def _line(self, entry: _Entry) -> LogLine:
        _, _, end, time, stream, text, file = entry
        self._cursor.advance(file.name, end)
        return LogLine(
            time.decode("ascii"),
            file.role,
            file.job,
            file.rank,
            file.container,
            file.attempt,
            stream,
            text,
            self._cursor.text(),
        )

    def _files(self) -> list[LogFile]:
        """The logs asked for, from the first attempt that counts."""
        query, first = self._query, self._cursor.first_attempt
        return [
            file
            for file in log_files(self._folder)
            if query.role in (None, file.role)
            and query.rank in (None, file.rank)
            and file.attempt >= first
        ]

    def _beginning(self) -> Cursor:
        found = log_files(self._folder)
        newest = found[-1].attempt if found else 0
        self._cursor = Cursor(0 if self._query.all_attempts else newest)
        starts: dict[str, int] = {}
        if self._query.since is not None:
            starts = self._since(self._query.since)
        if self._query.tail is not None:
            for name, offset in self._tail(self._query.tail).items():
                starts[name] = max(offset, starts.get(name, 0))
        return Cursor(self._cursor.first_attempt, starts)

    def _since(self, moment: datetime) -> dict[str, int]:
        return {file.name: offset_of_time(file, time_text(moment)) for file in self._files()}

    def _tail(self, count: int) -> dict[str, int]:
        """Where to begin in each file so that so many lines remain in all."""
        files = self._files()
        starts: dict[str, int] = {}
        found = []
        for order, file in enumerate(files):
            last, starts[file.name] = last_lines(file, count)
            found += [(time, order, offset) for time, offset in last]
        for _, order, offset in sorted(found)[max(0, len(found) - count) :]:
            name = files[order].name
            starts[name] = min(starts[name], offset)
        return starts
