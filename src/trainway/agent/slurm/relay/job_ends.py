"""Carries out what is wanted of jobs, step by step, as the queue tells how far they are."""

from __future__ import annotations

from trainway.agent.slurm.files.job_files import CANCEL, LEAVE, RUN, SUSPEND
from trainway.agent.slurm.relay.relay_answers import refusal, refusal_of
from trainway.agent.slurm.relay.slurm_failure import explain, is_busy, is_gone
from trainway.agent.slurm.relay.wishes import ASK, DONE, RELEASE, WAIT, Wish, words
from trainway.agent.transfer.file_names import STOPPED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from trainway.agent.base.event_loop import EventLoop
    from trainway.agent.slurm.commands import Commands, Result
    from trainway.agent.slurm.relay.cluster_queue import ClusterQueue
    from trainway.agent.slurm.relay.followed_job import FollowedJob
    from trainway.agent.slurm.relay.relay_frames import RelayAnswer

    Answer = Callable[[RelayAnswer], None]

STEP_SECONDS = 0.5
ENDED = "the job has ended"
NOT_REQUEUED: RelayAnswer = {
    "ok": False,
    "error": "the job must not be requeued, so it cannot be suspended while it runs",
    "hint": "submit it without --slurm no-requeue",
}


class JobEnds:
    """What is wanted of jobs, at most one thing of each."""

    def __init__(
        self,
        loop: EventLoop,
        now: Callable[[], float],
        commands: Commands,
        queue: ClusterQueue,
    ) -> None:
        self._loop = loop
        self._now = now
        self._commands = commands
        self._queue = queue
        self._wishes: dict[str, tuple[FollowedJob, Wish]] = {}
        self._answers: dict[str, list[Answer]] = {}
        self._stepping = False

    def wish(self, job: FollowedJob, kind: str, answer: Answer, grace: float | None = None) -> None:
        """Begin to have something done; answered when it is."""
        known = self._wishes.get(job.id)
        if known is not None and known[1].kind == CANCEL != kind:
            answer(refusal("the job is being cancelled"))
            return
        if kind == SUSPEND and not job.is_waiting and not job.files.may_be_requeued:
            answer(NOT_REQUEUED)
            return
        seconds = job.files.grace if grace is None else float(grace)
        if known is not None and known[1].kind == kind:
            known[1].grace = min(known[1].grace, seconds)
        else:
            self._answer(job.id, {"ok": True})  # whoever asked for something else changed its mind
            before = self._before(job, known[1] if known is not None else None)
            wish = Wish(kind, self._now(), seconds, before)
            if not wish.steps:
                job.files.wish(kind)
            self._wishes[job.id] = (job, wish)
        self._answers.setdefault(job.id, []).append(answer)
        self.step_of(job)
        self._queue.poke()
        self._step_later()

    def leave(self, job: FollowedJob, answer: Answer) -> None:
        """Hold a job, then end it for Slurm alone; answered when it is out of the queue.

        That it is given up is written down first: its end in the queue is then not its own.
        """
        if job.files.wished == LEAVE:
            self.wish(job, LEAVE, answer, grace=0)
            return

        def on_held(fields: RelayAnswer) -> None:
            if fields["ok"]:
                self.wish(job, LEAVE, answer, grace=0)
            else:
                answer(fields)

        self.wish(job, SUSPEND, on_held)

    def _before(self, job: FollowedJob, known: Wish | None) -> Wish | None:
        """What was wanted before, maybe by an earlier relay: a job that runs all the same."""
        now = self._now()
        if known is None:
            if job.files.wished != SUSPEND or job.is_waiting:
                return None
            known = Wish(SUSPEND, now, job.files.grace)
            known.took(ASK, now)
        if known.has_stopped_at is None and _has_stopped(job):
            known.has_stopped_at = now
        return known

    def replaced(self, job: FollowedJob) -> None:
        """A job is followed anew."""
        if job.id in self._wishes:
            self._wishes[job.id] = (job, self._wishes[job.id][1])

    def step(self) -> None:
        """See how far all are."""
        for job, _ in list(self._wishes.values()):
            self.step_of(job)

    def step_of(self, job: FollowedJob) -> None:
        """See how far one is."""
        if job.id not in self._wishes:
            return
        _, wish = self._wishes[job.id]
        now = self._now()
        if not job.is_over and wish.has_stopped_at is None and _has_stopped(job):
            wish.has_stopped_at = now
        step = wish.next_step(job.state, now, is_over=job.is_over)
        if step == DONE and not job.is_over and job.seen_at < wish.made_at:
            return  # that is how it was before
        if wish.kind == RUN and step in (DONE, RELEASE) and job.files.wished != RUN:
            job.files.wish(RUN)  # not before: its driver has yet to say that it has stopped
        if step == DONE:
            self._finish(job, wish)
        elif step != WAIT:
            wish.took(step, now)
            if step == ASK and job.staging is not None:
                job.staging.ask_to_stop(wish.kind)
                return
            self._commands.run(
                words(step, job.number), lambda result: self._on_step(job, step, result)
            )

    def _on_step(self, job: FollowedJob, step: str, result: Result) -> None:
        self._queue.poke()
        if result.ok or step == ASK or is_gone(result) or is_busy(result):
            return
        self._wishes.pop(job.id, None)
        self._answer(job.id, refusal_of(explain(result)))

    def _finish(self, job: FollowedJob, wish: Wish) -> None:
        del self._wishes[job.id]
        if wish.kind == SUSPEND and job.is_over:
            self._answer(job.id, refusal(ENDED))
        else:
            self._answer(job.id, {"ok": True})

    def _answer(self, identity: str, fields: RelayAnswer) -> None:
        for answer in self._answers.pop(identity, []):
            answer(fields)

    def _step_later(self) -> None:
        if not self._stepping and self._wishes:
            self._stepping = True
            self._loop.call_later(STEP_SECONDS, self._on_time)

    def _on_time(self) -> None:
        self._stepping = False
        self.step()
        if self._wishes:
            self._queue.poke()
        self._step_later()


def _has_stopped(job: FollowedJob) -> bool:
    """Whether the driver has stopped all pods."""
    return job.journal.ended or job.files.has(STOPPED)
