"""Locks that are files: held as long as somebody has them open, whatever becomes of them.

The file of a lock may be removed by whoever holds it alone. One that was waited for can be such a
removed one; it is nobody's lock any more, and is taken anew.
"""

import fcntl
import os
from pathlib import Path


def take(path: Path, *, is_shared: bool = False, waits: bool = True) -> int | None:
    """The open file of a lock that is held now; None: another has it, and nobody waits."""
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        kind = fcntl.LOCK_SH if is_shared else fcntl.LOCK_EX
        try:
            fcntl.flock(handle, kind | (0 if waits else fcntl.LOCK_NB))
            if _is_at(handle, path):
                return handle
        except BlockingIOError:
            os.close(handle)
            return None
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)


def _is_at(handle: int, path: Path) -> bool:
    try:
        found = path.lstat()
    except FileNotFoundError:
        return False
    held = os.fstat(handle)
    return (found.st_dev, found.st_ino) == (held.st_dev, held.st_ino)
