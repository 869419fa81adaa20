"""Files in the directory of a job, which its processes can replace by anything at any time.

Whoever reads one must not be led elsewhere by a link, wait for the writer of a pipe, or fill the
memory: on the way from the job's directory no link is followed, only regular files are opened, and
no more is read than was asked for.
"""

import errno
import logging
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import IO, Final

PRIVATE_DIR: Final = 0o700
PRIVATE_FILE: Final = 0o600
_FOLDER: Final = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_SAFELY: Final = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_LED_ASTRAY: Final = (errno.ELOOP, errno.ENOTDIR, errno.ENXIO)
_KINDS: Final = (
    (stat.S_ISLNK, "a link"),
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
)

log = logging.getLogger(__name__)


class RefusedFileError(OSError):
    """What stands there is not a file of the job's own, or too large."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(errno.EPERM, why, str(path))
        self.why = why


@contextmanager
def folder(root: Path, path: Path, *, make: bool = False) -> Iterator[int]:
    """A descriptor of a directory in a job's; with `make` those that are missing are made."""
    with suppress(FileExistsError):
        if make:
            root.mkdir(PRIVATE_DIR, parents=True)
    opened = os.open(root, _FOLDER)
    try:
        for name in path.relative_to(root).parts:
            if name == os.pardir:
                raise RefusedFileError(path, "the path leads out of the job's directory")
            if make:
                with suppress(FileExistsError):
                    os.mkdir(name, PRIVATE_DIR, dir_fd=opened)
            try:
                inner = os.open(name, _FOLDER, dir_fd=opened)
            except OSError as error:
                raise _refused(path, error, "a part of its path is a link or a file") from None
            os.close(opened)
            opened = inner
        yield opened
    finally:
        os.close(opened)


def opened(root: Path, path: Path, flags: int = os.O_RDONLY) -> int:
    """A descriptor of a regular file; FileNotFoundError where nothing is there."""
    with folder(root, path.parent, make=bool(flags & os.O_CREAT)) as above:
        try:
            # Asked first, since only opening a device may already do something.
            facts = os.stat(path.name, dir_fd=above, follow_symlinks=False)
        except FileNotFoundError:
            if not flags & os.O_CREAT:
                raise
        else:
            _check(path, facts)
        try:
            found = os.open(path.name, flags | _SAFELY, PRIVATE_FILE, dir_fd=above)
        except OSError as error:
            raise _refused(path, error, "it is not a regular file") from None
    try:
        _check(path, os.fstat(found))
    except BaseException:
        os.close(found)
        raise
    return found


def reader(root: Path, path: Path) -> IO[bytes]:
    """A regular file, to be read."""
    return os.fdopen(opened(root, path), "rb")


def read(root: Path, path: Path, limit: int) -> bytes:
    """All of a file that is no longer than that."""
    with reader(root, path) as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise RefusedFileError(path, f"it is larger than {limit / 2**20:g} MiB")
    return data


def read_at(root: Path, path: Path, offset: int, count: int) -> bytes:
    """A part of a file; less where it ends, nothing where it is gone or no file."""
    try:
        file = opened(root, path)
    except FileNotFoundError:
        return b""
    except RefusedFileError as error:
        warn(error)
        return b""
    try:
        return os.pread(file, count, offset)
    finally:
        os.close(file)


def append(root: Path, path: Path, data: bytes) -> None:
    """Add to a file, which is made where it is missing."""
    with os.fdopen(opened(root, path, os.O_WRONLY | os.O_CREAT | os.O_APPEND), "ab") as file:
        file.write(data)


def replace(root: Path, path: Path, data: bytes) -> None:
    """Write a file anew; a reader sees the old or the new one, and a link is replaced."""
    draft = path.with_name(f".{path.name}.new")
    with folder(root, path.parent, make=True) as above:
        with suppress(FileNotFoundError):
            os.unlink(draft.name, dir_fd=above)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _SAFELY
        with os.fdopen(os.open(draft.name, flags, PRIVATE_FILE, dir_fd=above), "wb") as file:
            file.write(data)
        os.replace(draft.name, path.name, src_dir_fd=above, dst_dir_fd=above)


def size(root: Path, path: Path) -> int:
    """The length of a regular file; 0 where there is none."""
    try:
        with folder(root, path.parent) as above:
            facts = os.stat(path.name, dir_fd=above, follow_symlinks=False)
    except (FileNotFoundError, RefusedFileError):
        return 0
    return facts.st_size if stat.S_ISREG(facts.st_mode) else 0


def listing(root: Path, path: Path) -> list[tuple[str, bool]]:
    """What is in a directory, and whether each is a regular file; nothing where it is none."""
    try:
        with folder(root, path) as above:
            listed = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=above)
    except FileNotFoundError:
        return []
    except RefusedFileError as error:
        warn(error)
        return []
    try:
        with os.scandir(listed) as entries:
            return [(entry.name, entry.is_file(follow_symlinks=False)) for entry in entries]
    finally:
        os.close(listed)


def warn(error: RefusedFileError) -> None:
    """Say in the server's log that a file is left out, once for each."""
    _warn_once(str(error.filename), error.why)


@lru_cache(1024)
def _warn_once(path: str, why: str) -> None:
    log.warning("%s is left out: %s", path, why)


def _check(path: Path, facts: os.stat_result) -> None:
    if not stat.S_ISREG(facts.st_mode):
        kinds = (word for is_kind, word in _KINDS if is_kind(facts.st_mode))
        raise RefusedFileError(path, f"it is {next(kinds, 'a device')}, not a regular file")


def _refused(path: Path, error: OSError, why: str) -> OSError:
    return RefusedFileError(path, why) if error.errno in _LED_ASTRAY else error
