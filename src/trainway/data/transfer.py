"""Many files on their way here, in parts, side by side, in little memory.

A few threads fetch parts, whichever files they belong to; only about twice as many parts as there
are threads wait at a time. A file that changes while it is fetched is begun anew, a few times. The
first error ends it all; what has arrived until then stays for the next attempt.
"""

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from trainway.data.disk import require_room
from trainway.data.download import Download, said_of
from trainway.data.store import ChangedError, Entry, Piece, Source
from trainway.errors import NotFoundError, UnavailableError

WORKERS: Final = 8
_ATTEMPTS: Final = 4
_PAUSES_S: Final = (0.2, 1.0, 3.0)

Progress = Callable[[int, int], None]
"""Is told how many bytes of how many are here."""


@dataclass(frozen=True)
class Wanted:
    """A file to fetch, and where to put it; `uri` is what errors call it."""

    source: Source
    entry: Entry
    uri: str
    target: Path


@dataclass(frozen=True)
class Options:
    """How to fetch."""

    workers: int = WORKERS
    part_size: int | None = None
    """None: as it is best for the source."""
    progress: Progress | None = None
    may_link: bool = False
    """Whether a large file from the cache may be the cache's own, which nobody may write."""
    say: Callable[[str], object] | None = None
    """Is told what is worth a line meanwhile."""


@dataclass
class Outcome:
    """What became of it."""

    files: int = 0
    size: int = 0
    fetched: int = 0
    """Bytes that were fetched now."""
    present: int = 0
    """Files that were there already."""


def fetch(wanted: Sequence[Wanted], options: Options | None = None) -> Outcome:
    """Bring files here; all of them are whole when this returns."""
    found = _Fetching(options or Options(), sum(each.entry.size for each in wanted))
    left = list(wanted)
    for _ in range(_ATTEMPTS):
        left = [_seen_again(each) for each in found.run(left)]
        if not left:
            return found.outcome
    raise ChangedError(
        f"{left[0].uri} changes again and again while it is fetched",
        hint="wait until nobody writes it any more",
    )


@dataclass
class _Fetching:
    options: Options
    total: int
    outcome: Outcome = field(default_factory=Outcome)
    _sizes: dict[Path, int] = field(default_factory=dict)
    _arrived: int = 0
    _error: BaseException | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self, wanted: Sequence[Wanted]) -> list[Wanted]:
        """Fetch what can be fetched; those files that have changed meanwhile come back."""
        changed: list[Wanted] = []
        room = threading.Semaphore(self.options.workers * 2)
        downloads: list[Download] = []
        with ThreadPoolExecutor(self.options.workers, thread_name_prefix="part") as pool:
            try:
                for each in wanted:
                    if self._is_over():
                        break
                    download = self._opened(each)
                    downloads.append(download)
                    for part in download.missing:
                        room.acquire()
                        if self._is_over():
                            room.release()
                            break
                        pool.submit(self._part, each, download, part, changed, room)
            except BaseException:
                pool.shutdown(wait=True, cancel_futures=True)
                for download in downloads:
                    download.close()
                raise
        for download in downloads:
            download.close()
        if self._error is not None:
            raise self._error
        return changed

    def _opened(self, wanted: Wanted) -> Download:
        """A download that knows what is missing; one without parts is finished here."""
        entry, target = wanted.entry, wanted.target
        part_size = self.options.part_size or wanted.source.part_size
        download = Download(wanted.uri, entry, target, part_size)
        try:
            download.open()
            subject = download.subject
            sizes = (end - start for start, end in map(subject.bounds, download.missing))
            rest = sum(sizes)
            self._count(entry.size - rest, 0)
            if download.is_here:
                self.outcome.present += 1
            else:
                require_room(target.parent, rest)
            if not download.missing and not download.is_here:
                download.finish()
        except OSError as error:
            download.close()
            raise said_of(error, target) from None
        except BaseException:
            download.close()
            raise
        before = self._sizes.get(target)  # of the version that has changed meanwhile
        self._sizes[target] = entry.size
        self.outcome.files += before is None
        self.outcome.size += entry.size - (before or 0)
        return download

    def _part(
        self,
        wanted: Wanted,
        download: Download,
        part: int,
        changed: list[Wanted],
        room: threading.Semaphore,
    ) -> None:
        try:
            if self._is_over() or wanted in changed:
                return
            start, end = download.subject.bounds(part)
            self._read(wanted, download, part)
            self._count(end - start, end - start)
        except ChangedError:
            with self._lock:
                if wanted not in changed:
                    changed.append(wanted)
        except BaseException as error:  # noqa: BLE001 - told to whoever waits
            with self._lock:
                self._error = self._error or error
        finally:
            room.release()

    def _read(self, wanted: Wanted, download: Download, part: int) -> None:
        """Fetch a part; again after a pause, if a connection ended in the middle of it."""
        for pause in (*_PAUSES_S, None):
            try:
                pieces = wanted.source.read(wanted.entry, *download.subject.bounds(part))
                return _put(download, part, pieces)
            except UnavailableError:
                if pause is None or self._is_over():
                    raise
                time.sleep(pause)
        return None

    def _is_over(self) -> bool:
        return self._error is not None

    def _count(self, arrived: int, fetched: int) -> None:
        with self._lock:
            self._arrived += arrived
            self.outcome.fetched += fetched
            if self.options.progress is not None:
                self.options.progress(min(self._arrived, self.total), self.total)


def _put(download: Download, part: int, pieces: Iterable[Piece]) -> None:
    try:
        if download.put(part, pieces):
            download.finish()
    except OSError as error:
        raise said_of(error, download.target) from None


def _seen_again(wanted: Wanted) -> Wanted:
    entry = wanted.source.stat(wanted.entry.key)
    if entry is None:
        raise NotFoundError(f"{wanted.uri} was removed while it was fetched")
    return Wanted(wanted.source, entry, wanted.uri, wanted.target)
