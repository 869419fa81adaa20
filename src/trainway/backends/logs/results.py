"""The value of a function, which comes back from a pod in marked lines of its log.

A pod has no disk that the server can read, and no token for the API server. What starts the
function there (`sdk/function_boot.py`) writes the value in pieces, each with the time of the value,
its own number and the number of all. They are kept as they come, so that neither a server that is
started anew nor a line that is read twice does any harm.
"""

import base64
import binascii
import logging
import re
import zlib
from pathlib import Path
from typing import Final

from trainway.backends import job_file

RESULT: Final = Path(".trainway", "result.json")
LARGEST: Final = 1 << 24
"""How many bytes a value may have; `sdk/function_boot.py` has the same number, and writes none that
is larger."""

MARK: Final = b"\x1etrainway-result"
_PIECE: Final = re.compile(rb"\x1etrainway-result (\d{1,20}) (\d{1,6}) (\d{1,6}) ([\w+/=]+)\r?$")
_LONGEST: Final = 4096
"""How many bytes a line with a piece may have."""
_MOST_PIECES: Final = LARGEST // _LONGEST
_MOST_VALUES: Final = 8

log = logging.getLogger(__name__)


class Results:
    """Takes the value of one job out of its logs."""

    def __init__(self, output: Path) -> None:
        self._root = output.parent
        self._result = output / RESULT
        self._pieces: dict[int, dict[int, bytes]] = {}
        """The pieces of each value so far, by its time."""

    def take(self, text: bytes) -> bytes | None:
        """The line without a piece of the value; None if there is nothing else in it."""
        if MARK not in text:
            return text
        piece = _PIECE.search(text) if len(text) <= text.index(MARK) + _LONGEST else None
        if piece is None:
            return text
        moment, number, count = (int(group) for group in piece.groups()[:3])
        self._keep(moment, number, count, piece[4])
        return text[: piece.start()] or None

    def _keep(self, moment: int, number: int, count: int, data: bytes) -> None:
        kept = self._result.with_name(f"result.{moment}")
        try:
            if moment not in self._pieces:
                self._forget_oldest()
                self._pieces[moment] = self._stored(kept)
            pieces = self._pieces[moment]
            if number in pieces or len(pieces) >= _MOST_PIECES:
                return
            pieces[number] = data
            job_file.append(self._root, kept, b"%d %s\n" % (number, data))
            if len(pieces) == count:
                self._finish(moment, b"".join(pieces[index] for index in sorted(pieces)))
        except job_file.RefusedFileError as error:
            job_file.warn(error)

    def _forget_oldest(self) -> None:
        """Values of which only a part has come are kept in memory, but not many."""
        while len(self._pieces) >= _MOST_VALUES:
            del self._pieces[min(self._pieces)]

    def _finish(self, moment: int, data: bytes) -> None:
        """Put the value where it is looked for, unless a later attempt has one already."""
        done = self._result.with_name("result.time")
        if self._moment(done) >= moment:
            return
        try:
            inflating = zlib.decompressobj()
            value = inflating.decompress(base64.b64decode(data), LARGEST + 1)
            if not inflating.eof or len(value) > LARGEST:
                raise zlib.error("it is incomplete or too large")
        except (binascii.Error, zlib.error) as error:
            log.warning("%s: the value of the function cannot be read: %s", self._result, error)
            return
        job_file.replace(self._root, self._result, value)
        job_file.replace(self._root, done, str(moment).encode())

    def _moment(self, done: Path) -> int:
        """When the value was made that is there; -1: there is none."""
        try:
            return int(job_file.read(self._root, done, _LONGEST))
        except (FileNotFoundError, ValueError):
            return -1

    def _stored(self, kept: Path) -> dict[int, bytes]:
        """The pieces that an earlier server has kept."""
        try:
            data = job_file.read(self._root, kept, 2 * LARGEST)
        except FileNotFoundError:
            return {}
        pieces = {}
        *lines, _torn = data.split(b"\n")
        for line in lines:
            number, _, piece = line.partition(b" ")
            if number.isdigit():
                pieces[int(number)] = piece
        return pieces
