"""A file of the cache in the folder of a job: in no more room than it must take.

A file system that can share blocks gives each its own file of the same blocks. Else a large file
may be the same file under two names, which nobody may write; a small one, such as a configuration
that a program may want to change, is copied. Whatever way, it is whole when it has its name.
"""

import contextlib
import errno
import fcntl
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from trainway.data import file_lock
from trainway.data.journal import journal_path, partial_path
from trainway.data.local_files import LocalFiles
from trainway.data.transfer import Wanted, fetch

LARGE: Final = 16 << 20
_CLONE: Final = 0x40049409
"""The request by which Linux lets two files share their blocks."""
_CANNOT: Final = {
    errno.EXDEV,
    errno.EOPNOTSUPP,
    errno.ENOTTY,
    errno.EINVAL,
    errno.EPERM,
    errno.EMLINK,
    errno.ENOSYS,
}


def place(source: Path, target: Path, uri: str, *, may_link: bool) -> None:
    """Have the content of a file at another place, too; `uri` is what errors call it."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if _is_the_same(source, target):
        return
    with _alone(target):
        if _cloned(source, target):
            return
        if may_link and source.stat().st_size >= LARGE and _linked(source, target):
            return
    entry = LocalFiles().stat(str(source)[1:])
    assert entry is not None  # noqa: S101 - whoever calls keeps it
    fetch([Wanted(LocalFiles(), entry, uri, target)])


@contextlib.contextmanager
def _alone(target: Path) -> Iterator[None]:
    """Nobody else brings a file to the same place meanwhile, as downloads see to it."""
    lock = journal_path(target)
    handle = file_lock.take(lock)
    assert handle is not None  # noqa: S101 - it waits
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)
        os.close(handle)


def _is_the_same(source: Path, target: Path) -> bool:
    with contextlib.suppress(FileNotFoundError):
        return os.path.samestat(source.stat(), target.lstat())
    return False


def _cloned(source: Path, target: Path) -> bool:
    partial = partial_path(target)
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
    with source.open("rb") as given, os.fdopen(os.open(partial, flags, 0o666), "wb") as made:
        try:
            fcntl.ioctl(made.fileno(), _CLONE, given.fileno())
        except OSError as error:
            partial.unlink()
            if error.errno in _CANNOT:
                return False
            raise
        found = os.fstat(given.fileno())
        os.utime(made.fileno(), ns=(found.st_atime_ns, found.st_mtime_ns))
    partial.replace(target)
    return True


def _linked(source: Path, target: Path) -> bool:
    if stat.S_IMODE(source.stat().st_mode) & 0o222:
        return False  # somebody may write it, and would write both
    partial = partial_path(target)
    partial.unlink(missing_ok=True)
    try:
        os.link(source, partial)
    except OSError as error:
        if error.errno in _CANNOT:
            return False
        raise
    partial.replace(target)
    return True
