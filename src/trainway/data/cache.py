"""What was fetched, kept for the jobs of a host: by content, up to a size, while it is of use.

An entry is a folder named after its content: the sha-256 where the source tells it, and else URI,
etag and size. Beside it is its lock. Whoever uses an entry holds the lock together with others, for
as long as one of its processes lives; whoever fetches or removes it holds it alone. So two who want
the same wait for one download, and what a live job uses is never removed. The lock's time says when
the entry was used last: the one that was not used for the longest time goes first.

A job may have a file of the cache under a name of its own. Nobody may write it but root, so its
size and time are written down when it is whole: one that was changed is fetched anew.
"""

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Final, Self

from trainway.data import file_lock
from trainway.data.disk import DiskError, disk_error, in_words, room_in
from trainway.data.journal import partial_path
from trainway.data.store import Entry
from trainway.data.transfer import Options, Outcome, Wanted, fetch
from trainway.errors import ConflictError, UsageError

LIMIT: Final = 100_000_000_000
_CONTENT: Final = "content"
_SHAPE: Final = "shape"
_LOCK: Final = ".lock"
_ROOM: Final = "room"
_ENTRY: Final = re.compile(r"(sha256|seen)-[0-9a-f]{64}")
"""The names of entries: the folder may have files of others in it, which stay."""


class TooLargeError(UsageError):
    """A file is larger than the cache may be."""


class NoRoomError(ConflictError):
    """Live jobs use so much of the cache that a file has no room beside it."""


class NoDiskRoomError(NoRoomError):
    """The disk of the cache has no room for a file, however little the cache would keep."""


def user_cache(environment: Mapping[str, str]) -> "Cache":
    """The cache of whoever runs this, in the folder and with the limit that variables say."""
    base = environment.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    folder = environment.get("TRAINWAY_DATA_CACHE") or f"{base}/trainway/data"
    limit = environment.get("TRAINWAY_DATA_CACHE_SIZE")
    return Cache(Path(folder).absolute(), parse_size(limit) if limit else LIMIT)


@dataclass
class Lease:
    """A file of the cache that stays while this is open."""

    path: Path
    handle: int
    """An open file; a process that inherits it keeps the lease as well."""

    def close(self) -> None:
        """Let it go."""
        if self.handle >= 0:
            os.close(self.handle)
            self.handle = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Cache:
    """A folder of this machine with what was fetched."""

    def __init__(self, folder: Path, limit: int = LIMIT) -> None:
        self._folder = folder
        self._limit = limit
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise _unwritable(error, folder) from None

    def lease(self, wanted: Wanted, options: Options | None = None) -> tuple[Lease, Outcome]:
        """The content of a file, fetched if it is not here; the target of `wanted` is not used."""
        name = identity(wanted.uri, wanted.entry)
        lock, path = self._folder / f"{name}{_LOCK}", self._folder / name / _CONTENT
        outcome = Outcome(files=1, size=wanted.entry.size, present=1)
        is_fresh = bool(wanted.entry.etag)
        while True:
            handle = _taken(lock, is_shared=True)
            if is_fresh and _is_whole(path):
                os.utime(handle)
                return Lease(path, handle), outcome
            os.close(handle)
            with _held(lock):
                if not is_fresh or not _is_whole(path):
                    if not is_fresh or _has_shape(path):
                        path.unlink(missing_ok=True)
                    outcome = self._fetch(wanted, name, options)
            is_fresh = True

    def size(self) -> int:
        """The bytes of all entries, those on their way included."""
        return sum(_size(folder) for folder in self._entries())

    def prune(self, room: int = 0, spared: str = "") -> None:
        """Remove what was not used for the longest time, until there is so much room.

        The limit may be more than the disk has; what the disk could not hold even then is no reason
        to remove anything.
        """
        sizes = {each.name: _size(each) for each in self._entries() if each.name != spared}
        total, more = sum(sizes.values()), room - _allocated(self._folder / spared)
        if more > self._free() + total:
            raise self._full(more)
        for name in sorted(sizes, key=self._used):
            if total + room <= self._limit and more <= self._free():
                return
            total -= sizes[name] if self._removed(name) else 0
        if total + room > self._limit:
            raise NoRoomError(
                f"live jobs use {in_words(total)} of the cache, which has a limit of"
                f" {in_words(self._limit)}; there is no room for {in_words(room)}",
                hint="raise TRAINWAY_DATA_CACHE_SIZE, or wait for a job to end",
            )
        if more > self._free():
            raise self._full(more)

    def _free(self) -> float:
        free = room_in(self._folder)
        return inf if free is None else free

    def _full(self, more: int) -> NoRoomError:
        return NoDiskRoomError(
            f"the disk of the cache ({self._folder}) has room for {in_words(self._free())}, and"
            f" {in_words(more)} are missing",
            hint="make room, or let TRAINWAY_DATA_CACHE name a folder of another disk",
        )

    def _fetch(self, wanted: Wanted, name: str, options: Options | None) -> Outcome:
        size = wanted.entry.size
        if size > self._limit:
            raise TooLargeError(
                f"{wanted.uri} has {in_words(size)}, and the cache may have"
                f" {in_words(self._limit)}",
                hint="raise TRAINWAY_DATA_CACHE_SIZE",
            )
        path = self._folder / name / _CONTENT
        with _held(self._folder / _ROOM):
            self.prune(size, name)
            path.parent.mkdir(exist_ok=True)
            _reserve(partial_path(path), size)
        outcome = fetch([Wanted(wanted.source, wanted.entry, wanted.uri, path)], options)
        _finish(path)
        return outcome

    def _entries(self) -> list[Path]:
        named = (path for path in self._folder.iterdir() if _ENTRY.fullmatch(path.name))
        return [path for path in named if path.is_dir() and not path.is_symlink()]

    def _used(self, name: str) -> float:
        try:
            return (self._folder / f"{name}{_LOCK}").stat().st_mtime
        except FileNotFoundError:
            return 0.0

    def _removed(self, name: str) -> bool:
        lock = self._folder / f"{name}{_LOCK}"
        handle = file_lock.take(lock, waits=False)
        if handle is None:
            return False
        try:
            shutil.rmtree(self._folder / name, ignore_errors=True)
            lock.unlink(missing_ok=True)
        finally:
            os.close(handle)
        return not (self._folder / name).exists()


