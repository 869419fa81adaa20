"""The logs of a job on this machine: byte for byte what its hosts have written.

A host says at which place of its file the bytes stand, so that a piece that comes twice is written
once, and one that is missing is noticed. A host that gets the job anew begins a file from nothing;
here it goes on after what an earlier host wrote, at the file's `base`.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainway.agent.directory import Directory

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

    def __init__(self, directory: Directory, bases: dict[str, int]) -> None:
        self._directory = directory
        self._bases = dict(bases)
        self._sizes: dict[str, int] = self._measured()

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
        if start > size:
            return False
        view = memoryview(data)[size - start :]
        if not view:
            return True
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
        try:
            fd = self._directory.open(f"{FOLDER}/{file}", flags)
        except OSError:
            return False
        try:
            while view:
                count = os.write(fd, view)
                size += count
                view = view[count:]
        except OSError:
            return False
        finally:
            self._sizes[file] = size
            os.close(fd)
        return True
