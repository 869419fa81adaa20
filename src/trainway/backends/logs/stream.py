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
from trainway.backends.job_threads import job_threads
from trainway.backends.logs.cursor import Cursor
from trainway.backends.logs.files import (
    LogFile,
    backwards,
    is_begun,
    lines,
    log_files,
    offset_of_time,
    parts_of,
    time_text,
    whole_size,
)
from trainway.backends.logs.inotify import DirectoryChanges

_BATCH: Final = 1_000
"""How many lines are handed on together."""
_BATCH_BYTES: Final = 1 << 20
"""How many bytes they may have in all; one line more may be in it."""
_READ_BYTES: Final = 1 << 24
"""How many bytes are read ahead of all files together, as far as there are not too many."""
_CHUNKS: Final = (1 << 16, 1 << 20)
"""The least and the most that is read of one file at a time, in bytes."""
_BLOCKS: Final = (1 << 12, 1 << 16)
"""The least and the most that is read of one file at a time backwards, in bytes."""

_LAST: Final = b"~"
"""A time that is later than any other."""

_Entry = tuple[bytes, int, int, bytes, str, bytes, bool, LogFile]
"""A line of a file, in the order in which it is shown: by time, then file, then place."""


async def stream_logs(
    folder: Path, query: LogQuery, ended: asyncio.Event
) -> AsyncIterator[list[LogLine]]:
    """Lines in batches; with `follow` until the job has ended."""
    with DirectoryChanges(folder) as changes:
        reader = await job_threads.run(LogReader, folder, query)
        while True:
            # Asked before reading: what is written before the end must not be missed.
            is_over = ended.is_set() or not query.follow
            batches = reader.unread()
            while batch := await job_threads.run(next, batches, None):
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
        files = self._files()
        chunk = _share(_CHUNKS, len(files))
        sources = [self._entries(order, file, chunk) for order, file in enumerate(files)]
        merged = heapq.merge(*sources) if len(sources) > 1 else chain(*sources)
        batch: list[LogLine] = []
        size = 0
        for entry in merged:
            line = self._line(entry)
            batch.append(line)
            size += len(line.text) + len(line.cursor)
            if len(batch) == _BATCH or size >= _BATCH_BYTES:
                yield batch
                batch, size = [], 0
        if batch:
            yield batch

    def _entries(self, order: int, file: LogFile, chunk: int) -> Iterator[_Entry]:
        latest, time, stream, is_whole = b"", b"", "", True
        for line in lines(file, self._cursor.offset(file.name), file.size(), chunk):
            text = line.data
            if is_whole:
                time, stream, text = parts_of(line.data)
            is_part = not line.is_whole or (is_whole and is_begun(line.data))
            is_whole = line.is_whole
            # A line without a time of its own stays behind the one before it.
            latest = max(latest, time)
            yield latest, order, line.end, time, stream, text, is_part, file

    def _line(self, entry: _Entry) -> LogLine:
        _, _, end, time, stream, text, is_part, file = entry
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
            is_part,
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
        starts = {file.name: whole_size(file) for file in files}
        block = _share(_BLOCKS, len(files))
        sources = [self._backwards(order, file, block) for order, file in enumerate(files)]
        for _, order, offset in islice(heapq.merge(*sources, reverse=True), count):
            starts[files[order].name] = offset
        return starts

    def _backwards(self, order: int, file: LogFile, block: int) -> Iterator[tuple[bytes, int, int]]:
        """The lines of a file, the last one first; one without a time has that of the next."""
        latest = _LAST
        for time, offset in backwards(file, block):
            latest = min(latest, time or latest)
            yield latest, order, offset


def _share(bounds: tuple[int, int], count: int) -> int:
    """How much of each of so many files is read at a time."""
    least, most = bounds
    return min(most, max(least, _READ_BYTES // max(1, count)))
