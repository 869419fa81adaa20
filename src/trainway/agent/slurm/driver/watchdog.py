"""Whether an attempt still counts, where no file that others see could tell.

Slurm begins a job anew elsewhere when it has not heard a node for some time (SlurmdTimeout), and a
node that is cut off cannot be told. So the driver wants to be told the contrary: by the relay,
which listens only to the attempt that Slurm runs, or else by Slurm itself. Where neither is heard
for as long as Slurm waits for a node, this attempt ends. What it wrote on its nodes meanwhile harms
nobody: only what reached the login node counts, and that takes it from the newest attempt.
"""

from __future__ import annotations

import os
import re

from trainway.agent.slurm.fencing import BEAT_SECONDS
from trainway.agent.slurm.files.job_files import HEARD
from trainway.agent.slurm.job_facts import look

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainway.agent.slurm.commands import Commands
    from trainway.agent.slurm.fencing import DriverLease
    from trainway.agent.slurm.job_facts import JobFacts

DOUBT_SECONDS = 6.0
DOUBTS = 10
"""How often Slurm is asked, at most, before an attempt that hears nobody ends."""
SHORTEST_SECONDS = 2 * DOUBT_SECONDS
_TIMEOUT = re.compile(r"^SlurmdTimeout\s*=\s*(\d+)", re.MULTILINE)


def limit_of(configuration: str) -> float:
    """How long Slurm waits for a node, by what `scontrol show config` prints."""
    found = _TIMEOUT.search(configuration)
    return max(SHORTEST_SECONDS, float(found.group(1)) if found else 0.0)


class Watchdog:
    """Ends one attempt that nobody has confirmed for too long."""

    def __init__(self, lease: DriverLease, commands: Commands, limit: float) -> None:
        self._lease = lease
        self._commands = commands
        self._limit = limit
        self._doubt = max(DOUBT_SECONDS, limit / DOUBTS)
        """How much silence there may be before Slurm is asked, and then as much of its own before
        it is asked again."""
        self._silence = self._unasked = 0.0
        """How long nobody was heard, in seconds as this process sees them: while Slurm has it
        stopped, none pass."""
        self._heard = 0.0
        self._is_asking = False

    def check(self) -> bool:
        """Whether this attempt may go on; to be called at every beat."""
        self._silence = 0.0 if self._has_heard_relay() else self._silence + BEAT_SECONDS
        self._unasked += BEAT_SECONDS
        if min(self._silence, self._unasked) >= self._doubt and not self._is_asking:
            self._is_asking, self._unasked = True, 0.0
            look(self._commands, self._lease.token.job, self._on_facts)
        return self._silence < self._limit

    def _has_heard_relay(self) -> bool:
        try:
            heard = os.stat(HEARD, dir_fd=self._lease.directory.fd).st_mtime
        except OSError:
            return False
        before, self._heard = self._heard, heard
        return heard != before

    def _on_facts(self, facts: JobFacts) -> None:
        self._is_asking = False
        self._lease.compare(facts.restarts)
        if facts.is_running:
            self._silence = 0.0
