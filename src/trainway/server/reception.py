"""Files that come one after the other in the body of a request, which is never held as a whole.

Each is a line with its SHA-256 and its size, and its bytes behind that:

    <SHA-256 in hexadecimal digits> <size>
    <bytes><SHA-256 in hexadecimal digits> <size>
    <bytes>

One that came as a whole stays, whatever becomes of the next: who sends the rest later need not
begin anew.
"""

from typing import Final

from trainway.backends.file_store import FileStore, Incoming
from trainway.errors import UsageError

LARGEST: Final = 4_000_000_000
"""The most bytes one file may have."""
_LONGEST_HEAD: Final = 100


class Reception:
    """One request."""

    def __init__(self, store: FileStore) -> None:
        self._store = store
        self._head = b""
        self._incoming: Incoming | None = None
        self._left = 0
        self.count = 0
        """How many files came as a whole."""

    def feed(self, data: bytes) -> None:
        """Take the next bytes of the body."""
        position = 0
        while position < len(data):
            if self._incoming is None:
                position = self._read_head(data, position)
            else:
                end = min(position + self._left, len(data))
                self._incoming.append(data[position:end])
                self._left -= end - position
                position = end
            self._finish()

    def end(self) -> None:
        """The body is over; UsageError where it ends in the middle of a file."""
        if self._incoming is not None or self._head:
            raise UsageError("the body ends in the middle of a file")

    def close(self) -> None:
        """Let go of what is not whole."""
        if self._incoming is not None:
            self._incoming.close()

    def _read_head(self, data: bytes, position: int) -> int:
        """Read the line before a file, or what there is of it; where to go on."""
        end = data.find(b"\n", position)
        self._head += data[position:] if end < 0 else data[position:end]
        if len(self._head) > _LONGEST_HEAD:
            raise UsageError("the body is not a sequence of files")
        if end < 0:
            return len(data)
        name, _, size = self._head.decode("latin-1").partition(" ")
        self._head = b""
        if not (size.isascii() and size.isdigit()):
            raise UsageError("the body is not a sequence of files")
        if int(size) > LARGEST:
            raise UsageError(f"a file of {size} bytes is too large; {LARGEST} is the most")
        self._incoming, self._left = self._store.begin(name), int(size)
        return end + 1

    def _finish(self) -> None:
        if self._incoming is not None and not self._left:
            incoming, self._incoming = self._incoming, None
            incoming.finish()
            self.count += 1
