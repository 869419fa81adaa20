"""Which parts of a file have arrived: written down beside it, so that a kill costs only a few.

A download is two files beside its target: `.NAME.partial` has the bytes, and `.NAME.parts` says
which of them are there. The first line of it says of which version of which file; each further line
has the number of a part and its checksum, and is written after the part. Checksums are compared
when a download goes on, so a machine that lost power in between costs parts, and no content. Lines
that are torn or wrong count as not written.
"""

import hashlib
import json
import os
import zlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from trainway.data.store import Piece

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers import AEADEncryptionContext

_KEY: Final = hashlib.sha256(b"parts of a file").digest()[:16]
_NONCE: Final = bytes(12)


@dataclass(frozen=True)
class Subject:
    """Of what the parts are; the parts of another subject are of no use."""

    source: str
    etag: str
    size: int
    part_size: int
    version: int = 3

    @property
    def count(self) -> int:
        """How many parts there are."""
        return -(-self.size // self.part_size)

    def bounds(self, part: int) -> tuple[int, int]:
        """From where to where a part reaches."""
        start = part * self.part_size
        return start, min(start + self.part_size, self.size)


def partial_path(target: Path) -> Path:
    """Where the bytes are before they are whole."""
    return target.with_name(f".{target.name}.partial")


def journal_path(target: Path) -> Path:
    """Where it says which parts are there; it is the lock of the download, too."""
    return target.with_name(f".{target.name}.parts")


def is_trace(name: str) -> bool:
    """Whether a name is that of a download that is not whole."""
    last = name.rpartition("/")[2]
    return last.startswith(".") and last.endswith((".partial", ".parts"))


def read_journal(text: bytes, subject: Subject) -> dict[int, int]:
    """The checksums of the parts that are written down for this subject."""
    header, *lines = text.split(b"\n")
    if not lines or header != _header(subject).rstrip(b"\n"):
        return {}
    found = {}
    for line in lines[:-1]:  # behind the last line end is nothing, or a torn line
        part, _, checksum = line.partition(b" ")
        if part.isdigit() and checksum.isdigit() and int(part) < subject.count:
            found[int(part)] = int(checksum)
    return found


class Checksum:
    """That of a part, piece by piece.

    It is GMAC with a key that everybody knows: no protection against anybody, but seven times as
    fast as a CRC, since processors have instructions for it. Where it is forbidden, or on
    hosts that have only Python, it is that CRC.
    """

    def __init__(self) -> None:
        self._crc = 0
        self._sum = _gmac()

    def update(self, piece: Piece) -> None:
        """One more piece."""
        if self._sum is None:
            self._crc = zlib.crc32(piece, self._crc)
        else:
            self._sum.authenticate_additional_data(piece)

    def value(self) -> int:
        """That of all pieces; there must be no more."""
        if self._sum is None:
            return self._crc
        self._sum.finalize()
        return int.from_bytes(self._sum.tag[:8], "big")


def _gmac() -> "AEADEncryptionContext | None":
    try:
        from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415 - slow to import
        from cryptography.hazmat.primitives.ciphers import (  # noqa: PLC0415 - see above
            Cipher,
            algorithms,
            modes,
        )
    except ImportError:
        return None
    try:
        return Cipher(algorithms.AES(_KEY), modes.GCM(_NONCE)).encryptor()
    except UnsupportedAlgorithm:
        return None


def checksum(piece: Piece) -> int:
    """That of a part in one piece."""
    found = Checksum()
    found.update(piece)
    return found.value()


class Journal:
    """The open journal of a download, which nobody else has."""

    def __init__(self, handle: int, subject: Subject) -> None:
        self._handle = handle
        self._subject = subject

    def recorded(self) -> dict[int, int]:
        """What an earlier download has left."""
        return read_journal(_whole(self._handle), self._subject)

    def begin(self) -> None:
        """Forget what there is."""
        os.ftruncate(self._handle, 0)
        os.pwrite(self._handle, _header(self._subject), 0)

    def end_line(self) -> None:
        """See to it that no torn line spoils the next one."""
        text = _whole(self._handle)
        if text and not text.endswith(b"\n"):
            os.ftruncate(self._handle, text.rfind(b"\n") + 1)

    def add(self, part: int, found: int) -> None:
        """Write down that a part is there."""
        os.lseek(self._handle, 0, os.SEEK_END)
        os.write(self._handle, b"%d %d\n" % (part, found))

    def close(self) -> None:
        """Let others have it."""
        os.close(self._handle)


def missing(subject: Subject, arrived: dict[int, int], file: int) -> Iterator[int]:
    """The parts that are not in a file, or not as they are written down."""
    for part in range(subject.count):
        start, end = subject.bounds(part)
        found = arrived.get(part)
        if found is None or checksum(os.pread(file, end - start, start)) != found:
            yield part


def _header(subject: Subject) -> bytes:
    return json.dumps(asdict(subject)).encode() + b"\n"


def _whole(handle: int) -> bytes:
    return os.pread(handle, os.fstat(handle).st_size, 0)
