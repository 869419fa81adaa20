"""Files on their way into a bucket, from this machine or from another place.

An object is there when it is whole, or not at all; the store sees to that. A file that is there
already with the same content is not sent again, so a copy that was killed goes on with the file
that it was at; with the part of it that it was at, where the store lets us.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Lock
from typing import Final, Protocol, runtime_checkable

from trainway.data.local_files import LocalFiles
from trainway.data.multipart import Parts
from trainway.data.object_store import sent_part_size
from trainway.data.part_upload import PartUpload
from trainway.data.store import PART_SIZE, ChangedError, Entry, Source, Target
from trainway.data.transfer import Options, Outcome
from trainway.data.upload_memory import remembered
from trainway.errors import NotFoundError

_AT_ONCE: Final = 4
"""So many files; each of them is sent in parts, some at once."""
_ATTEMPTS: Final = 4
_ETAG: Final = re.compile(r'"?[0-9a-f]{32}(-\d+)?"?')


@runtime_checkable
class TakesParts(Protocol):
    """A target to which large files may be sent part by part."""

    def parts(self, key: str) -> Parts | None:
        """The object of that key; None: it must come in one piece."""
        ...


@dataclass(frozen=True)
class Sent:
    """A file to send, and the key it gets."""

    entry: Entry
    key: str


def send(
    source: Source, target: Target, files: Sequence[Sent], options: Options | None = None
) -> Outcome:
    """Bring files into a bucket; all of them are there when this returns."""
    sending = _Sending(source, target, options or Options(), sum(each.entry.size for each in files))
    pool = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="file")
    try:
        for done in [pool.submit(sending.one, each) for each in files]:
            done.result()
    except BaseException:
        sending.is_over = True
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    return sending.outcome


def is_there(source: Source, entry: Entry, found: Entry | None) -> bool:
    """Whether a bucket has a file already, as far as its etag tells.

    S3 makes it from the md5 of the content or of its parts, so a file of this machine can be
    compared without fetching anything. Other etags say nothing, and the file is sent.
    """
    if found is None or found.size != entry.size or not found.etag:
        return False
    if found.etag == entry.etag:
        return True
    match = _ETAG.fullmatch(found.etag)
    if match is None or not isinstance(source, LocalFiles):
        return False
    part = sent_part_size(entry.size) if match[1] else max(entry.size, 1)
    return _etag(source, entry, part, is_in_parts=bool(match[1])) == found.etag.strip('"')


def _etag(source: Source, entry: Entry, part: int, *, is_in_parts: bool) -> str:
    digests = []
    for start in range(0, max(entry.size, 1), part):
        digest = hashlib.md5(usedforsecurity=False)
        for piece in source.read(entry, start, min(start + part, entry.size)):
            digest.update(piece)
        digests.append(digest)
    if not is_in_parts:
        return digests[0].hexdigest()
    of_all = hashlib.md5(b"".join(each.digest() for each in digests), usedforsecurity=False)
    return f"{of_all.hexdigest()}-{len(digests)}"


@dataclass
class _Sending:
    source: Source
    target: Target
    options: Options
    total: int
    is_over: bool = False
    outcome: Outcome = field(default_factory=Outcome)
    _arrived: int = 0
    _lock: Lock = field(default_factory=Lock)

    def one(self, sent: Sent) -> None:
        """Send a file; anew, if it changes meanwhile."""
        entry = sent.entry
        if self._is_there(entry, sent.key):
            with self._lock:
                self.outcome.present += 1
            self._count(entry.size)
        else:
            entry = self._sent(entry, sent.key)
        with self._lock:
            self.outcome.files += 1
            self.outcome.size += entry.size

    def _is_there(self, entry: Entry, key: str) -> bool:
        try:
            return is_there(self.source, entry, self.target.stat(key))
        except ChangedError:
            return False

    def _sent(self, entry: Entry, key: str) -> Entry:
        for _ in range(_ATTEMPTS):
            changed: list[bool] = []
            try:
                if not self._in_parts(entry, key):
                    self.target.write(key, entry.size, self._chunks(entry, changed))
            except ChangedError:
                pass
            except Exception:
                if not changed:
                    raise
            else:
                return entry
            entry = self._seen_again(entry)
        raise ChangedError(
            f"{entry.key} changes again and again while it is sent",
            hint="wait until nobody writes it any more",
        )

    def _in_parts(self, entry: Entry, key: str) -> bool:
        """Send a large file part by part; False: it goes in one piece."""
        size = sent_part_size(entry.size)
        if entry.size <= size or not isinstance(self.target, TakesParts):
            return False
        parts = self.target.parts(key)
        if parts is None:
            return False
        with remembered(parts.name) as memory:
            if memory is None:
                return False
            sending = PartUpload(self.source, entry, parts, size, self._tell, lambda: self.is_over)
            sending.run(memory)
        return True

    def _tell(self, size: int, sent: int) -> None:
        with self._lock:
            self.outcome.fetched += sent
        self._count(size)

    @property
    def _part_size(self) -> int:
        return self.options.part_size or PART_SIZE

    def _chunks(self, entry: Entry, changed: list[bool]) -> Iterator[bytes]:
        """The parts of a file; `changed` hears of a change, since libraries may hide the error.

        They are read in a thread of their own, one ahead: obstore asks for them in the middle of
        its work, where nothing else of it can be called.
        """
        size = self._part_size
        starts = range(0, entry.size, size)
        with ThreadPoolExecutor(1, thread_name_prefix="ahead") as reader:
            ahead = [reader.submit(self._piece, entry, start) for start in starts[:1]]
            for start in starts:
                if self.is_over:
                    raise ChangedError("another file could not be sent")
                try:
                    piece = ahead.pop().result()
                except ChangedError:
                    changed.append(True)
                    raise
                following = start + size
                if following < entry.size:
                    ahead.append(reader.submit(self._piece, entry, following))
                yield piece
                with self._lock:
                    self.outcome.fetched += len(piece)
                self._count(len(piece))

    def _piece(self, entry: Entry, start: int) -> bytes:
        end = min(start + self._part_size, entry.size)
        piece = b"".join(bytes(each) for each in self.source.read(entry, start, end))
        if len(piece) != end - start:
            raise ChangedError(f"{entry.key} ended early")
        return piece

    def _seen_again(self, entry: Entry) -> Entry:
        found = self.source.stat(entry.key)
        if found is None:
            raise NotFoundError(f"{entry.key} was removed while it was sent")
        return found

    def _count(self, arrived: int) -> None:
        with self._lock:
            self._arrived += arrived
            if self.options.progress is not None:
                self.options.progress(min(self._arrived, self.total), self.total)
