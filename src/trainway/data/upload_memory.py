"""Which upload a large file was being sent with, so that a copy that was killed goes on with it.

One small file for each object, in the user's cache: the number of the upload, and what was sent. It
is the lock of the upload, too. Which parts have arrived the store says.
"""

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path

from trainway.data import file_lock


class UploadMemory:
    """What is remembered of one object; nobody else has it meanwhile."""

    def __init__(self, path: Path, handle: int) -> None:
        self._path = path
        self._handle = handle

    def read(self) -> tuple[str, str]:
        """What was sent, and with which upload; empty words: nothing."""
        try:
            found = json.loads(os.pread(self._handle, 1 << 16, 0))
            return str(found["subject"]), str(found["upload"])
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return "", ""

    def write(self, subject: str, upload: str) -> None:
        """Remember an upload, and no other; nothing, where the disk of this machine is full."""
        text = json.dumps({"subject": subject, "upload": upload}).encode()
        with contextlib.suppress(OSError):
            os.ftruncate(self._handle, 0)
            os.pwrite(self._handle, text, 0)

    def forget(self) -> None:
        """There is nothing to go on with."""
        self._path.unlink(missing_ok=True)


@contextlib.contextmanager
def remembered(target: str) -> Iterator[UploadMemory | None]:
    """What is remembered of an object; None: it is being sent, or nothing can be written here."""
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    name = hashlib.sha256(target.encode()).hexdigest()
    path = root / "trainway" / "uploads" / f"{name}.json"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = file_lock.take(path, waits=False)
    except OSError:
        handle = None
    if handle is None:
        yield None
        return
    memory = UploadMemory(path, handle)
    try:
        yield memory
    finally:
        if not memory.read()[1]:
            memory.forget()
        os.close(handle)
