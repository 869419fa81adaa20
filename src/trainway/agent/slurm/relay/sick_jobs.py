"""Jobs that wait in the queue, which Slurm is to keep off nodes that failed a health check.

There are two sorts of them. The driver of a job that gave up a node has had Slurm requeue and hold
it, since the nodes to avoid can be set only for a job that waits: they are set here, and then the
job is released. Whoever suspends such a job has it held for another reason, and releases it
himself. Other jobs may have been waiting when the server set a node aside: they get its name too.
"""

from __future__ import annotations

from trainway.agent.slurm.files.job_files import RUN, SCRIPT
from trainway.agent.slurm.job_facts import look
from trainway.agent.slurm.relay.slurm_failure import is_busy, is_silent
from trainway.agent.slurm.relay.wishes import RELEASE, words
from trainway.agent.slurm.sick_nodes import excluded_in, excluding, only_nodes, sick_nodes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from trainway.agent.slurm.commands import Commands, Result
    from trainway.agent.slurm.job_facts import JobFacts
    from trainway.agent.slurm.relay.followed_job import FollowedJob


def _excluded(job: FollowedJob) -> frozenset[str]:
    """The nodes that it was submitted without, so that Slurm need not be asked about each job."""
    try:
        return excluded_in(job.files.directory.read(SCRIPT).decode("utf-8", "replace"))
    except OSError:
        return frozenset()


class SickJobs:
    """Tells Slurm which nodes they do not get, and releases what waits for that."""

    def __init__(self, commands: Commands, poke: Callable[[], None]) -> None:
        """`poke` has the queue asked soon."""
        self._commands = commands
        self._poke = poke
        self._under_way: set[str] = set()
        self._avoided: frozenset[str] = frozenset()
        self._told: dict[str, frozenset[str]] = {}
        """Which of the avoided nodes Slurm knows for a job, by its number."""

    def avoid(self, nodes: Iterable[object] | None) -> None:
        """Keep all jobs off these nodes from the next look on; None: off the same as before.

        A job that waits and was told of a node stays off it, also when others may have it again.
        """
        avoided = self._avoided if nodes is None else only_nodes(nodes)
        if not avoided <= self._avoided:
            self._poke()
        self._avoided = avoided

    def look(self, jobs: Iterable[FollowedJob]) -> None:
        """See which jobs wait, and tell Slurm of nodes that it does not know of for them."""
        waiting = [job for job in jobs if job.state is not None and job.state.is_waiting]
        numbers = {job.number for job in waiting}
        self._told = {key: told for key, told in self._told.items() if key in numbers}
        for job in waiting:
            if job.id in self._under_way:
                continue
            is_free = job.state is not None and job.state.is_held and job.files.wished == RUN
            own = sick_nodes(job.files.directory) if is_free else {}
            lacking = self._avoided - self._told.get(job.number, frozenset())
            if lacking and job.number not in self._told:
                self._told[job.number] = self._avoided & _excluded(job)
                lacking -= self._told[job.number]
            if own or lacking:
                self._under_way.add(job.id)
                self._exclude(job, lacking.union(own), is_released=bool(own))

    def _exclude(self, job: FollowedJob, nodes: Iterable[str], *, is_released: bool) -> None:
        avoided = self._avoided

        def on_facts(facts: JobFacts) -> None:
            if not facts.is_known:
                self._under_way.discard(job.id)
                return
            if facts.has_chosen_nodes and not is_released:
                on_told()
                return
            wanted = excluding(facts.excluded, nodes)
            if wanted == facts.excluded:
                on_told()
                return
            update = ("scontrol", "update", f"JobId={job.number}", f"ExcNodeList={wanted}")
            self._commands.run(update, on_updated)

        def on_updated(result: Result) -> None:
            if not is_released and not result.ok and (is_silent(result) or is_busy(result)):
                self._under_way.discard(job.id)
                return
            on_told()

        def on_told() -> None:
            # Also if Slurm refuses: the check finds the same node again, and names it.
            self._told[job.number] = avoided
            if is_released:
                self._commands.run(words(RELEASE, job.number), on_released)
            else:
                on_end()

        def on_released(_result: Result) -> None:
            on_end()

        def on_end() -> None:
            self._under_way.discard(job.id)
            self._poke()

        look(self._commands, job.number, on_facts)
