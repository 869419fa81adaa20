"""Files of this machine, as one place of bytes among others."""

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from trainway.data.store import PART_SIZE, ChangedError, Entry, Piece
from trainway.errors import UnreadableError

_BLOCK: Final = 1 << 20
_GONE: Final = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)
"""It was removed meanwhile, or is a link that leads nowhere."""


class LocalFiles:
    """All files of this machine; keys are paths without the slash at their beginning."""

    part_size: Final = PART_SIZE

    def stat(self, key: str) -> Entry | None:
        """The file of that path, through links; a folder is none."""
        path = Path("/", key)
        try:
            return _entry(key, path.stat()) if path.is_file() else None
        except OSError as error:
            raise _unreadable(path, error) from None

    def list(self, folder: str) -> Iterator[Entry]:
        """The files below a folder; links to folders are not followed."""
        top = Path("/", folder)
        try:
            if not top.is_dir():
                return
        except OSError as error:
            raise _unreadable(top, error) from None
        for where, folders, names in os.walk(top, onerror=_raise):
            folders.sort()
            for name in sorted(names):
                entry = _found(Path(where, name))
                if entry is not None:
                    yield entry

    def read(self, entry: Entry, start: int, end: int) -> Iterator[Piece]:
        """A part of a file that must still be the one it was."""
        path = Path("/", entry.key)
        try:
            with path.open("rb") as file:
                for offset in range(start, end, _BLOCK):
                    yield os.pread(file.fileno(), min(_BLOCK, end - offset), offset)
                found = os.fstat(file.fileno())
        except FileNotFoundError:
            raise ChangedError(f"{path} was removed while it was read") from None
        except OSError as error:
            raise _unreadable(path, error) from None
        if _entry(entry.key, found).etag != entry.etag:
            raise ChangedError(f"{path} changed while it was read")


def _found(path: Path) -> Entry | None:
    """A file that was listed, if it is one and still there."""
    try:
        found = path.stat()
    except OSError as error:
        if error.errno in _GONE:
            return None
        raise _unreadable(path, error) from None
    return _entry(str(path)[1:], found) if stat.S_ISREG(found.st_mode) else None


def _entry(key: str, found: os.stat_result) -> Entry:
    etag = f"{found.st_ino}-{found.st_size}-{found.st_mtime_ns}"
    return Entry(key, found.st_size, etag, found.st_mtime)


def _raise(error: OSError) -> None:
    raise _unreadable(Path(error.filename or "."), error) from None


def _unreadable(path: Path, error: OSError) -> UnreadableError:
    return UnreadableError(f"{path} cannot be read: {error.strerror or error}")
