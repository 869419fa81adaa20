"""Shuts a rented machine down that nobody looks after any more, so that it costs nothing for ever.

While a server is there, its pool agent says again and again how long the machine is to wait for it
(`attend`). The last word counts, also for the next daemon, since whoever could say another may be
gone. What a shutdown comes to, a stopped machine or one that is ended, its cloud was told when the
machine was made.
"""

from __future__ import annotations

import json
import math
import os
import time

from trainway.agent.host.solitude import Solitude
from trainway.agent.kubelet.command import Command
from trainway.agent.kubelet.helper import Helper

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from trainway.agent.base.directory import Directory
    from trainway.agent.kubelet.processes import ProcessTable
    from trainway.agent.transfer.frames import Attend


NAME = "unattended.json"
AGAIN_SECONDS = 60.0
"""After so long a shutdown that has not come about is tried again."""
SHUTDOWN = "/sbin/shutdown -h now || shutdown -h now || poweroff"
AS_ROOT = 'if [ "$(id -u)" = 0 ]; then sh -c "$0"; else sudo -n sh -c "$0"; fi'


class SelfShutdown:
    """Knows how long this machine waits for its server, and what ends it then."""

    def __init__(
        self,
        home: Directory,
        processes: ProcessTable,
        environment: Mapping[str, str],
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._home = home
        self._processes = processes
        self._environment = environment
        self._now = now
        self._solitude = Solitude(now())
        self._limit, self._command = _read(home)
        self._is_saved = True
        self._tried_at: float | None = None

    @property
    def is_on(self) -> bool:
        """Whether this machine ends itself one day: until then somebody has to watch."""
        return self._limit is not None

    def attend(self, frame: Attend) -> None:
        """A server is there, and says how long to wait once it is not."""
        given = frame.get("seconds")
        limit = None if given is None else float(given)
        if limit is not None and not 0 <= limit < math.inf:
            raise ValueError(f"{given!r} is no time to wait")
        self._solitude.end()
        self._tried_at = None
        command = str(frame.get("command") or "")
        if self._is_saved and (limit, command) == (self._limit, self._command):
            return
        self._limit, self._command = limit, command
        self._is_saved = False  # a full disk: it holds, and is written when it is said again
        self._save()
        self._is_saved = True

    def _save(self) -> None:
        if self._limit is None:
            self._home.remove(NAME)
        else:
            data = json.dumps({"seconds": self._limit, "command": self._command}).encode()
            self._home.replace(NAME, data, durable=True)

    def look(self, *, busy: bool) -> None:
        """See whether it is time."""
        now = self._now()
        self._solitude.look(now, busy=busy)
        if not self._solitude.is_over(self._limit):
            return
        if self._tried_at is None or now - self._tried_at >= AGAIN_SECONDS:
            self._tried_at = now
            self._shut_down()

    def _shut_down(self) -> None:
        minutes = self._solitude.seconds / 60
        _log(f"no server was heard for {minutes:.1f} minutes, and nothing runs: shutting down")
        command = Command(["sh", "-c", AS_ROOT, self._command or SHUTDOWN], env=self._environment)
        try:
            self._processes.start(command, Helper(_told), with_output=False)
        except OSError as error:
            _log(f"this machine cannot be shut down: {error}")


def _told(is_done: bool) -> None:
    if not is_done:
        _log(f"this machine cannot be shut down now; it is tried again in {AGAIN_SECONDS:g} s")


def _log(text: str) -> None:
    os.write(2, f"{text}\n".encode())


def _read(home: Directory) -> tuple[float | None, str]:
    """What an earlier daemon was told."""
    try:
        data = json.loads(home.read(NAME))
        return float(data["seconds"]), str(data.get("command") or "")
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None, ""
