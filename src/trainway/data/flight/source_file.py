"""A file of any place of bytes that can be read here and there, as libraries for tables want it."""

import io
from typing import Any, Final

from trainway.data.opening import locate, open_source
from trainway.data.store import Entry, Source
from trainway.errors import NotFoundError

_AHEAD: Final = 1 << 18


class SourceFile(io.RawIOBase):
    """The bytes of a file, fetched as they are asked for; small steps share a request."""

    def __init__(self, source: Source, entry: Entry) -> None:
        super().__init__()
        self._source = source
        self._entry = entry
        self._offset = 0
        self._seen = (0, b"")

    def readable(self) -> bool:
        """It is."""
        return True

    def seekable(self) -> bool:
        """It is."""
        return True

    def tell(self) -> int:
        """Where the next byte comes from."""
        return self._offset

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Go on elsewhere."""
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._offset, io.SEEK_END: self._entry.size}[whence]
        self._offset = max(0, base + offset)
        return self._offset

    def readinto(self, buffer: Any, /) -> int:
        """Fill a buffer, as far as there are bytes."""
        view = memoryview(buffer).cast("B")
        end = min(self._offset + len(view), self._entry.size)
        size = max(0, end - self._offset)
        view[:size] = self._bytes(self._offset, end) if size else b""
        self._offset += size
        return size

    def _bytes(self, start: int, end: int) -> bytes:
        begin, held = self._seen
        if not begin <= start <= end <= begin + len(held):
            begin, stop = start, min(self._entry.size, max(end, start + _AHEAD))
            held = b"".join(map(bytes, self._source.read(self._entry, begin, stop)))
            self._seen = (begin, held)
        return held[start - begin : end - begin]


def opened(uri: str) -> Any:
    """A file by its URI, for pyarrow."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    source, entry = seen(uri)
    return pa.PythonFile(SourceFile(source, entry), mode="r")


def seen(uri: str) -> tuple[Source, Entry]:
    """Where a file is, and in which version."""
    location = locate(_spelled(uri))
    source = open_source(location)
    entry = source.stat(location.key)
    if entry is None:
        raise NotFoundError(f"there is no file {location}")
    return source, entry


def _spelled(uri: str) -> str:
    """Spark's names of schemes are ours."""
    for spark, ours in (("s3a://", "s3://"), ("s3n://", "s3://"), ("gcs://", "gs://")):
        if uri.startswith(spark):
            return ours + uri.removeprefix(spark)
    return (
        f"file://{uri.removeprefix('file:')}"
        if uri.startswith("file:/") and not uri.startswith("file://")
        else uri
    )
