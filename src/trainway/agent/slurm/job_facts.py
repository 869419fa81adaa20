"""What Slurm says about the job of this allocation, when it matters why it is to end."""

from __future__ import annotations

import re

from trainway.agent.slurm.relay.queue_states import FINAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from trainway.agent.slurm.commands import Commands, Result

_FIELD = re.compile(r"(?:^|\s)(\w+)=(\S*)")
_NEVER = ("", "None", "Unknown", "N/A")


class JobFacts:
    """One look at a job."""

    def __init__(self, text: str) -> None:
        """The text is what `scontrol --oneliner show job` prints; empty: it could not be asked."""
        self._fields: dict[str, str] = {}
        for line in text.splitlines()[:1]:
            for name, value in _FIELD.findall(line):
                self._fields.setdefault(name, value)  # the comment comes last, and may be anything

    @property
    def number(self) -> str:
        """What this part of it is called."""
        return self._fields.get("JobId", "")

    @property
    def restarts(self) -> int:
        """How often it was requeued."""
        return int(self._fields.get("Restarts") or 0)

    @property
    def is_divided(self) -> bool:
        """Whether it has parts with nodes of their own, of which this is the first."""
        return "HetJobId" in self._fields

    @property
    def batch_host(self) -> str:
        """The node of its batch script; empty while it has none."""
        return self._fields.get("BatchHost", "")

    @property
    def is_known(self) -> bool:
        """Whether Slurm answered."""
        return "JobState" in self._fields

    @property
    def is_running(self) -> bool:
        """Whether its end has not begun."""
        return self._fields.get("JobState") == "RUNNING"

    @property
    def is_over(self) -> bool:
        """Whether it has ended for good."""
        return self._fields.get("JobState") in FINAL

    @property
    def exit_signal(self) -> int:
        """The signal that ended its batch script; 0: none did."""
        signal = self._fields.get("ExitCode", "").partition(":")[2]
        return int(signal) if signal.isdigit() else 0

    @property
    def excluded(self) -> str:
        """The nodes that it must not run on, in the short form of Slurm's."""
        found = self._fields.get("ExcNodeList", "")
        return "" if found in (*_NEVER, "(null)") else found

    @property
    def has_chosen_nodes(self) -> bool:
        """Whether its owner has named nodes that it is to run on."""
        return self._fields.get("ReqNodeList", "") not in (*_NEVER, "(null)")

    @property
    def is_preempted(self) -> bool:
        """Whether it has to make room for another one."""
        return self._fields.get("PreemptTime", "") not in _NEVER


def look(commands: Commands, job: str, done: Callable[[JobFacts], None]) -> None:
    """Ask Slurm about a job."""

    def on_result(result: Result) -> None:
        done(JobFacts(result.stdout if result.ok else ""))

    commands.run(("scontrol", "--oneliner", "show", "job", job), on_result)
