"""The journal of a job: one JSON object a line, only ever appended to.

Everything that others learn about a job they learn from here, and a new agent goes on from it. A
line that was cut off when its writer died is dropped. When the disk is full, lines wait in memory,
readers still get them, and they are written as soon as there is room.

`records` has the types of records and their fields.
"""

from __future__ import annotations

import json
import os
from array import array

from trainway.agent.base.clock import rfc3339
from trainway.agent.base.journal_reader import NAME, records_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from trainway.agent.base.directory import Directory
    from trainway.json_types import Json


class Journal:
    """Appends records, and hands out what was appended."""

    def __init__(self, directory: Directory, now: Callable[[], float]) -> None:
        self._now = now
        self._fd = directory.open_regular(NAME, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        size = os.fstat(self._fd).st_size
        self.records, self._written = records_in(os.pread(self._fd, size, 0)) if size else ([], 0)
        if self._written < size:
            os.ftruncate(self._fd, self._written)
        self._waiting = b""
        self._offsets = array("Q")
        self._first = 0
        self._seq = self.records[-1]["seq"] if self.records else -1
        self._listeners: list[Callable[[], None]] = []
        self._index(size)

    def _index(self, size: int) -> None:
        """Find where each line begins; lines that could not be read keep their place."""
        if not self.records:
            return
        self._first = int(self.records[0]["seq"])
        offset = 0
        for line in os.pread(self._fd, size, 0)[: self._written].splitlines(keepends=True):
            self._offsets.append(offset)
            offset += len(line)
        self._seq = max(self._seq, self._first + len(self._offsets) - 1)

    @property
    def is_removed(self) -> bool:
        """Whether somebody removed it, so that nobody will ever read it."""
        return os.fstat(self._fd).st_nlink == 0

    @property
    def end(self) -> int:
        """The length of the journal, with what is not on disk yet."""
        return self._written + len(self._waiting)

    def append(self, type_: str, fields: Mapping[str, object], *, durable: bool = False) -> int:
        """Add a record; a durable one is on disk before this returns, if there is room.

        Gives the record's number.
        """
        self._seq += 1
        record: Json = {"seq": self._seq, "time": rfc3339(self._now()), "type": type_}
        record.update(fields)
        line = json.dumps(record, separators=(",", ":"), ensure_ascii=True).encode() + b"\n"
        self._offsets.append(self.end)
        self._waiting += line
        self.flush()
        if durable:
            self._sync()
        for listener in self._listeners:
            listener()
        return self._seq

    def _sync(self) -> None:
        """Have the disk keep what was written; one that cannot has nothing to hold the job up."""
        try:
            os.fdatasync(self._fd)
        except OSError:
            return

    def flush(self) -> bool:
        """Write what waits; whether all of it could be written."""
        while self._waiting:
            try:
                count = os.write(self._fd, self._waiting)
            except OSError:
                return False
            self._written += count
            self._waiting = self._waiting[count:]
        return True

    def close(self) -> None:
        """Write what can be written, and let go of the file."""
        self.flush()
        os.close(self._fd)

    @property
    def last(self) -> int:
        """The number of the last record; -1 where there is none."""
        return self._seq

    def offset(self, seq: int) -> int:
        """Where the record of that number begins; the end where there is none yet."""
        place = max(0, seq - self._first)
        return self._offsets[place] if place < len(self._offsets) else self.end

    def read(self, offset: int, limit: int) -> bytes:
        """A part of the journal."""
        if offset < self._written:
            return os.pread(self._fd, min(limit, self._written - offset), offset)
        start = offset - self._written
        return self._waiting[start : start + limit]

    def subscribe(self, listener: Callable[[], None]) -> None:
        """Call back after each record."""
        self._listeners.append(listener)

    def unsubscribe(self, listener: Callable[[], None]) -> None:
        """Call back no more."""
        if listener in self._listeners:
            self._listeners.remove(listener)
