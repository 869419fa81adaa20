"""The journal of a job that another machine writes, read as it grows; in whole lines only.

The file is opened at each look, since that is when a network file system asks for what is new.
"""

from __future__ import annotations

import os

from trainway.agent.base.journal_reader import END, NAME, record_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainway.agent.base.directory import Directory


CHUNK = 4 * 1024 * 1024


class JournalTail:
    """Has what `agent.journal.Journal` has for those who read."""

    def __init__(self, directory: Directory) -> None:
        self._directory = directory
        self._whole = 0
        """The length of all whole lines that were seen."""
        self.last = -1
        """The number of the last record; -1 where there is none."""
        self.ended = False
        """Whether the last record says that the job has ended."""
        self.look()

    def look(self) -> bool:
        """See what was appended; whether there was anything."""
        try:
            fd = self._directory.open_regular(NAME, os.O_RDONLY)
        except OSError:
            return False
        before = self._whole
        try:
            while True:
                data = os.pread(fd, CHUNK, self._whole)
                end = data.rfind(b"\n") + 1
                if not end:
                    break
                self._whole += end
                self._note(data[data.rfind(b"\n", 0, end - 1) + 1 : end])
        finally:
            os.close(fd)
        return self._whole > before

    def _note(self, line: bytes) -> None:
        record = record_in(line) or {}
        self.last = int(record.get("seq", self.last))
        self.ended = record.get("type") == END

    def offset(self, seq: int) -> int:
        """Where the record of that number begins; the end where there is none yet."""
        if seq <= 0:
            return 0
        offset = 0
        while True:
            data = self.read(offset, CHUNK)
            end = data.rfind(b"\n") + 1
            if not end:
                return offset
            for line in data[:end].splitlines(keepends=True):
                if int((record_in(line) or {}).get("seq", -1)) >= seq:
                    return offset
                offset += len(line)

    def read(self, offset: int, limit: int) -> bytes:
        """A part of the journal, of what was seen."""
        count = min(limit, self._whole - offset)
        if count <= 0:
            return b""
        try:
            fd = self._directory.open_regular(NAME, os.O_RDONLY)
        except OSError:
            return b""
        try:
            return os.pread(fd, count, offset)
        finally:
            os.close(fd)