def identity(uri: str, entry: Entry) -> str:
    """The name of a content; two sources of the same content share it where both tell its hash."""
    if entry.sha256:
        return f"sha256-{entry.sha256}"
    text = json.dumps([uri, entry.etag, entry.size])
    return f"seen-{hashlib.sha256(text.encode()).hexdigest()}"


def parse_size(text: str) -> int:
    """Bytes of `500MB`, `20GB`, `1.5TB` or a number."""
    units = {"TB": 10**12, "GB": 10**9, "MB": 10**6, "KB": 10**3, "B": 1, "": 1}
    word = text.strip().upper()
    unit = next(unit for unit in units if word.endswith(unit))
    try:
        size = int(float(word.removesuffix(unit)) * units[unit])
    except (ValueError, OverflowError):
        size = -1
    if size < 0:
        raise UsageError(f"{text!r} is not a size", hint="write 500MB, 20GB or 1TB")
    return size


@contextmanager
def _held(lock: Path) -> Iterator[None]:
    handle = _taken(lock)
    try:
        yield
    finally:
        os.close(handle)


def _taken(lock: Path, *, is_shared: bool = False) -> int:
    try:
        handle = file_lock.take(lock, is_shared=is_shared)
    except OSError as error:
        raise _unwritable(error, lock) from None
    assert handle is not None  # noqa: S101 - it waits
    return handle


def _unwritable(error: OSError, path: Path) -> DiskError:
    found = disk_error(error, path)
    hint = "let TRAINWAY_DATA_CACHE name a folder that can be written"
    return found if found.hint else DiskError(found.message, hint=hint)


def _reserve(partial: Path, size: int) -> None:
    """Let others count what will be here, before it is."""
    try:
        with partial.open("ab") as file:
            file.truncate(size)
    except OSError as error:
        raise _unwritable(error, partial) from None


def _shape(path: Path) -> str:
    found = path.stat()
    return f"{found.st_size} {found.st_mtime_ns}"


def _is_whole(path: Path) -> bool:
    """Whether a content is here, as it was fetched."""
    try:
        return path.with_name(_SHAPE).read_text("utf-8") == _shape(path)
    except FileNotFoundError:
        return False


def _has_shape(path: Path) -> bool:
    """Whether it was whole once, and so is another's work if it is not any more.

    What has its name and no shape has just arrived when somebody was killed: its source's digest or
    time says whether that is so.
    """
    return path.with_name(_SHAPE).exists()


def _finish(path: Path) -> None:
    """Write down what a content looks like that is whole."""
    new = path.with_name(f"{_SHAPE}.new")
    try:
        path.chmod(0o444)
        new.write_text(_shape(path), "utf-8")
        new.replace(path.with_name(_SHAPE))
    except OSError as error:
        raise _unwritable(error, path) from None


def _allocated(folder: Path) -> int:
    """What has arrived of an entry that is on its way; `folder` may be none of an entry."""
    with suppress(FileNotFoundError, NotADirectoryError):
        return partial_path(folder / _CONTENT).stat().st_blocks * 512
    return 0


def _size(folder: Path) -> int:
    total = 0
    with suppress(FileNotFoundError):
        for path in folder.iterdir():
            with suppress(FileNotFoundError):
                total += path.stat().st_size if not path.name.startswith(_SHAPE) else 0
    return total
