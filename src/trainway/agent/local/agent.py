"""The agent of one job whose pods are processes of its own: how it is reached, and how it ends."""

from __future__ import annotations

import signal

from trainway.agent.kubelet.status_port import reserved
from trainway.agent.local.pods import LocalPods
from trainway.agent.supervisor.supervisor import Supervisor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainway.agent.base.clock import Clock
    from trainway.agent.base.directory import Directory
    from trainway.agent.base.event_loop import EventLoop
    from trainway.agent.base.journal import Journal
    from trainway.agent.base.plan import Plan
    from trainway.agent.base.records import ProgressRecord
    from trainway.agent.kubelet.status_endpoint import StatusEndpoint
    from trainway.agent.supervisor.control import ControlServer
    from trainway.agent.supervisor.recovery import Remembered
    from trainway.json_types import Json


DRAIN_SECONDS = 2.0
"""How long clients may take to read the end of the journal."""
JOURNAL_RETRY_SECONDS = 1.0
REMOVED_CHECK_SECONDS = 5.0


class LocalAgent:
    """One job, alone in a process."""

    def __init__(
        self, plan: Plan, directory: Directory, loop: EventLoop, journal: Journal, clock: Clock
    ) -> None:
        self._plan = plan
        self._directory = directory
        self._loop = loop
        self._journal = journal
        workplace = LocalPods(plan, directory, loop, journal, clock)
        self._supervisor = Supervisor(plan, loop, journal, clock, workplace, self._stop)
        self._control: ControlServer | None = None
        self._status_endpoint: StatusEndpoint | None = None
        self._status_listener: int | None = None
        loop.on_signal(signal.SIGTERM, self._supervisor.leave)
        loop.on_signal(signal.SIGINT, self._supervisor.leave)

    def start(self, remembered: Remembered | None = None, *, cancelled: bool = False) -> None:
        """Begin, or go on from what is remembered; a job that was cancelled only ends."""
        for name in ("logs", "output", "volumes"):  # also of a job that comes from elsewhere
            self._directory.make(name)
        if self._plan.status:
            self._open_status_port()
        self._supervisor.start(remembered, cancelled=cancelled)

    def listen(self) -> None:
        """Open the control socket: after the first pods, since importing sockets takes its time."""
        from trainway.agent.supervisor.control import ControlServer  # noqa: PLC0415 - see above

        self._control = ControlServer(
            self._directory, self._loop, self._journal, self._supervisor.handle
        )
        if self._status_listener is not None:
            self._take_progress(self._status_listener)
        self._check_removed()

    def _check_removed(self) -> None:
        """End a job whose directory was removed: nobody could ever reach it any more."""
        if self._journal.is_removed:
            self._supervisor.cancel()
        else:
            self._loop.call_later(REMOVED_CHECK_SECONDS, self._check_removed)

    def _open_status_port(self) -> None:
        """Listen before the first process starts: what it reports at once waits to be taken."""
        try:
            self._status_listener = reserved(int(self._plan.status["port"]))
        except OSError as error:
            message = f"progress cannot be reported: {error.strerror}"
            self._supervisor.tell("Warning", "NoProgress", message)

    def _take_progress(self, listener: int) -> None:
        """Let the job's processes report how far they are."""
        from trainway.agent.kubelet.status_endpoint import (  # noqa: PLC0415 - the same
            StatusEndpoint,
        )

        endpoint = StatusEndpoint(
            self._directory, self._loop, self._plan.status, self._on_progress, listener
        )
        self._status_endpoint = endpoint
        self._supervisor.before_end = endpoint.drain

    def _on_progress(self, status: Json) -> None:
        fields: ProgressRecord = {"trainerStatus": status}
        self._journal.append("progress", fields)

    def _stop(self) -> None:
        """Go when the journal is on disk and all watchers have read it."""
        if not self._journal.flush():
            self._loop.call_later(JOURNAL_RETRY_SECONDS, self._stop)
        elif self._control is None:
            self._loop.stop()
        else:
            self._loop.call_later(DRAIN_SECONDS, self._loop.stop)
            self._control.drain(self._loop.stop)

    def fail(self, message: str) -> None:
        """Give up after an error of our own: nothing may be left running, nor start again."""
        self._supervisor.fail(message)
