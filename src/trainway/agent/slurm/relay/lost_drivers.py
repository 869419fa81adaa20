"""A driver that somebody killed: its job goes back into the queue of Slurm, though not for ever.

To Slurm a batch script that was killed has failed, and its job with it, though nothing is wrong
with the job. The next driver goes on from the journal, as after a node that was lost. A job may be
what kills its driver, so this happens a few times at most. What was wanted of the job meanwhile
counts: a job that was to be suspended is held in the queue, and one that was to be cancelled ends
as cancelled.
"""

from __future__ import annotations

import signal

from trainway.agent.slurm.fencing import Token
from trainway.agent.slurm.files.job_files import CANCEL, RUN, SUSPEND
from trainway.agent.slurm.job_facts import look
from trainway.agent.slurm.relay.slurm_failure import is_busy, is_silent
from trainway.agent.slurm.taken_away import note_end
from trainway.agent.supervisor.recovery import AGENT_LOST

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from trainway.agent.slurm.commands import Commands, Result
    from trainway.agent.slurm.job_facts import JobFacts
    from trainway.agent.slurm.relay.followed_job import FollowedJob
    from trainway.agent.slurm.relay.relay_frames import SlurmNews

    OnEnd = Callable[[FollowedJob, SlurmNews], None]

MOST = 3
REQUEUE = {RUN: "requeue", SUSPEND: "requeuehold"}
"""How a job goes back into the queue, by what is wanted of it."""
WITHOUT_RESULT = frozenset({"BOOT_FAIL", "FAILED", "LOST", "NODE_FAIL", "PREEMPTED"})
"""The ends that say nothing about what the job itself did."""
COUNT = "lost-drivers"
"""The file of a job that says how many drivers it has lost."""


class LostDrivers:
    """Hears of every end of a job before anybody else does, and passes it on if it is one."""

    def __init__(self, commands: Commands, poke: Callable[[], None], pass_on: OnEnd) -> None:
        """`poke` has the queue asked soon."""
        self._commands = commands
        self._poke = poke
        self._pass_on = pass_on
        self._under_way: set[str] = set()

    def on_end(self, job: FollowedJob, fields: SlurmNews) -> None:
        """A job has ended, as far as Slurm knows."""
        if job.id in self._under_way:
            return
        job.journal.look()
        if _is_cancelled(job, fields):
            fields = {**fields, "state": "CANCELLED"}
        if fields.get("state") != "FAILED" or not _may_go_on(job):
            self._pass_on(job, fields)
            return
        self._under_way.add(job.id)
        look(self._commands, job.number, lambda facts: self._on_facts(job, fields, facts))

    def _on_facts(self, job: FollowedJob, fields: SlurmNews, facts: JobFacts) -> None:
        if facts.exit_signal != signal.SIGKILL:
            self._under_way.discard(job.id)
            self._pass_on(job, fields)
            return
        token = Token.parse(f"{job.number}.{facts.restarts}")
        note_end(job.files.directory, AGENT_LOST, token)
        words = ("scontrol", REQUEUE.get(job.files.wished, "requeue"), job.number)
        self._commands.run(words, lambda result: self._on_requeued(job, fields, result))

    def _on_requeued(self, job: FollowedJob, fields: SlurmNews, result: Result) -> None:
        self._under_way.discard(job.id)
        if result.ok:
            job.files.directory.replace(COUNT, str(_lost(job) + 1).encode(), durable=True)
        elif not is_busy(result) and not is_silent(result):
            self._pass_on(job, fields)
            return
        self._poke()


def _is_cancelled(job: FollowedJob, fields: SlurmNews) -> bool:
    """Whether it was to end, and somebody else ended it before it was asked to."""
    is_open = fields.get("state") in WITHOUT_RESULT and not job.journal.ended
    return is_open and job.files.wished == CANCEL


def _may_go_on(job: FollowedJob) -> bool:
    if job.journal.ended or job.staging is not None or _lost(job) >= MOST:
        return False
    return job.files.may_be_requeued and job.files.wished in REQUEUE


def _lost(job: FollowedJob) -> int:
    try:
        return int(job.files.directory.read(COUNT))
    except (OSError, ValueError):
        return 0
