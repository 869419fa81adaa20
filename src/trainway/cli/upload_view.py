"""How far the files of a job are on their way to the server: a line that is drawn again.

Where there is no terminal it is told once, when they begin to travel.
"""

import sys
import time
from collections.abc import Callable
from typing import IO, Final

LEAST: Final = 5_000_000
"""Nothing is said of fewer bytes than these, because they are there at once."""
_REDRAWN_S: Final = 0.1
_MEGABYTE: Final = 1_000_000


class UploadView:
    """What is shown on stderr."""

    def __init__(
        self, stream: IO[str] | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._stream = stream or sys.stderr
        self._clock = clock
        self._drawn = float("-inf")

    def show(self, sent: int, size: int) -> None:
        """So many bytes of so many are sent."""
        if size < LEAST:
            return
        if not self._stream.isatty():
            if not sent:
                self._stream.write(f"sending {size // _MEGABYTE} MB of files to the server\n")
            return
        now, is_over = self._clock(), sent >= size
        if is_over or now - self._drawn >= _REDRAWN_S:
            self._drawn = now
            text = f"{sent // _MEGABYTE} of {size // _MEGABYTE} MB of files sent to the server"
            self._stream.write(f"\r{text}" + ("\n" if is_over else ""))
            self._stream.flush()
