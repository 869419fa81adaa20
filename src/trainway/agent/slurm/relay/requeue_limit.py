"""Jobs that Slurm holds because it has requeued them too often: they are released.

After five starts that failed for reasons of the nodes Slurm holds a job for ever
(`JobHoldMaxRequeue`), and waits for somebody to look at it. Nobody looks where a server restarts
jobs by itself, so a job that is wanted is released, after pauses that grow: a cluster whose nodes
start nothing is not kept busy by it.
"""

from __future__ import annotations

from trainway.agent.slurm.files.job_files import RUN
from trainway.agent.slurm.relay.wishes import RELEASE, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from trainway.agent.slurm.commands import Commands
    from trainway.agent.slurm.relay.cluster_queue import ClusterQueue
    from trainway.agent.slurm.relay.followed_job import FollowedJob

REASON = "JobHoldMaxRequeue"
FIRST_SECONDS, LONGEST_SECONDS = 5.0, 600.0


def pause_after(releases: int) -> float:
    """How many seconds a job stays held that was released so often before."""
    return min(LONGEST_SECONDS, FIRST_SECONDS * 2.0 ** min(releases, 16))


class RequeueLimit:
    """Releases what is held."""

    def __init__(self, commands: Commands, queue: ClusterQueue, now: Callable[[], float]) -> None:
        self._commands = commands
        self._queue = queue
        self._now = now
        self._held_since: dict[str, float] = {}
        self._releases: dict[str, int] = {}

    def look(self, jobs: Iterable[FollowedJob]) -> None:
        """See which jobs are held, and release those whose pause is over."""
        held = [job for job in jobs if _is_held(job)]
        known, now = self._held_since, self._now()
        self._held_since = {job.number: known.get(job.number, now) for job in held}
        for job in held:
            count = self._releases.get(job.number, 0)
            if now - self._held_since[job.number] >= pause_after(count):
                self._releases[job.number] = count + 1
                del self._held_since[job.number]
                self._commands.run(words(RELEASE, job.number), lambda _result: self._queue.poke())


def _is_held(job: FollowedJob) -> bool:
    is_held = job.is_waiting and job.state is not None and job.state.reason == REASON
    return is_held and job.files.wished == RUN
