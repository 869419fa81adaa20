"""How much of the logs of one job is kept on one machine.

What a job writes beyond that is read and dropped, so that the job goes on; the last line of the log
says so. What earlier agents have written counts too.
"""

from __future__ import annotations

import json
import os

from trainway.agent.base.clock import rfc3339

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from trainway.agent.base.directory import Directory

FOLDER = "logs"
SUFFIX = ".log"
DEFAULT = 5 * 10**9
UNITS = ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "kB"))
REASON = "LogLimitReached"
"""The reason of the event that tells of it."""
REACHED = "the logs of this job have reached their limit"
LONGEST_NOTICE = 400


class LogLimit:
    """What several log files may take together."""

    def __init__(
        self, limit: int, used: int = 0, on_reached: Callable[[str], None] = lambda _message: None
    ) -> None:
        self._limit = limit
        self._used = used
        self._on_reached = on_reached
        self._is_told = False

    @property
    def room(self) -> int:
        """Bytes that may still be written."""
        return max(0, self._limit - self._used)

    def spend(self, count: int) -> None:
        """So much was written."""
        self._used += count

    def message(self) -> str:
        """What is to be said when it is reached."""
        return (
            f"{REACHED} of {amount(self._limit)}: what its containers write from now on is not"
            " kept. limits.logs_per_job in config.yaml sets another limit for later jobs."
        )

    def fitting(self, lines: bytes) -> bytes:
        """As many of these whole lines as may still be written."""
        if len(lines) <= self.room:
            return lines
        return lines[: lines.rfind(b"\n", 0, self.room) + 1]

    def notice(self, now: float) -> bytes:
        """The last line of a log; whoever wants to know of it is told, once."""
        message = self.message()
        if not self._is_told:
            self._is_told = True
            self._on_reached(message)
        return f"{rfc3339(now)} e trainway: {message}\n".encode()


def amount(count: int) -> str:
    """A number of bytes, in words."""
    for unit, name in UNITS:
        if count >= unit:
            return f"{count / unit:.3g} {name}"
    return f"{count} bytes"


def limit_of(directory: Directory) -> int:
    """The limit that the plan of a job says."""
    try:
        plan = json.loads(directory.read("plan.json"))
        return int((plan.get("logs") or {}).get("limit") or DEFAULT)
    except (OSError, ValueError, AttributeError, TypeError):
        return DEFAULT


def is_closed(fd: int) -> bool:
    """Whether an open log file ends with the notice."""
    start = max(0, os.fstat(fd).st_size - LONGEST_NOTICE)
    return f" e trainway: {REACHED}".encode() in os.pread(fd, LONGEST_NOTICE, start)


def used_in(directory: Directory, prefix: str = "") -> int:
    """How much the logs of a job take, those whose names begin so."""
    try:
        with os.scandir(directory.join(FOLDER)) as entries:
            names = [entry.name for entry in entries if entry.name.endswith(SUFFIX)]
    except OSError:
        return 0
    return sum(_size(directory, name) for name in names if name.startswith(prefix))


def _size(directory: Directory, name: str) -> int:
    try:
        path = f"{FOLDER}/{name}"
        return os.stat(path, dir_fd=directory.fd, follow_symlinks=False).st_size
    except OSError:
        return 0
