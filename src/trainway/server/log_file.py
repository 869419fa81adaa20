"""The server's own log: a file that is set aside as `.1` when it is large, also while it is used.

What else the process prints goes to the same file, since whoever starts the server in the
background sends it there; so its standard output and error follow to the new one.
"""

import logging
import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from trainway.telemetry.logs import in_form

LARGEST: Final = 10 << 20
_PRIVATE: Final = 0o600
_STANDARD: Final = (1, 2)


class LogFile(logging.Handler):
    """Writes records to a file of bounded size, and keeps the one before.

    What cannot be written is lost: a full disk must not take more room for saying so.
    """

    def __init__(self, path: Path, largest: int = LARGEST) -> None:
        super().__init__()
        self._path = path
        self._largest = largest
        self._fd = _opened(path)

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record."""
        line = f"{self.format(record)}\n".encode(errors="backslashreplace")
        with suppress(OSError):
            if os.fstat(self._fd).st_size > self._largest:
                self._turn_over()
            os.write(self._fd, line)

    def close(self) -> None:
        """Write no more."""
        os.close(self._fd)
        super().close()

    def _turn_over(self) -> None:
        self._path.replace(self._path.with_name(self._path.name + ".1"))
        full, self._fd = self._fd, _opened(self._path)
        for fd in _STANDARD:
            with suppress(OSError):
                if os.path.sameopenfile(fd, full):
                    os.dup2(self._fd, fd)
        os.close(full)


def log_to(path: Path, form: str) -> None:
    """Let everything that is logged go there, as `text` or `json`."""
    logging.basicConfig(level=logging.INFO, handlers=[in_form(LogFile(path), form)])


def _opened(path: Path) -> int:
    return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, _PRIVATE)
