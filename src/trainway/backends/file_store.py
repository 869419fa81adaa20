"""Files that are sent ahead of the jobs that need them, by content: what is here is not sent again.

They are kept as hosts keep large values (`agent.transfer.blobs`), below the server's home. A job
has hard links to its own until it ends; what no job uses goes when there is too much, the longest
unused first.
"""

import errno
import os
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from trainway.agent.base.directory import Directory
from trainway.agent.transfer.blobs import (
    FOLDER,
    BlobError,
    Blobs,
    Part,
    is_part,
    keep,
    stored_files,
)
from trainway.counting import counted
from trainway.errors import ConflictError, TrainwayError, UnavailableError, UsageError
from trainway.json_types import Json

_ANEW: Final = "submit it again from the folder that they are in"


class FileStore:
    """The files of one server; threads may share it."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._lock = threading.Lock()
        self._blobs: Blobs | None = None

    def missing(self, names: Iterable[str]) -> list[str]:
        """Those that have to be sent; to be asked for counts as use."""
        with self._lock:
            try:
                return self._opened().missing(dict.fromkeys(names))
            except BlobError as error:
                raise UsageError(str(error), field="files") from None
            except OSError as error:
                raise _unwritten(error, self._home) from error

    def begin(self, name: str) -> "Incoming":
        """A file that is about to come."""
        with self._lock:
            try:
                return Incoming(self, self._opened().begin(name, os.urandom(8).hex()))
            except BlobError as error:
                raise UsageError(str(error)) from None
            except OSError as error:
                raise _unwritten(error, self._home) from error

    def finish(self, part: Part) -> None:
        """Have a file that came as a whole."""
        with self._lock:
            try:
                self._opened().finish(part)
            except BlobError:
                raise ConflictError(
                    "a file changed while it was sent", hint="submit it again"
                ) from None
            except OSError as error:
                raise _unwritten(error, self._home) from error

    def append(self, part: Part, data: bytes) -> None:
        """Take the next piece of a file."""
        try:
            part.append(data)
        except OSError as error:
            raise _unwritten(error, self._home) from error

    def drop(self, part: Part) -> None:
        """Forget a file that will not come as a whole."""
        (self._home / part.path).unlink(missing_ok=True)

    def _opened(self) -> Blobs:
        if self._blobs is None:
            self._home.mkdir(parents=True, exist_ok=True)
            self._blobs = Blobs(Directory(str(self._home)))
            for stale in (self._home / FOLDER).glob("*.*"):
                if is_part(stale.name):
                    stale.unlink()  # a server that ended in the middle of it
        return self._blobs


class Incoming:
    """A file on its way in. One that is left before its end leaves nothing."""

    def __init__(self, store: FileStore, part: Part) -> None:
        self._store = store
        self._part = part
        self._is_over = False

    def append(self, data: bytes) -> None:
        """Take the next piece."""
        self._store.append(self._part, data)

    def finish(self) -> None:
        """It is all there; ConflictError where its content is another one."""
        self._is_over = True
        self._store.finish(self._part)

    def close(self) -> None:
        """Nothing more comes."""
        if not self._is_over:
            self._store.drop(self._part)


def check_files(home: Path, objects: Sequence[Json]) -> None:
    """See that the files which objects stand for were sent; ConflictError where one was not."""
    folder = home / FOLDER
    gone = [name for name in stored_files(objects) if not (folder / name).is_file()]
    if gone:
        count = f"{counted(len(gone), 'file')} of it"
        raise ConflictError(f"{count} {_are(len(gone))} not on the server any more", hint=_ANEW)


def keep_files(home: Path, objects: Sequence[Json], job: Path) -> None:
    """Have a job keep the files that its objects stand for."""
    names = stored_files(objects)
    if not names:
        return
    directories = Directory(str(home)), Directory(str(job))
    try:
        keep(directories[0], names, directories[1])
    except BlobError:
        check_files(home, objects)
        raise
    finally:
        for directory in directories:
            directory.close()


def _are(count: int) -> str:
    return "are" if count > 1 else "is"


def _unwritten(error: OSError, home: Path) -> TrainwayError:
    is_full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    return UnavailableError(
        f"the server cannot keep files in {home / FOLDER}: {error.strerror}",
        hint="free some space on that disk, then try again" if is_full else None,
    )
