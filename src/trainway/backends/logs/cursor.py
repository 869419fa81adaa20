"""A place in all logs of a job at once, as a short text.

It holds for every file how much of it was read, so that a reader that comes back misses no line and
sees none twice, even when a file got lines that are older than what was last read from another. A
file is known by the checksum of its name. The text has a checksum too: no other text is taken for a
cursor, which would then be one behind everything.
"""

import base64
import binascii
import struct
import zlib
from collections.abc import Mapping
from typing import Final

from trainway.errors import UsageError

_CHECKSUM: Final = struct.Struct("<I")
_HEAD: Final = struct.Struct("<H")
_ENTRY: Final = struct.Struct("<IQ")


class Cursor:
    """How far each file was read. Files of attempts before `first_attempt` do not count."""

    def __init__(self, first_attempt: int = 0, offsets: Mapping[str, int] | None = None) -> None:
        self.first_attempt = first_attempt
        self._entries: dict[int, bytes] = {}
        self._offsets: dict[int, int] = {}
        for name, offset in (offsets or {}).items():
            self.advance(name, offset)

    def advance(self, name: str, offset: int) -> None:
        """Note that a file was read up to there."""
        if offset:
            self._set(zlib.crc32(name.encode()), offset)

    def offset(self, name: str) -> int:
        """How far a file was read; not at all if it is new."""
        return self._offsets.get(zlib.crc32(name.encode()), 0)

    def text(self) -> str:
        """The cursor as it travels."""
        data = _HEAD.pack(self.first_attempt) + b"".join(self._entries.values())
        checked = _CHECKSUM.pack(zlib.crc32(data)) + data
        return base64.urlsafe_b64encode(checked).rstrip(b"=").decode("ascii")

    @classmethod
    def parse(cls, text: str) -> "Cursor":
        """What `text` gave."""
        try:
            checked = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
            data = checked[_CHECKSUM.size :]
            if _CHECKSUM.unpack_from(checked) != (zlib.crc32(data),):
                raise ValueError("another checksum")
            cursor = cls(*_HEAD.unpack_from(data))
            for key, offset in _ENTRY.iter_unpack(data[_HEAD.size :]):
                cursor._set(key, offset)
        except (ValueError, binascii.Error, struct.error):
            raise UsageError(
                f"not a position in a log: {text[:40]!r}", field="Last-Event-ID"
            ) from None
        return cursor

    def _set(self, key: int, offset: int) -> None:
        self._offsets[key] = offset
        self._entries[key] = _pack(key, offset)


def _pack(key: int, offset: int) -> bytes:
    return _ENTRY.pack(key, offset)
