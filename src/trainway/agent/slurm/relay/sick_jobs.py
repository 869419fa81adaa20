"""Jobs that wait in the queue, which Slurm is to keep off nodes that failed a health check.

There are two sorts of them. The driver of a job that gave up a node has had Slurm requeue and hold
it, since the nodes to avoid can be set only for a job that waits: they are set here, and then the
job is released. Whoever suspends such a job has it held for another reason, and releases it
himself. Other jobs may have been waiting when the server set a node aside: they get its name too,
until somebody lets jobs run there again.
"""

from __future__ import annotations

from trainway.agent.slurm.files.job_files import RUN, SCRIPT
from trainway.agent.slurm.relay.exclusion import Exclusion
from trainway.agent.slurm.relay.wishes import RELEASE, words
from trainway.agent.slurm.sick_nodes import added_nodes, excluded_in, only_nodes, sick_nodes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from trainway.agent.slurm.commands import Commands
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
        self._is_told = False
        """Whether the server has said yet which nodes are avoided."""
        self._told: dict[str, frozenset[str]] = {}
        """Which of the avoided nodes Slurm knows for a job, by its number."""
        self._added: dict[str, frozenset[str]] = {}
        """Which nodes it knows for a job from here alone."""

    def avoid(self, nodes: Iterable[object] | None) -> None:
        """Keep all jobs off these nodes from the next look on; None: off the same as before."""
        if nodes is None:
            return
        avoided, self._is_told = only_nodes(nodes), True
        if avoided != self._avoided:
            self._poke()
        self._avoided = avoided

    def look(self, jobs: Iterable[FollowedJob]) -> None:
        """See which jobs wait, and tell Slurm of nodes that it does not know of for them."""
        waiting = [job for job in jobs if job.state is not None and job.state.is_waiting]
        numbers = {job.number for job in waiting}
        self._told = {key: told for key, told in self._told.items() if key in numbers}
        self._added = {key: added for key, added in self._added.items() if key in numbers}
        for job in waiting:
            if job.id in self._under_way:
                continue
            if job.number not in self._added:
                self._added[job.number] = added_nodes(job.files.directory)
            is_free = job.state is not None and job.state.is_held and job.files.wished == RUN
            own = frozenset(sick_nodes(job.files.directory) if is_free else ())
            lacking = self._avoided - self._told.get(job.number, frozenset())
            if lacking and job.number not in self._told:
                self._told[job.number] = self._avoided & _excluded(job)
                lacking -= self._told[job.number]
            lifted = self._added[job.number] - self._avoided if self._is_told else frozenset()
            if lifted:
                lifted = lifted.difference(sick_nodes(job.files.directory))
            if own or lacking or lifted:
                self._under_way.add(job.id)
                added = self._added[job.number]
                self._tell(Exclusion(job, own, lacking, lifted, added), self._avoided)

    def _tell(self, change: Exclusion, avoided: frozenset[str]) -> None:
        job = change.job

        def on_told(is_over: bool) -> None:
            if not is_over:
                self._under_way.discard(job.id)
                return
            self._told[job.number], self._added[job.number] = avoided, change.added
            if change.own:
                self._commands.run(words(RELEASE, job.number), lambda _result: on_end())
            else:
                on_end()

        def on_end() -> None:
            self._under_way.discard(job.id)
            self._poke()

        change.tell(self._commands, on_told)
