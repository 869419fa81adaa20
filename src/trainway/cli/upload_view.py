"""How far bytes are on their way, to the server or elsewhere: a line that is drawn again.

Where there is no terminal it is told once, when they begin to travel.
"""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, Final

LEAST: Final = 5_000_000
"""Nothing is said of fewer bytes than these, because they are there at once."""
_REDRAWN_S: Final = 0.1
_MEGABYTE: Final = 1_000_000


@dataclass(frozen=True)
class Wording:
    """What is said around the numbers, at the beginning and on the way."""

    begun: str = "sending {size} MB of files to the server"
    done: str = "{sent} of {size} MB of files sent to the server"


class UploadView:
    """What is shown on stderr."""

    def __init__(
        self,
        stream: IO[str] | None = None,
        clock: Callable[[], float] = time.monotonic,
        wording: Wording = Wording(),  # noqa: B008 - it cannot be changed
    ) -> None:
        self._stream = stream or sys.stderr
        self._clock = clock
        self._wording = wording
        self._drawn = float("-inf")
        self._is_told = False

    def show(self, sent: int, size: int) -> None:
        """So many bytes of so many are sent."""
        if size < LEAST:
            return
        if not self._stream.isatty():
            if not self._is_told:
                self._is_told = True
                self._stream.write(self._wording.begun.format(size=size // _MEGABYTE) + "\n")
            return
        now, is_over = self._clock(), sent >= size
        if is_over or now - self._drawn >= _REDRAWN_S:
            self._drawn = now
            numbers = {"sent": sent // _MEGABYTE, "size": size // _MEGABYTE}
            text = self._wording.done.format(**numbers)
            self._stream.write(f"\r{text}" + ("\n" if is_over else ""))
            self._stream.flush()
