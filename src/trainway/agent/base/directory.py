"""Files of a job, reached through one open directory.

Paths are relative to it, so that neither the length of its path nor its being moved matters; an
absolute path is taken as it is.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import contextmanager, suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

PRIVATE_FILE = 0o600
PRIVATE_DIRECTORY = 0o700


class Directory:
    """A directory that stays open."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)

    def close(self) -> None:
        """Let go of it."""
        os.close(self.fd)

    def join(self, *parts: str) -> str:
        """The whole path of something in it."""
        return "/".join((self.path, *parts))

    def make(self, path: str, mode: int = PRIVATE_DIRECTORY) -> None:
        """Make a directory and those above it, where they are missing."""
        made = "/" if path.startswith("/") else ""
        for part in path.strip("/").split("/"):
            made += part
            try:
                os.mkdir(made, mode, dir_fd=self.fd)
            except FileExistsError:
                pass
            except OSError as error:
                if error.errno != errno.EROFS or not self.is_directory(made):
                    raise
            made += "/"

    def open(self, path: str, flags: int, mode: int = PRIVATE_FILE) -> int:
        """Open a file."""
        return os.open(path, flags | os.O_CLOEXEC, mode, dir_fd=self.fd)

    @contextmanager
    def folder(self, path: str, make_mode: int = 0) -> Iterator[int]:
        """A directory below this one, reached through no link; with a mode those missing are made.

        What a job can write to has the links that it likes.
        """
        flags = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        opened = [self.fd]
        try:
            for name in filter(None, path.split("/")):
                if make_mode:
                    with suppress(FileExistsError):
                        os.mkdir(name, make_mode, dir_fd=opened[-1])
                opened.append(os.open(name, flags, dir_fd=opened[-1]))
                if len(opened) > 2:
                    os.close(opened.pop(1))
            yield opened[-1]
        finally:
            for fd in opened[1:]:
                os.close(fd)

    def open_regular(self, path: str, flags: int, mode: int = PRIVATE_FILE) -> int:
        """Open a file where a job can write too: no link on the way to it, no pipe, no device."""
        above, _, name = path.rpartition("/")
        flags |= os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
        with self.folder(above) as folder:
            fd = os.open(name, flags, mode, dir_fd=folder)
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            os.close(fd)
            raise OSError(errno.EINVAL, "it is not a regular file", self.join(path))
        return fd

    def read(self, path: str) -> bytes:
        """All of a file."""
        fd = self.open(path, os.O_RDONLY | os.O_NONBLOCK)
        with os.fdopen(fd, "rb") as file:
            if not stat.S_ISREG(os.fstat(fd).st_mode):  # a pipe would have us wait for its writer
                raise OSError(errno.EINVAL, "it is not a regular file", self.join(path))
            return file.read()

    def write(self, path: str, data: bytes, mode: int = PRIVATE_FILE) -> None:
        """Write a file anew, with exactly that mode."""
        fd = self.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, PRIVATE_FILE)
        with os.fdopen(fd, "wb") as file:
            file.write(data)
            os.fchmod(file.fileno(), mode)

    def replace(self, path: str, data: bytes, *, durable: bool = False) -> None:
        """Write a file so that a reader sees the old or the new one, never half of it.

        A durable one is still there after the machine has failed.
        """
        self.write(f"{path}.new", data)
        if durable:
            fd = self.open(f"{path}.new", os.O_RDONLY)
            os.fsync(fd)
            os.close(fd)
        os.replace(f"{path}.new", path, src_dir_fd=self.fd, dst_dir_fd=self.fd)
        if durable:
            os.fsync(self.fd)

    def remove(self, path: str) -> None:
        """Remove a file, if it is there."""
        try:
            os.unlink(path, dir_fd=self.fd)
        except FileNotFoundError:
            return

    def is_directory(self, path: str) -> bool:
        """Whether a directory is there."""
        try:
            fd = self.open(path, os.O_RDONLY | os.O_DIRECTORY)
        except OSError:
            return False
        os.close(fd)
        return True
