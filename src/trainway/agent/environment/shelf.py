"""Where the environments of a host are: who makes one, who uses it, and what may go.

An environment is a folder that is named by its content, and a file beside it, written last, says
that it is whole. A lock for each name is held alone by whoever makes or removes it, and shared by
all who use it. The kernel gives up locks with the processes that hold them, whatever ends those; so
a folder without its file is the rest of somebody who was killed.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import posixpath
import re
import time
from contextlib import contextmanager, suppress

from trainway.agent.base import linux
from trainway.agent.base.removal import remove_trees
from trainway.agent.environment.requirements import KEY_LENGTH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from trainway.json_types import Json

FOLDER_VARIABLE = "TRAINWAY_ENVIRONMENTS"
PRIVATE = 0o700
DAY = 86_400.0
FRESH_S = 120.0
PAUSE_S = 0.5
_KEY = re.compile(f"[0-9a-f]{{{KEY_LENGTH}}}")
"""The folder may have others' files in it, which are none of our business."""


def folder_of(environ: Mapping[str, str]) -> str:
    """Where the environments are, as the variables of a job say."""
    named = environ.get(FOLDER_VARIABLE)
    if named:
        return posixpath.abspath(named)
    home = environ.get("HOME") or os.path.expanduser("~")
    cache = environ.get("XDG_CACHE_HOME") or posixpath.join(home, ".cache")
    return posixpath.join(cache, "trainway", "environments")


class Entry:
    """An environment that is whole."""

    def __init__(self, key: str, facts: Json, used: float) -> None:
        self.key = key
        self.facts = facts
        self.used = used
        """When a job last began to use it."""
        self.size = int(facts.get("bytes") or 0)


def superfluous(
    entries: Sequence[Entry], limit: int, days: float, now: float, is_free: Callable[[str], bool]
) -> list[str]:
    """Which environments are to go: the unused first, then the oldest beyond the limit. Pure.

    Whoever has just made one is about to use it, however little room there is; with a limit below
    0 that does not count.
    """
    total = sum(entry.size for entry in entries)
    going: list[str] = []
    for entry in sorted(entries, key=lambda entry: entry.used):
        is_old = now - entry.used > days * DAY
        is_fresh = limit >= 0 and now - entry.used < FRESH_S
        if (is_old or total > limit) and not is_fresh and is_free(entry.key):
            going.append(entry.key)
            total -= entry.size
    return going


class Shelf:
    """The environments of a host, in one folder."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def prepare(self) -> None:
        """Make the folder, for its owner alone: what is in it is run."""
        os.makedirs(posixpath.dirname(self.folder), exist_ok=True)
        os.makedirs(self.folder, PRIVATE, exist_ok=True)
        os.makedirs(posixpath.join(self.folder, "locks"), PRIVATE, exist_ok=True)

    def path(self, key: str) -> str:
        """The folder of an environment, whether it is there or not."""
        return posixpath.join(self.folder, key)

    def facts(self, key: str) -> Json | None:
        """What is known of an environment that is whole; None: it is not there."""
        try:
            with open(self._note(key), "rb") as file:
                facts: Json = json.load(file)
        except (OSError, ValueError):
            return None
        return facts if os.path.isdir(self.path(key)) else None

    @contextmanager
    def alone(self, key: str) -> Iterator[int]:
        """Hold an environment alone; waits for those who make or use it."""
        handle = self._open(key)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield handle
        finally:
            os.close(handle)

    @contextmanager
    def making(self, key: str, pause: Callable[[float], None] = time.sleep) -> Iterator[int | None]:
        """Hold an environment alone, to make it; None: somebody else has made it meanwhile.

        Waits for whoever makes it, and not for those who use it: these may do so for days, or be of
        a gang that waits for this very node. Of one that is in use and has lost its file the rest
        has to stay; then it looks now and then, since others may make it before us.
        """
        handle = self._open(key)
        try:
            while not _is_taken(handle):
                fcntl.flock(handle, fcntl.LOCK_SH)
                if self.facts(key) is not None:
                    break
                fcntl.flock(handle, fcntl.LOCK_UN)
                pause(PAUSE_S)
            yield None if self.facts(key) is not None else handle
        finally:
            os.close(handle)

    def use(self, key: str) -> int | None:
        """Take a share of an environment, until the file is closed; None: it is not there now."""
        handle = self._open(key)
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
            if self.facts(key) is not None:
                os.utime(self._note(key))
                return handle
        os.close(handle)
        return None

    def is_free(self, key: str) -> bool:
        """Whether nobody makes or uses it."""
        handle = self._open(key)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        finally:
            os.close(handle)
        return True

    def finish(self, key: str, facts: Json) -> None:
        """Note that an environment is whole.

        What was installed reaches the disk first: after a loss of power, no note may stand beside
        files that are empty.
        """
        _reach_disk(self.path(key))
        text = json.dumps({**facts, "bytes": _size(self.path(key)), "made": time.time()})
        new = f"{self._note(key)}.new"
        with open(new, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, self._note(key))
        with suppress(OSError):  # some file systems of a network cannot
            _with_folder(self.folder, os.fsync)

    def remove(self, key: str) -> None:
        """Remove one that is held alone: first the word that it is whole."""
        with suppress(FileNotFoundError):
            os.unlink(self._note(key))
        remove_trees([self.path(key)])

    def entries(self) -> list[Entry]:
        """Those that are whole."""
        found = []
        for name in sorted(os.listdir(self.folder)) if os.path.isdir(self.folder) else ():
            key, suffix = posixpath.splitext(name)
            is_ours = suffix == ".json" and _KEY.fullmatch(key) is not None
            facts = self.facts(key) if is_ours else None
            if facts is not None:
                with suppress(OSError):  # removed meanwhile
                    found.append(Entry(key, facts, os.stat(self._note(key)).st_mtime))
        return found

    def prune(self, limit: int, days: float) -> list[Entry]:
        """Remove what is superfluous, never what somebody uses; those that went."""
        entries = self.entries()
        going = superfluous(entries, limit, days, time.time(), self.is_free)
        return [
            entry for entry in entries if entry.key in going and self._remove_if_free(entry.key)
        ]

    def _remove_if_free(self, key: str) -> bool:
        handle = self._open(key)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self.remove(key)
        except OSError:
            return False
        finally:
            os.close(handle)
        return True

    def _open(self, key: str) -> int:
        path = posixpath.join(self.folder, "locks", key)
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)

    def _note(self, key: str) -> str:
        return f"{self.path(key)}.json"


def _is_taken(handle: int) -> bool:
    """Whether a lock could be had alone, at once."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
            raise
        return False
    return True


def _reach_disk(folder: str) -> None:
    """Wait until all files of a folder are on their disk, however many there are."""
    try:
        _with_folder(folder, linux.sync_file_system)
    except linux.SystemCallError as error:
        if error.errno != errno.ENOSYS:
            raise
        os.sync()


def _with_folder(folder: str, function: Callable[[int], None]) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        function(handle)
    finally:
        os.close(handle)


def _size(folder: str) -> int:
    """The bytes of all files; one that has several names counts once."""
    seen: dict[tuple[int, int], int] = {}
    for above, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                found = os.lstat(posixpath.join(above, name))
                seen[found.st_dev, found.st_ino] = found.st_blocks * 512
    return sum(seen.values())
