"""What all places of bytes have in common: few calls, the same for each of them.

Whoever reads a part says which version of the file it belongs to. Where the file has become another
one meanwhile, nothing is mixed: the reader is told, and begins anew.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from trainway.errors import ConflictError

Piece = bytes | memoryview

PART_SIZE: Final = 8 << 20
"""In parts of that size files are usually fetched."""


@dataclass(frozen=True)
class Entry:
    """A file somewhere, in the version that was seen."""

    key: str
    size: int
    etag: str
    """Whatever changes with the content."""
    modified: float | None = None
    """Seconds since 1970; not every place tells them."""
    sha256: str = ""
    """Of the content, where that is known before it is read."""
    git_sha1: str = ""
    """Of the content as git stores it, where that is known."""


class ChangedError(ConflictError):
    """The file is not the one that was seen."""


class Source(Protocol):
    """Somewhere to read from."""

    @property
    def part_size(self) -> int:
        """In parts of which size its files are best fetched."""
        ...

    def stat(self, key: str) -> Entry | None:
        """The file of that key; None: there is none."""
        ...

    def list(self, folder: str) -> Iterator[Entry]:
        """All files below a folder; an empty one is all there is."""
        ...

    def read(self, entry: Entry, start: int, end: int) -> Iterable[Piece]:
        """The bytes from start up to end, as they come, or ChangedError, at the end at last.

        A piece is good until the next one is asked for.
        """
        ...


class Target(Source, Protocol):
    """Somewhere to write to, too."""

    def write(self, key: str, size: int, chunks: Iterable[bytes]) -> None:
        """Make a file of so many bytes; it is there when it is whole, or not at all."""
        ...

    def delete(self, keys: Sequence[str]) -> None:
        """Remove files; those that are gone already are no error."""
        ...
