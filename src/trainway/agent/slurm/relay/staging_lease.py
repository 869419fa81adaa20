"""Which relay writes down what a job does on nodes that show no files: the one that came last.

A connection that breaks leaves a relay behind that nobody hears, for a minute or two, while the
next one is at work. Two that wrote at once would have every line of a log twice. So each says that
it has come, and begins when the one before has seen that and let go, or is gone.
"""

from __future__ import annotations

import fcntl
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainway.agent.base.directory import Directory

NAME, LOCK = "courier", "courier.lock"
"""The names of the files, which stay: relays of two versions have to see each other."""


class StagingLease:
    """The right of one relay to write down one job, which it loses to a newer one."""

    def __init__(self, directory: Directory) -> None:
        self._directory = directory
        self._name = os.urandom(8).hex().encode()
        self._fd = -1
        self._is_given_up = False

    def check(self) -> bool:
        """Whether nobody else writes, nor wants to; where another one came, this lets go.

        OSError: there is no room to say so.
        """
        if self._is_given_up:
            return False
        if self._fd < 0:
            self._directory.replace(NAME, self._name)
            self._fd = self._directory.open(LOCK, os.O_RDWR | os.O_CREAT)
        if self._directory.read(NAME) != self._name:
            self.close()
            return False
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:  # a file system without locks
            return True
        return True

    def close(self) -> None:
        """Let go for good."""
        self._is_given_up = True
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
