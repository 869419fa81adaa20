"""One file on its way here: whole under its name, or not there at all.

The order is what makes a kill harmless. A part is written before its line of the journal; the file
gets its name after all parts, its digest and its time are right; the journal goes last. A file that
is there already in the same version is not fetched: it is as long, and has the digest that its
source tells, or the time that only this version gets.
"""

import contextlib
import errno
import hashlib
import os
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from trainway.data import file_lock
from trainway.data.disk import DiskError, disk_error, require_room
from trainway.data.journal import (
    Checksum,
    Journal,
    Subject,
    journal_path,
    missing,
    partial_path,
)
from trainway.data.store import ChangedError, Entry, Piece
from trainway.errors import UnreadableError

_BLOCK: Final = 1 << 20
_ZEROS: Final = bytes(_BLOCK)


class Download:
    """A file that is being fetched; `missing` are the parts that are still to come."""

    def __init__(self, source: str, entry: Entry, target: Path, part_size: int) -> None:
        self.entry = entry
        self.target = target
        self.subject = Subject(source, entry.etag, entry.size, part_size)
        self.missing: list[int] = []
        self.is_here = False
        self._lock = threading.Lock()
        self._left = 0
        self._file = -1
        self._journal: Journal | None = None

    def open(self) -> None:
        """Wait until nobody else fetches it, and find out which parts are missing."""
        self.target.parent.mkdir(parents=True, exist_ok=True)
        handle = file_lock.take(journal_path(self.target))
        assert handle is not None  # noqa: S101 - it waits
        self._journal = Journal(handle, self.subject)
        if is_same(self.entry, self.target):
            self.is_here = True
            self._remove_traces()
            return
        self._file = os.open(
            partial_path(self.target), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666
        )
        arrived = self._journal.recorded()
        if arrived:
            self._journal.end_line()
        else:
            os.ftruncate(self._file, 0)
            self._require_room()
            self._journal.begin()
        os.ftruncate(self._file, self.subject.size)
        self.missing = list(missing(self.subject, arrived, self._file))
        self._left = len(self.missing)

    def _require_room(self) -> None:
        """Look before anything is made as long as a stranger says that it is."""
        try:
            require_room(self.target.parent, self.subject.size)
        except DiskError:
            self._remove_traces()
            raise

    def put(self, part: int, pieces: Iterable[Piece]) -> bool:
        """Write a part as it comes, and say whether it was the last one that was missing."""
        start, end = self.subject.bounds(part)
        found = Checksum()
        for piece in pieces:
            if len(piece) > end - start:
                break
            _write(self._file, memoryview(piece), start)
            found.update(piece)
            start += len(piece)
        if start != end:
            raise ChangedError(f"{self.subject.source} is not as long as it was")
        self._write_out(part)
        with self._lock:
            assert self._journal is not None  # noqa: S101 - it is open
            self._journal.add(part, found.value())
            self._left -= 1
            return self._left == 0

    def _write_out(self, part: int) -> None:
        """Have a part go to the disk while others arrive; at the end there is little to wait for.

        Linux begins to write what it is told not to keep, and keeps it until it is written.
        """
        if hasattr(os, "posix_fadvise"):
            start, end = self.subject.bounds(part)
            with contextlib.suppress(OSError):  # it is quicker, and nothing depends on it
                os.posix_fadvise(self._file, start, end - start, os.POSIX_FADV_DONTNEED)

    def finish(self) -> None:
        """Give the whole file its name."""
        self._check()
        time = stamp(self.entry)
        if time is not None:
            os.utime(self._file, ns=(time, time))
        os.fsync(self._file)
        partial_path(self.target).replace(self.target)
        _sync(self.target.parent)
        self._remove_traces()

    def close(self) -> None:
        """Leave what has arrived for the next one."""
        with self._lock:
            if self._file >= 0:
                os.close(self._file)
                self._file = -1
            if self._journal is not None:
                self._journal.close()
                self._journal = None

    def _check(self) -> None:
        wanted = self.entry.sha256 or self.entry.git_sha1
        if wanted and _digest(self._file, self.entry) != wanted:
            assert self._journal is not None  # noqa: S101 - it is open
            self._journal.begin()  # none of it can be trusted
            raise UnreadableError(
                f"what came from {self.subject.source} does not have the checksum it should",
                hint="repeat the command; if it happens again, the source is damaged",
            )

    def _remove_traces(self) -> None:
        """Remove what was needed on the way; the journal last, since it is the lock."""
        partial_path(self.target).unlink(missing_ok=True)
        journal_path(self.target).unlink(missing_ok=True)
        self.close()


def is_same(entry: Entry, path: Path) -> bool:
    """Whether a file of this machine is that version already."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        found = os.fstat(handle)
        if found.st_size != entry.size:
            return False
        if entry.sha256 or entry.git_sha1:
            return _digest(handle, entry) == (entry.sha256 or entry.git_sha1)
        return found.st_mtime_ns == stamp(entry)
    finally:
        os.close(handle)


def stamp(entry: Entry) -> int | None:
    """The time that a file gets, in nanoseconds: the seconds of its source, and then its etag's.

    Two versions can be of the same second and of the same size; so the rest of the time tells them
    apart. None: the source tells no time.
    """
    if entry.modified is None or not entry.etag:
        return None
    version = int.from_bytes(hashlib.sha256(entry.etag.encode()).digest()[:8], "big")
    return int(entry.modified) * 10**9 + version % 10**9


def _digest(handle: int, entry: Entry) -> str:
    found = hashlib.sha256() if entry.sha256 else hashlib.sha1(usedforsecurity=False)
    if not entry.sha256:
        found.update(b"blob %d\0" % entry.size)  # as git names what it stores
    for start in range(0, entry.size, _BLOCK):
        found.update(os.pread(handle, _BLOCK, start))
    return found.hexdigest()


def _write(handle: int, piece: memoryview, start: int) -> None:
    """Write all of it; what is nothing but zeros stays a hole, as it may be at the source."""
    for offset in range(0, len(piece), _BLOCK):
        block = piece[offset : offset + _BLOCK]
        is_empty = block[0] == 0 and bytes(block) == _ZEROS[: len(block)]  # views compare slowly
        if is_empty and _is_hole(handle, start + offset, len(block)):
            continue
        done = 0
        while done < len(block):
            done += os.pwrite(handle, block[done:], start + offset + done)


def _is_hole(handle: int, start: int, size: int) -> bool:
    """Whether nothing was written there yet; an earlier attempt may have left something."""
    try:
        return os.lseek(handle, start, os.SEEK_DATA) >= start + size
    except OSError as error:
        return error.errno == errno.ENXIO  # there is nothing up to the end


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with contextlib.suppress(OSError):  # some file systems cannot
            os.fsync(handle)
    finally:
        os.close(handle)


def said_of(error: OSError, target: Path) -> Exception:
    """What to say of a target that cannot be written."""
    if error.errno == errno.ELOOP:
        return UnreadableError(f"{partial_path(target)} is a link, and is not written through")
    return disk_error(error, target)
