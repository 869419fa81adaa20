"""Large values of ConfigMaps and Secrets, by their content: what is here need not travel again.

A job keeps what it uses as hard links in its own directory, so that only what nobody uses any more
is removed when there is too much.
"""

from __future__ import annotations

import binascii
import os
from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from trainway.agent.directory import Directory

    Json = dict[str, Any]

FOLDER = "blobs"
REFERENCE = "$blob"
LIMIT = 10 * 1024**3
_HEX = frozenset("0123456789abcdef")
_LENGTH = 64


class BlobError(Exception):
    """A blob is not what it should be, or is not there."""


class Blobs:
    """The blobs of a host."""

    def __init__(self, home: Directory, limit: int = LIMIT) -> None:
        self._home = home
        self._limit = limit
        home.make(FOLDER)
        self._size = sum(size for _, size, _ in self._entries())

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

        Two may send the same blob at once: the second one's pieces come too late.
        """
        if self._has(_checked(name)):
            return
        part = f"{FOLDER}/{name}.{sender}"
        fd = self._home.open(part, os.O_WRONLY | os.O_CREAT)
        data = binascii.a2b_base64(frame["data"])
        with os.fdopen(fd, "wb") as file:
            file.seek(int(frame["offset"]) if "offset" in frame else os.fstat(fd).st_size)
            file.write(data)
        last = bool(frame.get("last"))
        if not last:
            return
        content = self._home.read(part)
        if import_module("hashlib").sha256(content).hexdigest() != name:
            self._home.remove(part)
            raise BlobError(f"blob {name} has another content")
        os.replace(part, f"{FOLDER}/{name}", src_dir_fd=self._home.fd, dst_dir_fd=self._home.fd)
        self._size += len(content)
        if self._size > self._limit:
            self._remove_old()

    def forget(self, sender: str) -> None:
        """Drop what a sender began and cannot go on with."""
        for name in os.listdir(self._home.join(FOLDER)):
            if name.endswith(f".{sender}"):
                self._home.remove(f"{FOLDER}/{name}")

    def keep(self, names: Iterable[str], job: Directory) -> None:
        """Have a job keep the blobs that it uses; BlobError where one is not here."""
        job.make(FOLDER)
        for name in names:
            path = f"{FOLDER}/{_checked(name)}"
            try:
                os.link(path, path, src_dir_fd=self._home.fd, dst_dir_fd=job.fd)
            except FileExistsError:
                continue
            except FileNotFoundError:
                raise BlobError(f"blob {name} is not here") from None

    def _remove_old(self) -> None:
        """Remove what was not used for the longest time, until there is room again."""
        for name, size, links in self._entries():
            if self._size <= self._limit:
                return
            if links == 1:
                self._home.remove(f"{FOLDER}/{name}")
                self._size -= size

    def _entries(self) -> list[tuple[str, int, int]]:
        """All whole blobs, the longest unused first: name, size, links."""
        with os.scandir(self._home.join(FOLDER)) as entries:
            found = [(entry.name, entry.stat()) for entry in entries if len(entry.name) == _LENGTH]
        found.sort(key=lambda item: item[1].st_mtime_ns)
        return [(name, status.st_size, status.st_nlink) for name, status in found]


def references(objects: Iterable[Json]) -> list[str]:
    """The blobs that ConfigMaps and Secrets stand for."""
    return [
        str(value[REFERENCE])
        for item in objects
        for field in ("data", "stringData", "binaryData")
        for value in (item.get(field) or {}).values()
        if isinstance(value, dict)
    ]


def resolved(objects: Iterable[Json], job: Directory) -> list[Json]:
    """The objects with their values in the place of references."""
    result = []
    for item in objects:
        whole = dict(item)
        for field in ("data", "stringData", "binaryData"):
            if item.get(field):
                whole[field] = {key: _value(value, job) for key, value in item[field].items()}
        result.append(whole)
    return result


def _value(value: Any, job: Directory) -> Any:
    if not isinstance(value, dict):
        return value
    name = _checked(str(value[REFERENCE]))
    return job.read(f"{FOLDER}/{name}").decode("utf-8", "surrogateescape")


def _checked(name: str) -> str:
    if len(name) != _LENGTH or not _HEX.issuperset(name):
        raise BlobError(f"{name!r} is no digest")
    return name
