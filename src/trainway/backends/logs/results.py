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

RESULT: Final = Path(".trainway", "result.json")

_MARK: Final = b"\x1etrainway-result"
_PIECE: Final = re.compile(rb"\x1etrainway-result (\d{1,20}) (\d{1,6}) (\d{1,6}) ([\w+/=]+)\r?$")
_PRIVATE: Final = 0o700
_LONGEST: Final = 4096
"""Bytes of a line with a piece."""

log = logging.getLogger(__name__)


class Results:
    """Takes the value of one job out of its logs."""

    def __init__(self, output: Path) -> None:
        self._result = output / RESULT
        self._pieces: dict[int, dict[int, bytes]] = {}
        """Those of each value so far, by its time."""

    def take(self, text: bytes) -> bytes | None:
        """The line without a piece of the value; None if there is nothing else in it."""
        if _MARK not in text:
            return text
        piece = _PIECE.search(text) if len(text) <= text.index(_MARK) + _LONGEST else None
        if piece is None:
            return text
        moment, number, count = (int(group) for group in piece.groups()[:3])
        self._keep(moment, number, count, piece[4])
        return text[: piece.start()] or None

    def _keep(self, moment: int, number: int, count: int, data: bytes) -> None:
        folder = self._result.parent
        kept = folder / f"result.{moment}"
        if moment not in self._pieces:
            folder.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
            self._pieces[moment] = _stored(kept)
        pieces = self._pieces[moment]
        if number in pieces:
            return
        pieces[number] = data
        with kept.open("ab") as file:
            file.write(b"%d %s\n" % (number, data))
        if len(pieces) == count:
            self._finish(moment, b"".join(pieces[index] for index in sorted(pieces)))

    def _finish(self, moment: int, data: bytes) -> None:
        """Put the value where it is looked for, unless a later attempt has one already."""
        done = self._result.with_name("result.time")
        if done.exists() and int(done.read_text()) >= moment:
            return
        try:
            value = zlib.decompress(base64.b64decode(data))
        except (binascii.Error, zlib.error) as error:
            log.warning("%s: the value of the function cannot be read: %s", self._result, error)
            return
        draft = self._result.with_suffix(".new")
        draft.write_bytes(value)
        draft.replace(self._result)
        done.write_text(str(moment))


def _stored(kept: Path) -> dict[int, bytes]:
    """The pieces that an earlier server has kept."""
    if not kept.exists():
        return {}
    pieces = {}
    *lines, _torn = kept.read_bytes().split(b"\n")
    for line in lines:
        number, _, data = line.partition(b" ")
        pieces[int(number)] = data
    return pieces
