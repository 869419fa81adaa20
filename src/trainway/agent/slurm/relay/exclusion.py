"""One change of the nodes that Slurm keeps a waiting job off: some are added, some taken back.

What is added here is written down first, so that the next relay can take it back too.
"""

from __future__ import annotations

from trainway.agent.slurm.job_facts import look
from trainway.agent.slurm.relay.slurm_failure import is_busy, is_silent
from trainway.agent.slurm.sick_nodes import added_nodes, excluding, note_added, without

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from trainway.agent.slurm.commands import Commands, Result
    from trainway.agent.slurm.job_facts import JobFacts
    from trainway.agent.slurm.relay.followed_job import FollowedJob

    Done = Callable[[bool], None]


class Exclusion:
    """What is to change for a job."""

    def __init__(
        self,
        job: FollowedJob,
        own: frozenset[str],
        lacking: frozenset[str],
        lifted: frozenset[str],
        added: frozenset[str],
    ) -> None:
        """`own`: nodes that the job itself found sick; `lacking`: others that are to be added.

        `lifted` are those of the nodes that were `added` before which are to be taken back.
        """
        self.job = job
        self.own = own
        self._lacking = lacking
        self._lifted = lifted
        self.added = added
        """What may be taken back later."""

    def tell(self, commands: Commands, done: Done) -> None:
        """Tell Slurm. `done` hears whether that is over; otherwise it is to be tried again."""
        self._commands = commands
        self._done = done
        look(commands, self.job.number, self._on_facts)

    def _on_facts(self, facts: JobFacts) -> None:
        if not facts.is_known:
            self._done(False)
        elif facts.has_chosen_nodes and not self.own:
            self._end()
        elif self._lifted and "[" in facts.excluded:
            listing = ("scontrol", "show", "hostnames", facts.excluded)
            self._commands.run(listing, self._on_names)
        else:
            self._update(facts.excluded)

    def _on_names(self, result: Result) -> None:
        if result.ok:
            self._update(",".join(result.stdout.split()))
        else:
            self._done(False)

    def _update(self, excluded: str) -> None:
        wanted = excluding(without(excluded, self._lifted), self.own | self._lacking)
        self.added |= self._lacking.difference(excluded.split(","))
        self._note()
        if wanted == excluded:
            self._end()
        else:
            update = ("scontrol", "update", f"JobId={self.job.number}", f"ExcNodeList={wanted}")
            self._commands.run(update, self._on_updated)

    def _on_updated(self, result: Result) -> None:
        if not self.own and not result.ok and (is_silent(result) or is_busy(result)):
            self._done(False)
        else:  # also if Slurm refuses: the check finds the same node again, and names it
            self._end()

    def _end(self) -> None:
        self.added -= self._lifted
        self._note()
        self._done(True)

    def _note(self) -> None:
        """Write down what may be taken back; where there is no room for it, that is never."""
        directory = self.job.files.directory
        try:
            if self.added != added_nodes(directory):
                note_added(directory, self.added)
        except OSError:
            return
