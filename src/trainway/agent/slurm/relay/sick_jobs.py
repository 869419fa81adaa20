"""Jobs that gave up a node which failed their health check: Slurm is to keep them off it.

Their driver has had Slurm requeue and hold them, since the nodes to avoid can be set only for a
job that waits. They are set here, and then the job is released. Whoever suspends such a job has it
held for another reason, and releases it himself.
"""

from __future__ import annotations

from trainway.agent.slurm.files.job_files import RUN
from trainway.agent.slurm.job_facts import look
from trainway.agent.slurm.relay.wishes import RELEASE, words
from trainway.agent.slurm.sick_nodes import excluding, sick_nodes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from trainway.agent.slurm.commands import Commands, Result
    from trainway.agent.slurm.job_facts import JobFacts
    from trainway.agent.slurm.relay.followed_job import FollowedJob


class SickJobs:
    """Releases what waits for that."""

    def __init__(self, commands: Commands, poke: Callable[[], None]) -> None:
        """`poke` has the queue asked soon."""
        self._commands = commands
        self._poke = poke
        self._under_way: set[str] = set()

    def look(self, jobs: Iterable[FollowedJob]) -> None:
        """See which jobs are held, and go on with those that have sick nodes."""
        for job in jobs:
            is_held = job.state is not None and job.state.is_held
            if not is_held or job.id in self._under_way or job.files.wished != RUN:
                continue
            nodes = sick_nodes(job.files.directory)
            if nodes:
                self._under_way.add(job.id)
                self._exclude(job, nodes)

    def _exclude(self, job: FollowedJob, nodes: Iterable[str]) -> None:
        def on_facts(facts: JobFacts) -> None:
            if not facts.is_known:
                self._under_way.discard(job.id)
                return
            listed = f"ExcNodeList={excluding(facts.excluded, nodes)}"
            update = ("scontrol", "update", f"JobId={job.number}", listed)
            self._commands.run(update, on_updated)

        def on_updated(_result: Result) -> None:
            # Also if Slurm refuses: the check finds the same node again, and names it.
            self._commands.run(words(RELEASE, job.number), on_released)

        def on_released(_result: Result) -> None:
            self._under_way.discard(job.id)
            self._poke()

        look(self._commands, job.number, on_facts)
