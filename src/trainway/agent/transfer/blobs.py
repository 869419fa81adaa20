"""Large values of ConfigMaps and Secrets, by their content: what is here need not travel again.

Some are files of whoever submitted a job, which are never read into memory as a whole. A job keeps
what it uses as hard links in its own directory, so that only what nobody uses any more is removed
when there is too much.
"""

from __future__ import annotations

import binascii
import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from trainway.agent.base.directory import Directory
    from trainway.json_types import Json


FOLDER = "blobs"
REFERENCE = "$blob"
"""The field that stands for a value, as text."""
FILE = "$file"
"""The field that stands for the bytes of a file, which is never read as a whole."""
FIELDS = ("data", "stringData", "binaryData")
LIMIT = 10 * 1024**3
UNUSED_SECONDS = 30 * 86_400
"""How long a value that nobody uses is kept, even where there is room."""
_HEX = frozenset("0123456789abcdef")
_LENGTH = 64


class BlobError(Exception):
    """A blob is not what it should be, or is not there."""


class Part:
    """A blob of which some has come."""

    def __init__(self, home: Directory, name: str, sender: str) -> None:
        from hashlib import sha256  # noqa: PLC0415 - slow, and few jobs have blobs

        self.name = _checked(name)
        self.path = f"{FOLDER}/{name}.{sender}"
        self.size = 0
        self._home = home
        self._digest = sha256()
        os.close(home.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC))

    @property
    def is_right(self) -> bool:
        """Whether it has the content that its name promises."""
        return bool(self._digest.hexdigest() == self.name)

    def append(self, data: bytes) -> None:
        """Take the next piece."""
        with os.fdopen(self._home.open(self.path, os.O_WRONLY | os.O_APPEND), "wb") as file:
            file.write(data)
        self._digest.update(data)
        self.size += len(data)


class Blobs:
    """The blobs of a host."""

    def __init__(
        self, home: Directory, limit: int = LIMIT, now: Callable[[], float] = time.time
    ) -> None:
        self._home = home
        self._limit = limit
        home.make(FOLDER)
        self._parts: dict[tuple[str, str], Part] = {}
        self._now = now
        self._size = sum(size for _, size, _, _ in self._entries())
        self._remove_old()

    def missing(self, names: Iterable[str]) -> list[str]:
        """Those that have to be sent."""
        return [name for name in names if not self._has(_checked(name))]

    def _has(self, name: str) -> bool:
        """Whether it is here; being asked for counts as use."""
        try:
            os.utime(f"{FOLDER}/{name}", dir_fd=self._home.fd)
        except FileNotFoundError:
            return False
        return True

    def receive(self, name: str, sender: str, frame: Json) -> None:
        """Take a piece of a blob; with the last one it is whole.

        Two may send the same blob at once: the second one's pieces come too late. They may also be
        two jobs of one sender, whose pieces come in turns.
        """
        if self._has(_checked(name)):
            return
        data = binascii.a2b_base64(frame["data"])
        part = self._parts.get((name, sender))
        if part is None:
            part = self._parts[name, sender] = self.begin(name, sender)
        offset = int(frame.get("offset", part.size))
        if offset > part.size:
            raise BlobError(f"blob {name} came without its beginning")
        part.append(data[part.size - offset :])
        if frame.get("last"):
            del self._parts[name, sender]
            self.finish(part)

    def begin(self, name: str, sender: str) -> Part:
        """A blob that is about to come, from its start."""
        return Part(self._home, name, sender)

    def finish(self, part: Part) -> None:
        """Have a blob that came as a whole; BlobError where it is another one."""
        if not part.is_right:
            self._home.remove(part.path)
            raise BlobError(f"blob {part.name} has different content")
        if self._has(part.name):
            self._home.remove(part.path)  # another sender was faster
            return
        fd = self._home.fd
        os.replace(part.path, f"{FOLDER}/{part.name}", src_dir_fd=fd, dst_dir_fd=fd)
        self._size += part.size
        if self._size > self._limit:
            self._remove_old()

    def forget(self, sender: str) -> None:
        """Drop what a sender began and cannot go on with."""
        self._parts = {key: part for key, part in self._parts.items() if key[1] != sender}
        for name in os.listdir(self._home.join(FOLDER)):
            if name.endswith(f".{sender}") and is_part(name):
                self._home.remove(f"{FOLDER}/{name}")

    def read(self, name: str) -> bytes:
        """All of a blob; BlobError where it is not here."""
        try:
            return self._home.read(f"{FOLDER}/{_checked(name)}")
        except FileNotFoundError:
            raise BlobError(f"blob {name} is not here") from None

    def keep(self, names: Iterable[str], job: Directory) -> None:
        """Have a job keep the blobs that it uses; BlobError where one is not here."""
        keep(self._home, names, job)

    def _remove_old(self) -> None:
        """Remove what was not used for too long, or the longest until there is room again."""
        oldest = self._now() - UNUSED_SECONDS
        for name, size, links, used in self._entries():
            if self._size <= self._limit and used >= oldest:
                return
            if links == 1:
                self._home.remove(f"{FOLDER}/{name}")
                self._size -= size

    def _entries(self) -> list[tuple[str, int, int, float]]:
        """All whole blobs, the longest unused first: name, size, links, when they were used."""
        with os.scandir(self._home.join(FOLDER)) as entries:
            ours = [entry for entry in entries if _is_digest(entry.name) and entry.is_file()]
        found = [(entry.name, entry.stat()) for entry in ours]
        found.sort(key=lambda item: item[1].st_mtime_ns)
        return [(name, status.st_size, status.st_nlink, status.st_mtime) for name, status in found]


