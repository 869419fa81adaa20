"""One output directory and its copy in a bucket.

Objects are whole or not there; the store sees to that. The manifest is written when all that it
lists is there, and what is to go from the bucket goes after it. So whoever reads the manifest, at
any moment, finds all of its files. What was mirrored is noted beside the output, for the next
server.
"""

import json
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from trainway.backends import job_file
from trainway.data.journal import is_trace
from trainway.data.local_files import LocalFiles
from trainway.data.opening import open_target
from trainway.data.store import ChangedError, Entry, Piece, Source, Target
from trainway.data.transfer import Wanted, fetch
from trainway.data.upload import Sent, send
from trainway.data.uri import Location
from trainway.engine.checkpoint.annotation import NOTE
from trainway.engine.checkpoint.manifest import (
    MOST_BYTES,
    NAME,
    Files,
    Version,
    complete,
    listed,
    manifest_text,
    read_manifest,
    whole,
)
from trainway.engine.times import time_text
from trainway.errors import NotFoundError, TrainwayError, UnavailableError, UnreadableError

_AT_ONCE: Final = 4
_LARGEST_NOTE: Final = 100_000_000
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_STOPS: Final = "the server stops"
_NOT_THERE: Final = (FileNotFoundError, NotADirectoryError)
_Unread = dict[str, OSError | UnreadableError]
"""Why files, and folders with a slash behind them, cannot be read."""
_OWN: Final = ".trainway/"
"""What a function returns is of no use to another job."""


@dataclass(frozen=True)
class _Held:
    """A place to read from until somebody says stop: a server that ends waits for no transfer."""

    source: Source
    is_stopped: Callable[[], bool]

    @property
    def part_size(self) -> int:
        return self.source.part_size

    def stat(self, key: str) -> Entry | None:
        return self.source.stat(key)

    def list(self, folder: str) -> Iterator[Entry]:
        return self.source.list(folder)

    def read(self, entry: Entry, start: int, end: int) -> Iterable[Piece]:
        for piece in self.source.read(entry, start, end):
            if self.is_stopped():
                raise UnavailableError(_STOPS)
            yield piece


class _HeldFiles(LocalFiles):
    """The same for files of this machine, which an upload knows by their kind."""

    def __init__(self, is_stopped: Callable[[], bool]) -> None:
        self._is_stopped = is_stopped

    def read(self, entry: Entry, start: int, end: int) -> Iterator[Piece]:
        for piece in super().read(entry, start, end):
            if self._is_stopped():
                raise UnavailableError(_STOPS)
            yield piece


