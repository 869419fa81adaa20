"""A place of bytes in memory, which counts what is read from it and can be made to fail."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import md5
from typing import Final

from trainway.data.store import PART_SIZE, ChangedError, Entry, Piece


class MemoryStore:
    """Files by their keys; `before_read` is called with the key and the start of each part."""

    part_size: Final = PART_SIZE

    def __init__(self, files: dict[str, bytes] | None = None) -> None:
        self.files = dict(files or {})
        self.times: dict[str, float] = {}
        self.reads: list[tuple[str, int]] = []
        self.before_read: Callable[[str, int], None] = lambda _key, _start: None

    def stat(self, key: str) -> Entry | None:
        """The file of that key."""
        return self._entry(key) if key in self.files else None

    def list(self, folder: str) -> Iterator[Entry]:
        """The files below a folder."""
        prefix = f"{folder}/" if folder else ""
        yield from (self._entry(key) for key in sorted(self.files) if key.startswith(prefix))

    def read(self, entry: Entry, start: int, end: int) -> Iterator[Piece]:
        """A part, counted."""
        self.before_read(entry.key, start)
        try:  # other threads may change it at any time
            content, middle = self.files[entry.key], (start + end) // 2
            found = self._entry(entry.key)
        except KeyError:
            raise ChangedError("removed") from None
        if found.etag != entry.etag:
            raise ChangedError("changed")
        self.reads.append((entry.key, start))
        yield content[start:middle]
        yield content[middle:end]

    def write(self, key: str, size: int, chunks: Iterable[bytes]) -> None:
        """Keep a file."""
        content = b"".join(chunks)
        assert len(content) == size
        self.files[key] = content
        self.times[key] = 2e9

    def delete(self, keys: Sequence[str]) -> None:
        """Forget files."""
        for key in keys:
            self.files.pop(key, None)

    def _entry(self, key: str) -> Entry:
        content = self.files[key]
        etag = md5(content, usedforsecurity=False).hexdigest()
        return Entry(key, len(content), etag, self.times.get(key, 1e9))
