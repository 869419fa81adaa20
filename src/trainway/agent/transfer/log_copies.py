"""The logs of a job on this machine: byte for byte what its hosts have written.

A host says at which place of its file the bytes stand, so that a piece that comes twice is written
once, and one that is missing is noticed. A host that gets the job anew begins a file from nothing;
here it goes on after what an earlier host wrote, at the file's `base`. When all that came of the
job has reached its limit, what follows is taken and dropped.
"""

from __future__ import annotations

import os
import time

from trainway.agent.base.log_limit import LogLimit, is_closed, limit_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from trainway.agent.base.directory import Directory

FOLDER = "logs"
SUFFIX = ".log"
_ALLOWED = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")


def pod_of(file: str) -> str:
    """The key of the pod that a log belongs to; empty where it is no name of a log."""
    if not file.endswith(SUFFIX) or file.startswith(".") or not _ALLOWED.issuperset(file):
        return ""
    return file.split(".", 1)[0]


class LogCopies:
    """Appends what hosts send to the files in `logs/`."""

    def __init__(
        self,
        directory: Directory,
        bases: dict[str, int],
        on_limit: Callable[[str], None] = lambda _message: None,
    ) -> None:
        self._directory = directory
        self._bases = dict(bases)
        self._sizes: dict[str, int] = self._measured()
        self._on_limit = on_limit
        self._room: LogLimit | None = None

    def _measured(self) -> dict[str, int]:
        sizes = {}
        folder = self._directory.open(FOLDER, os.O_RDONLY | os.O_DIRECTORY)
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if pod_of(entry.name):
                        sizes[entry.name] = entry.stat(follow_symlinks=False).st_size
        finally:
            os.close(folder)
        return sizes

    def begin_anew(self) -> dict[str, int]:
        """Let hosts begin all files from nothing; where their bytes go from now on."""
        self._bases = {name: size for name, size in self._sizes.items() if size}
        return self._bases

    def begin_pods(self, pods: Collection[str]) -> dict[str, int]:
        """The same for the logs of these pods alone."""
        fresh = {name: size for name, size in self._sizes.items() if pod_of(name) in pods}
        self._bases = {**self._bases, **fresh}
        return self._bases

    def offsets(self, pods: set[str]) -> dict[str, int]:
        """For the logs of these pods, how much of the host's file is here."""
        return {
            name: size - self._bases.get(name, 0)
            for name, size in sorted(self._sizes.items())
            if pod_of(name) in pods and size > self._bases.get(name, 0)
        }

    def take(self, file: str, offset: int, data: bytes) -> bool:
        """Write a piece; False where something before it is missing or there is no room."""
        size = self._sizes.get(file, 0)
        start = self._bases.get(file, 0) + offset
        if start > size and not self._is_closed(file):
            return False
        data = data[max(0, size - start) :]
        if not data:
            return True
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND
        try:
            fd = self._directory.open_regular(f"{FOLDER}/{file}", flags)
        except OSError:
            return False
        try:
            written = size
            for count in self._append(fd, data):
                written += count
            # What was dropped counts as taken, so that what follows finds its place.
            self._sizes[file] = max(start, size) + len(data)
        except OSError:
            self._sizes[file] = written
            return False
        finally:
            os.close(fd)
        return True

    def _append(self, fd: int, data: bytes) -> Iterator[int]:
        """Write what there may be of it; the lengths that were written."""
        if is_closed(fd):
            return
        limit = self._limit
        fitting = limit.fitting(data)
        if len(fitting) < len(data):
            fitting += b"" if fitting or _is_whole(fd) else b"\n"
            fitting += limit.notice(time.time())
        view = memoryview(fitting)
        while view:
            count = os.write(fd, view)
            limit.spend(count)
            view = view[count:]
            yield count

    @property
    def _limit(self) -> LogLimit:
        if self._room is None:
            used = sum(self._measured().values())
            self._room = LogLimit(limit_of(self._directory), used, self._on_limit)
        return self._room

    def _is_closed(self, file: str) -> bool:
        """Whether a log goes no further, whatever comes."""
        try:
            fd = self._directory.open_regular(f"{FOLDER}/{file}", os.O_RDONLY)
        except OSError:
            return False
        try:
            return is_closed(fd)
        finally:
            os.close(fd)


def _is_whole(fd: int) -> bool:
    """Whether a file ends with a whole line."""
    size = os.fstat(fd).st_size
    return not size or os.pread(fd, 1, size - 1) == b"\n"