def keep(home: Directory, names: Iterable[str], job: Directory) -> None:
    """Have a job keep some of the blobs below a home; BlobError where one is not there."""
    job.make(FOLDER)
    for name in names:
        path = f"{FOLDER}/{_checked(name)}"
        try:
            os.link(path, path, src_dir_fd=home.fd, dst_dir_fd=job.fd)
        except FileExistsError:
            continue
        except FileNotFoundError:
            raise BlobError(f"blob {name} is not here") from None


def references(objects: Iterable[Json]) -> list[str]:
    """The blobs that ConfigMaps and Secrets stand for."""
    return [str(value.get(FILE) or value[REFERENCE]) for value in _standing(objects)]


def stored_files(objects: Iterable[Json]) -> dict[str, int]:
    """Those of them that are files, with their sizes."""
    return {
        str(value[FILE]): int(value.get("size") or 0)
        for value in _standing(objects)
        if FILE in value
    }


def _standing(objects: Iterable[Json]) -> Iterator[Json]:
    for item in objects:
        for field in FIELDS:
            for value in (item.get(field) or {}).values():
                if isinstance(value, dict):
                    yield value


def resolved(objects: Iterable[Json], job: Directory) -> list[Json]:
    """The objects with their values in the place of references; files stay where they are."""
    result = []
    for item in objects:
        whole = dict(item)
        for field in FIELDS:
            if item.get(field):
                whole[field] = {key: _value(value, job) for key, value in item[field].items()}
        result.append(whole)
    return result


def _value(value: Any, job: Directory) -> Any:
    if not isinstance(value, dict) or FILE in value:
        return value
    name = _checked(str(value[REFERENCE]))
    return job.read(f"{FOLDER}/{name}").decode("utf-8", "surrogateescape")


def is_part(name: str) -> bool:
    """Whether a file of the folder is a blob of which some has come: others may be there, too."""
    return _is_digest(name.partition(".")[0]) and "." in name


def _is_digest(name: str) -> bool:
    return len(name) == _LENGTH and _HEX.issuperset(name)


def _checked(name: str) -> str:
    if not _is_digest(name):
        raise BlobError(f"{name!r} is not a digest")
    return name