@dataclass
class Mirror:
    """What of a directory is in the bucket."""

    output: Path
    location: Location
    job: str
    mirrored: dict[str, Version] = field(default_factory=dict)
    _seen: Files = field(default_factory=dict)
    _store: Target | None = None
    _is_known: bool = False
    """Whether it was read what an earlier server had mirrored."""
    _is_stopped: bool = False

    def stop(self) -> None:
        """End what is under way; the next server goes on with it."""
        self._is_stopped = True

    def restore(self) -> int:
        """Bring here what the manifest lists, unless the job has output; how many files came.

        It goes on if it was killed, and does nothing once it was done.
        """
        said = _note(self.output)
        if said is not None and not said.get("restoring"):
            return 0
        if said is None and files_of(self.output):
            self._keep()  # it comes from another place, with what it has written
            return 0
        self._write({"restoring": True})
        wanted = self._wanted()
        fetch(wanted)
        self.mirrored = {
            name: version
            for name, version in files_of(self.output).items()
            if name in {str(each.target.relative_to(self.output)) for each in wanted}
        }
        self._keep()
        return len(wanted)

    def is_pending(self) -> bool:
        """Whether something of a job that is over may be missing in the bucket."""
        said = _note(self.output)
        return bool(said and said.get("pending"))

    def look(self, *, is_over: bool = False) -> bool:
        """Mirror what is complete; whether anything was done."""
        if not self._has_begun():
            return False
        unread: _Unread = {}
        now = _files(self.output, unread)
        if not self.output.is_dir():
            return False  # it was set aside meanwhile, and not all of it was seen
        ready = complete(self._seen, now, is_over=is_over)
        self._seen = now
        names = [name for name in whole(ready, unread) if self.mirrored.get(name) != now[name]]
        sent = self._send(names, now, unread)
        gone = [name for name in self.mirrored if name not in now] if now and not unread else []
        if sent or gone:
            self._list({**self.mirrored, **now} if unread else now, gone)
        for error in unread.values():
            raise error
        if is_over:
            self._keep(is_pending=False)
        return bool(sent or gone)

    def _list(self, now: Files, gone: list[str]) -> None:
        """Write the manifest, and then remove what it does not list any more."""
        names = listed(self.mirrored, now)
        text = manifest_text(names, self.job, time_text(datetime.now(UTC)))
        self._bucket().write(self._key(NAME), len(text), [text])
        self._bucket().delete([self._key(name) for name in gone])
        for name in gone:
            del self.mirrored[name]
        self._keep()

    def _send(self, names: list[str], now: Files, unread: _Unread) -> list[str]:
        """Send files, newest first; one that changes or goes meanwhile waits for the next look.

        One that cannot be read keeps only those back that are in the same folder.
        """
        files = _HeldFiles(lambda: self._is_stopped)

        def one(name: str) -> bool:
            try:
                entry = files.stat(str(self.output / name)[1:])
                if entry is not None and _version(self.output / name) == now[name]:
                    send(files, self._bucket(), [Sent(entry, self._key(name))])
                    return _version(self.output / name) == now[name]
            except (ChangedError, NotFoundError):
                pass
            except UnreadableError as error:
                unread[name] = error
            return False

        with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="checkpoint") as pool:
            done = [
                name for name, is_sent in zip(names, pool.map(one, names), strict=True) if is_sent
            ]
        done = whole(done, unread)
        self.mirrored.update({name: now[name] for name in done})
        return done

    def _wanted(self) -> list[Wanted]:
        """What the manifest lists, in the bucket as it is now."""
        bucket = _Held(self._bucket(), lambda: self._is_stopped)
        uri = str(self.location.of(self._key(NAME)))
        entry = bucket.stat(self._key(NAME))
        if entry is None:
            return []
        if entry.size > MOST_BYTES:
            raise TrainwayError(f"{uri} is too large for a manifest")
        text = b"".join(bytes(piece) for piece in bucket.read(entry, 0, entry.size))
        wanted = []
        for name in read_manifest(text, uri):
            found = bucket.stat(self._key(name))
            place = str(self.location.of(self._key(name)))
            if found is None:
                raise NotFoundError(f"{place} is missing, and the manifest lists it")
            wanted.append(Wanted(bucket, found, place, self.output / name))
        return wanted

    def _has_begun(self) -> bool:
        """Whether the output is the job's own by now, and not still on its way here."""
        if not self._is_known:
            said = _note(self.output)
            if said is None or said.get("restoring"):
                return False
            known = said.get("mirrored")
            for name, version in known.items() if isinstance(known, dict) else ():
                self.mirrored[str(name)] = (int(version[0]), int(version[1]))
            self._is_known = True
        return self.output.is_dir()

    def _bucket(self) -> Target:
        if self._store is None:
            self._store = open_target(self.location)
        return self._store

    def _key(self, name: str) -> str:
        return f"{self.location.key}/{name}"

    def _keep(self, *, is_pending: bool = True) -> None:
        self._is_known = True
        self._write({"mirrored": self.mirrored, "pending": is_pending})

    def _write(self, said: Mapping[str, object]) -> None:
        folder = self.output.parent
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.output.mkdir(mode=0o700, exist_ok=True)
        new = folder / f"{NOTE}.new"
        with suppress(FileNotFoundError):
            new.unlink()
        new.write_text(json.dumps(said), "utf-8", "surrogateescape")
        new.replace(folder / NOTE)


def files_of(output: Path) -> dict[str, Version]:
    """The files below a directory; no links, and nothing of those that fetch into it.

    What goes meanwhile is not there. What cannot be read raises an OSError: whoever took it for
    gone would remove its copy.
    """
    unread: _Unread = {}
    found = _files(output, unread)
    for error in unread.values():
        raise error
    return found


def _files(output: Path, unread: _Unread) -> dict[str, Version]:
    """The same; what cannot be read is noted, and the rest is found."""
    found: dict[str, Version] = {}
    for path, version in _below(output, unread):
        relative = str(path.relative_to(output))
        if not is_trace(relative) and not relative.startswith(_OWN) and _is_text(relative):
            found[relative] = version
    return found


def _below(output: Path, unread: _Unread) -> Iterator[tuple[Path, Version]]:
    folders = [output]
    while folders:
        folder = folders.pop()
        try:
            paths = list(folder.iterdir())
        except _NOT_THERE:
            continue
        except OSError as error:
            unread[f"{folder.relative_to(output)}/"] = error
            continue
        for path in paths:
            try:
                facts = _facts(path)
            except OSError as error:
                unread[str(path.relative_to(output))] = error
                continue
            if facts is not None and stat.S_ISDIR(facts.st_mode):
                folders.append(path)
            elif facts is not None and stat.S_ISREG(facts.st_mode):
                yield path, (facts.st_size, facts.st_mtime_ns)


def _facts(path: Path) -> os.stat_result | None:
    try:
        return path.lstat()
    except _NOT_THERE:
        return None


def _version(path: Path) -> Version | None:
    facts = _facts(path)
    if facts is None or not stat.S_ISREG(facts.st_mode):
        return None
    return facts.st_size, facts.st_mtime_ns


def _is_text(name: str) -> bool:
    """Whether an object can have the name; buckets refuse what is no text."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return name != NAME and not _CONTROL.search(name)


def _note(output: Path) -> dict[str, object] | None:
    """What was noted beside the output; None: nothing, or nothing of ours.

    One that cannot be read raises an OSError: without it a half restored output would count.
    """
    try:
        with job_file.reader(output.parent, output.parent / NOTE) as file:
            said = json.loads(file.read(_LARGEST_NOTE))
    except (*_NOT_THERE, ValueError, RecursionError, job_file.RefusedFileError):
        return None
    return said if isinstance(said, dict) else None
