"""A large file on its way into a bucket part by part: after a kill only what is missing is sent.

The number of the upload is written down before its first part is sent, and forgotten when the
object is there. A part of a file of this machine that is there already is compared by its checksum,
where the store tells one; of other places the etag of the whole says that it is still the same.
"""

import hashlib
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

from trainway.data.local_files import LocalFiles
from trainway.data.multipart import Part, Parts
from trainway.data.store import ChangedError, Entry, Source
from trainway.data.upload_memory import UploadMemory

AT_ONCE: Final = 4
_MD5: Final = re.compile(r'"?([0-9a-f]{32})"?')


@dataclass(frozen=True)
class PartUpload:
    """One file, and where it goes."""

    source: Source
    entry: Entry
    parts: Parts
    part_size: int
    told: Callable[[int, int], None]
    """Hears of each part how many bytes it has, and how many of them were sent now."""
    is_over: Callable[[], bool]

    def run(self, memory: UploadMemory) -> None:
        """Send what is missing, and make the object."""
        upload, there = self._upload(memory)
        pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="part")
        try:
            count = -(-self.entry.size // self.part_size)
            sent = {
                number: pool.submit(self._one, upload, number, there.get(number))
                for number in range(1, count + 1)
            }
            etags = {number: each.result() for number, each in sent.items()}
        except ChangedError:
            pool.shutdown(wait=True, cancel_futures=True)
            self.parts.abort(upload)
            memory.forget()
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
        self.parts.complete(upload, etags)
        memory.forget()

    def _upload(self, memory: UploadMemory) -> tuple[str, dict[int, Part]]:
        """The upload that an earlier copy has begun for the same content, or a new one."""
        entry = self.entry
        subject = f"{entry.key} {entry.etag} {entry.size} {self.part_size}"
        before, upload = memory.read()
        if upload and before != subject:
            self.parts.abort(upload)
        elif upload and (there := self.parts.there(upload)) is not None:
            return upload, there
        upload = self.parts.begin()
        memory.write(subject, upload)
        return upload, {}

    def _one(self, upload: str, number: int, there: Part | None) -> str:
        if self.is_over():
            raise InterruptedError("another file could not be sent")
        start = (number - 1) * self.part_size
        end = min(start + self.part_size, self.entry.size)
        if there is not None and there.size == end - start and self._is_same(there, start, end):
            self.told(end - start, 0)
            return there.etag
        etag = self.parts.put(upload, number, self._read(start, end))
        self.told(end - start, end - start)
        return etag

    def _is_same(self, there: Part, start: int, end: int) -> bool:
        match = _MD5.fullmatch(there.etag)
        if match is None or not isinstance(self.source, LocalFiles):
            return True
        found = hashlib.md5(self._read(start, end), usedforsecurity=False)
        return found.hexdigest() == match[1]

    def _read(self, start: int, end: int) -> bytes:
        body = b"".join(bytes(each) for each in self.source.read(self.entry, start, end))
        if len(body) != end - start:
            raise ChangedError(f"{self.entry.key} ended early")
        return body
