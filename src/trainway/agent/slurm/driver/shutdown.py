"""How the process of a driver ends: by itself, or by waiting until Slurm ends it.

A batch script that ends by itself is over for Slurm, whatever its status. So a driver whose job
goes on in another attempt stays, and one whose job is over goes, though not before somebody has
taken what the job left, where that is only here. When which of them is due is for the driver to
say: see `driver_state`.
"""

from __future__ import annotations

import os

from trainway.agent.slurm.job_facts import look
from trainway.agent.slurm.taken_away import PREEMPTED, are_well, note_end

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from trainway.agent.base.event_loop import EventLoop
    from trainway.agent.slurm.commands import Commands, Result
    from trainway.agent.slurm.driver.node_links import NodeLinks
    from trainway.agent.slurm.fencing import DriverLease
    from trainway.agent.slurm.job_facts import JobFacts

LOOK_SECONDS = 1.0
PATIENCE = 60
"""How often a job is looked at that runs on although its steps were told to end."""
LAST_SECONDS = 5.0


class Shutdown:
    """The end of one driver."""

    def __init__(
        self,
        lease: DriverLease,
        loop: EventLoop,
        commands: Commands,
        links: NodeLinks | None,
        is_held: Callable[[], bool],
        nodes: Collection[str],
    ) -> None:
        """`is_held` tells whether the job is suspended, so that it may take any time.

        `nodes` are those of its pods.
        """
        self._lease = lease
        self._loop = loop
        self._commands = commands
        self._links = links
        self._is_held = is_held
        self._nodes = sorted(nodes)
        self._requeue = ""

    def deliver(self, done: Callable[[], None]) -> None:
        """Say that nothing runs here any more; call back when all that is only here was taken."""
        self._lease.leave()
        if self._links is None:
            done()
        else:
            self._links.wait_until_taken(done)

    def exit(self, *, is_cancelled: bool) -> None:
        """End; nothing is left to be done."""
        if self._links is None:
            self._end(is_cancelled=is_cancelled)
        else:
            self._links.close(lambda: self._end(is_cancelled=is_cancelled))

    def _end(self, *, is_cancelled: bool) -> None:
        if is_cancelled:
            # So that Slurm's own records say CANCELLED.
            self._command("scancel", self._lease.token.job)
            self._loop.call_later(LAST_SECONDS, self._loop.stop)
        else:
            self._loop.stop()

    def wait_for_slurm(self, requeue: str = "") -> None:
        """Say that nothing runs here any more, and wait for Slurm to end this process.

        `requeue` is the word with which Slurm is asked to begin the job anew, if it is.
        """
        self._requeue = requeue
        self._lease.leave()
        if requeue or self._is_held():
            self._look(PATIENCE)
            return
        words = ("scontrol", "--oneliner", "show", "node", ",".join(self._nodes))
        self._commands.run(words, self._on_nodes)

    def _on_nodes(self, result: Result) -> None:
        """Tell the next attempt that it is not for its nodes that Slurm ends this one."""
        if result.ok and are_well(result.stdout, len(self._nodes)):
            note_end(self._lease.directory, PREEMPTED, self._lease.token)
        self._look(PATIENCE)

    def _look(self, looks: int) -> None:
        def on_facts(facts: JobFacts) -> None:
            self._lease.compare(facts.restarts)
            if facts.is_known and not facts.is_running:
                self._stop()
                return
            if facts.is_known and self._requeue:
                self._command("scontrol", self._requeue, self._lease.token.job)
                self._requeue = ""
            waits = facts.is_preempted or not facts.is_known or self._is_held()
            if not waits and not looks:
                self._stop()  # somebody ended the steps, and not the job
                return
            left = looks if waits else looks - 1
            self._loop.call_later(LOOK_SECONDS, lambda: self._look(left))

        look(self._commands, self._lease.token.job, on_facts)

    def _stop(self) -> None:
        if self._links is None:
            self._loop.stop()
        else:
            self._links.close(self._loop.stop)

    def _command(self, *argv: str) -> None:
        def on_result(result: Result) -> None:
            if not result.ok:
                os.write(2, f"{' '.join(argv)}: {result.stderr}\n".encode())

        self._commands.run(argv, on_result)
