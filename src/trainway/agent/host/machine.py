"""What all jobs of a host share, and how it is swept clean of what they leave behind."""

from __future__ import annotations

import os

from trainway.agent.base.removal import remove_trees
from trainway.agent.kubelet import mounts, process_tree
from trainway.agent.kubelet.command import Command
from trainway.agent.kubelet.helper import Helper

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from trainway.agent.base.clock import Clock
    from trainway.agent.base.directory import Directory
    from trainway.agent.base.event_loop import EventLoop
    from trainway.agent.kubelet.processes import ProcessTable

HOST_MARK = "TRAINWAY_HOST_AGENT"
"""What tells the processes of a job here from those that another agent of the same machine runs."""
PROGRAMS = "bin"
STAGE = "stage"
SWEEP_SECONDS = 0.05
SWEEPS = 200


class Machine:
    """The host."""

    def __init__(
        self,
        home: Directory,
        loop: EventLoop,
        processes: ProcessTable,
        clock: Clock,
        environment: Mapping[str, str],
    ) -> None:
        self.home = home
        self.loop = loop
        self.processes = processes
        self.clock = clock
        self.environment = environment
        home.make(STAGE)
        self.can_mount = mounts.available(home.join(STAGE))
        self.is_busy: Callable[[], bool] = lambda: True
        """Whether any pod runs."""

    def sweep(
        self,
        find: Callable[[], list[int]],
        done: Callable[[list[int]], None],
        sweeps: int = SWEEPS,
    ) -> None:
        """Kill all that is found until nothing is; calls back with what cannot be killed."""
        left = find()
        if not left or not sweeps:
            done(left)
            return
        process_tree.signal_all(left)
        self.loop.call_later(SWEEP_SECONDS, lambda: self.sweep(find, done, sweeps - 1))

    def of_job(self, identity: str) -> list[int]:
        """All processes of a job that were started from here."""
        home = self.home.path
        pids = process_tree.marked(identity)
        return [pid for pid in pids if process_tree.has_mark(pid, HOST_MARK, home)]

    def strays(self) -> list[int]:
        """Processes that some job left behind without any mark; known once none is running."""
        if self.is_busy():
            return []
        ours = self.processes.pids
        return [pid for pid in process_tree.children(os.getpid()) if pid not in ours]

    def discard(
        self, paths: Sequence[str], done: Callable[[bool], None] = lambda _passed: None
    ) -> None:
        """Remove files and directories, in a child since they may be large."""
        command = Command([], env={}, function=lambda: remove_trees(paths))
        try:
            self.processes.start(command, Helper(done), with_output=False)
        except OSError:
            done(False)
