"""The queue of a cluster, asked once for all jobs: every second while something changes, else less.

One round is one squeue and, if a job is missing from it, one sacct. A job that is in neither is
lost, though not at once: the database may be slow, and so may be the file system with its journal.
While Slurm does not answer, nothing is known, and nothing is concluded.
"""

from __future__ import annotations

from trainway.agent.slurm.relay import accounting, queue_states
from trainway.agent.slurm.relay.queue_states import UNSURE
from trainway.agent.slurm.relay.slurm_failure import explain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from trainway.agent.base.event_loop import EventLoop, Timer
    from trainway.agent.slurm.commands import Commands, Result
    from trainway.agent.slurm.relay.followed_job import FollowedJob
    from trainway.agent.slurm.relay.queue_query import QueueQuery
    from trainway.agent.slurm.relay.queue_states import QueueState
    from trainway.agent.slurm.relay.relay_frames import SlurmNews
    from trainway.agent.transfer.ssh_failure import Failure


SHORTEST, LONGEST = 1.0, 10.0
SLOWER = 1.4
SOON = 0.2
GRACE = 20.0
"""How long a job may be in neither the queue nor the books before it is lost."""
FIRST = 10
"""How many jobs are told again when nothing but their position changes."""
LOST = "LOST"


class ClusterQueue:
    """Asks for the states of all jobs that are followed."""

    def __init__(
        self,
        loop: EventLoop,
        commands: Commands,
        query: QueueQuery,
        now: Callable[[], float],
        jobs: Callable[[], Collection[FollowedJob]],
    ) -> None:
        self._loop = loop
        self._commands = commands
        self._query = query
        self._now = now
        self._jobs = jobs
        self.accounting = accounting.NONE
        self.on_news: Callable[[FollowedJob, SlurmNews], None] = lambda _job, _fields: None
        """Called with each job whose place in the queue may have changed."""
        self.on_end: Callable[[FollowedJob, SlurmNews], None] = lambda _job, _fields: None
        self.on_round: Callable[[], None] = lambda: None
        """Called after each round."""
        self.on_trouble: Callable[[Failure | None], None] = lambda _failure: None
        """Called when Slurm does not answer, and when it does again."""
        self.states: dict[str, QueueState] = {}
        self.rounds = 0
        """How often Slurm was asked."""
        self._pause = SHORTEST
        self._asked_at = -LONGEST
        self._timer: Timer | None = None
        self._is_asking = False
        self._ask_again = False
        self._waiters: list[Callable[[bool], None]] = []
        self._changed = False

    def poke(self) -> None:
        """Something has changed, or will: ask soon, but not more often than every second."""
        self._pause = SHORTEST
        if self._is_asking:
            self._ask_again = True
        else:
            self._schedule(max(SOON, self._asked_at + SHORTEST - self._now()))

    def when_asked(self, callback: Callable[[bool], None]) -> None:
        """Call back after a round that begins from now on, with whether Slurm answered."""
        self._waiters.append(callback)
        self.poke()

    def _schedule(self, delay: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_later(delay, self._ask)

    def _ask(self) -> None:
        self._timer = None
        if self._is_asking:
            return
        if not self._waiters and not any(not job.is_over for job in self._jobs()):
            return
        self._is_asking, self._changed, self._asked_at = True, False, self._now()
        self.rounds += 1
        waiters, self._waiters = self._waiters, []
        self._query.ask(lambda result: self._on_queue(result, waiters))

    def _on_queue(self, result: Result, waiters: list[Callable[[bool], None]]) -> None:
        goes_on = False
        try:
            if result.ok:
                goes_on = self._take(result.stdout, waiters)
            self.on_trouble(None if result.ok else explain(result))
        finally:
            if not goes_on:
                self._finish(waiters, answered=result.ok)

    def _take(self, text: str, waiters: list[Callable[[bool], None]]) -> bool:
        """Note what squeue said; whether the round goes on with another question."""
        self.states = queue_states.parse(text)
        missing = self._compare()
        if missing and self.accounting != accounting.NONE:
            words = accounting.query(self.accounting, [self._booked(job) for job in missing])
            self._commands.run(words, lambda books: self._on_books(books, missing, waiters))
            return True
        self._judge(missing, {})
        return False

    def _compare(self) -> list[FollowedJob]:
        """Note how jobs are; those that are not in the queue."""
        missing = []
        places = queue_states.positions(self.states.values())
        for job in self._jobs():
            if job.is_over:
                continue
            state = self.states.get(job.number)
            if state is None:
                missing.append(job)
                continue
            job.missing_since, job.seen_at = None, self._asked_at
            if state.is_final and (state.state not in UNSURE or job.doubted == state.state):
                self._changed = True
                self.on_end(job, {"job": job.number, "state": state.state, "reason": state.reason})
                continue
            job.doubted = state.state if state.is_final else ""
            self._changed = self._changed or bool(job.doubted)
            self._tell(job, state, places.get(job.number, 0))
        return missing

    def _tell(self, job: FollowedJob, state: QueueState, place: int) -> None:
        known, job.state = job.state, state
        if known is not None and known.state == state.state == "RUNNING":
            return
        is_same = known is not None and (known.state, known.reason) == (state.state, state.reason)
        if is_same and place > FIRST:
            return
        self._changed = self._changed or not is_same
        fields: SlurmNews = {
            "job": state.job,
            "state": state.state,
            "reason": state.reason,
            "partition": state.partition,
            "nodes": state.nodes,
            "waiting": state.is_waiting,
            "held": state.is_held,
        }
        if place:
            fields["position"] = place
        self.on_news(job, fields)

    def _on_books(
        self, result: Result, missing: list[FollowedJob], waiters: list[Callable[[bool], None]]
    ) -> None:
        try:
            self._judge(missing, accounting.parse(result.stdout) if result.ok else {})
        finally:
            self._finish(waiters, answered=True)

    def _booked(self, job: FollowedJob) -> str:
        """The number under which the books have a job."""
        if self.accounting != accounting.TEXT or job.state is None:
            return job.number
        return job.state.bare

    def _judge(self, missing: list[FollowedJob], ended: dict[str, accounting.Ended]) -> None:
        """Find out what became of jobs that are not in the queue."""
        now = self._now()
        fields: SlurmNews
        for job in missing:
            found = ended.get(self._booked(job))
            if found is not None:
                fields = {"state": found.state, "exit": found.exit_code, "by": found.by}
            elif job.journal.ended:
                fields = {"state": "COMPLETED"}
            elif job.state is not None and job.state.is_undivided and job.journal.last < 0:
                fields = {"state": "CANCELLED"}
            else:
                self._changed = True
                if job.missing_since is None:
                    job.missing_since = now
                if now - job.missing_since < GRACE:
                    continue
                fields = {"state": LOST}
            self._changed = True
            self.on_end(job, {"job": job.number, **fields})

    def _finish(self, waiters: list[Callable[[bool], None]], *, answered: bool) -> None:
        self._is_asking = False
        again, self._ask_again = self._ask_again, False
        self._pause = SHORTEST if self._changed else min(LONGEST, self._pause * SLOWER)
        for waiter in waiters:
            waiter(answered)
        self.on_round()
        if self._timer is None:
            self._schedule(SHORTEST if again or self._waiters else self._pause)
