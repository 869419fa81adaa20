"""Whether the disk of a job takes what is written to it, and gives it back."""

from __future__ import annotations

import errno
import os
import time

LEAST_FREE = 64 * 1024 * 1024
"""A disk with fewer free bytes is full for all that a job would want of it."""
SIZE = 1024 * 1024
SLOWEST = 10.0
"""How many seconds it may take to write, sync and read that much."""
NAME = ".health-check"


def disk_problem(path: str) -> str:
    """What is wrong with the disk that a directory is on; empty: nothing."""
    name = os.path.join(path, f"{NAME}.{os.getpid()}")
    began = time.monotonic()
    try:
        free = _free(path)
        if free < LEAST_FREE:
            return f"the disk of {path} is full: {free // 1024 // 1024} MiB are free"
        if not _keeps(name):
            return f"the disk of {path} gives back something else than was written"
    except OSError as error:
        if error.errno == errno.ENOSPC:
            return f"the disk of {path} is full"
        return f"{path} cannot be written to: {error.strerror}"
    finally:
        _remove(name)
    took = time.monotonic() - began
    if took > SLOWEST:
        return f"the disk of {path} took {took:.0f} s for 1 MiB"
    return ""


def _free(path: str) -> int:
    about = os.statvfs(path)
    return about.f_bavail * about.f_frsize


def _keeps(name: str) -> bool:
    """Whether a file has what was written to it."""
    data = os.urandom(SIZE)
    fd = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        done = 0
        while done < SIZE:
            done += os.write(fd, data[done:])
        os.fsync(fd)
        return os.pread(fd, SIZE, 0) == data
    finally:
        os.close(fd)


def _remove(name: str) -> None:
    try:
        os.unlink(name)
    except OSError:
        return
