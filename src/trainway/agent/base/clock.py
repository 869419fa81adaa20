"""The agent's clock, and how moments are written.

Decisions such as deadlines need a time that survives a restart of the agent, yet must not jump when
somebody sets the machine's clock: the time of day at the start, carried on by a clock that also
counts while a laptop sleeps.
"""

from __future__ import annotations

import time


class Clock:
    """Seconds since 1970 that never run backwards."""

    def __init__(self) -> None:
        self._offset = time.time() - _steady()

    def now(self) -> float:
        """The present moment."""
        return _steady() + self._offset


def _steady() -> float:
    boottime = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if boottime is None else time.clock_gettime(boottime)


def rfc3339(moment: float) -> str:
    """A moment in UTC, to the microsecond."""
    micros = round(moment * 1e6)
    seconds = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(micros // 1000000))
    return f"{seconds}.{micros % 1000000:06d}Z"


def rfc3339_seconds(moment: float) -> str:
    """A moment in UTC as Kubernetes writes it: to the second."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment))
