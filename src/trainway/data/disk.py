"""What is said of a disk that cannot take what is written to it."""

import errno
import os
from pathlib import Path

from trainway.errors import TrainwayError

_FULL = {errno.ENOSPC, errno.EDQUOT}


class DiskError(TrainwayError):
    """A file cannot be written."""

    code = "disk"


def disk_error(error: OSError, path: Path) -> DiskError:
    """What to say of a file that could not be written."""
    if error.errno in _FULL:
        return DiskError(
            f"the disk of {path.parent} is full",
            hint="make room and repeat the command: what has arrived is not fetched again",
        )
    return DiskError(f"{path} cannot be written: {error.strerror or error}")


def require_room(folder: Path, size: int) -> None:
    """Refuse before anything is fetched what the disk cannot hold."""
    free = room_in(folder)
    if free is not None and size > free:
        raise DiskError(
            f"the disk of {folder} has room for {in_words(free)}, and {in_words(size)} are missing",
            hint="make room, or choose another folder",
        )


def room_in(folder: Path) -> int | None:
    """The bytes that a disk can still hold; None: it does not say."""
    found = os.statvfs(folder)
    free = found.f_bfree if os.geteuid() == 0 else found.f_bavail
    return free * found.f_frsize if found.f_blocks else None


def in_words(size: float) -> str:
    """Bytes for people: 1.5 GB."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.1f} {unit}" if unit != "bytes" and size < 100 else f"{size:.0f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"
