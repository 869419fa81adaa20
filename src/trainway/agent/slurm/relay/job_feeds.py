"""The jobs that a server follows, and what is sent to it about them: as much as there is room for.

Only jobs that may have something new are asked for it, so that hundreds that wait cost nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from trainway.agent.base.event_loop import EventLoop, Timer
    from trainway.agent.slurm.relay.followed_job import FollowedJob
    from trainway.agent.transfer.connection import Connection


TICK = 0.05
"""How far apart looks may be due that are made together, in seconds."""
SHORTEST, LONGEST = 0.1, 2.0
"""The shortest and the longest time between two looks at a job that is silent, in seconds."""
JOBS_A_SECOND = 200
"""How many jobs are looked at in a second: the more there are, the less often each is."""


class JobFeeds:
    """Looks at the files of jobs, and sends what is new."""

    def __init__(self, loop: EventLoop, now: Callable[[], float], connection: Connection) -> None:
        self._loop = loop
        self._now = now
        self._connection = connection
        connection.on_room = self.pump
        self.jobs: dict[str, FollowedJob] = {}
        self.on_grown: Callable[[FollowedJob], None] = lambda _job: None
        """Called with each job whose files changed."""
        self.gone: set[str] = set()
        """The jobs that are out of the queue for good."""
        self._ready: dict[str, None] = {}
        """The jobs that may have something to send, in the order of their turns."""
        self._timer: Timer | None = None

    def add(self, job: FollowedJob) -> None:
        """Follow a job, in the place of what was said of it before."""
        self.drop(job.id)
        self.gone.discard(job.id)
        self.jobs[job.id] = job
        self.wake(job)

    def drop(self, identity: str) -> None:
        """Follow a job no longer."""
        job = self.jobs.pop(identity, None)
        self._ready.pop(identity, None)
        if job is not None:
            job.close()

    def wake(self, job: FollowedJob) -> None:
        """Look at a job soon, and send what it has."""
        job.hurry()
        self._ready[job.id] = None
        self._loop.call_soon(self.pump)
        self._schedule()

    def _schedule(self) -> None:
        moments = [job.look_at for job in self.jobs.values()]
        if not moments:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_later(max(TICK, min(moments) - self._now()), self._look)

    def _look(self) -> None:
        self._timer = None
        due = self._now() + TICK
        pause = min(LONGEST, max(SHORTEST, len(self.jobs) / JOBS_A_SECOND))
        try:
            for job in [job for job in self.jobs.values() if job.look_at <= due]:
                if job.id in self._ready and not self._connection.has_room:
                    job.look_at = due + TICK  # what it has must go first
                    continue
                has_grown = job.look(pause)
                if has_grown or job.looked_closer:
                    self._ready[job.id] = None
                if has_grown:
                    self.on_grown(job)
            self.pump()
        finally:
            self._schedule()

    def pump(self) -> None:
        """Send what there is room for; jobs take turns."""
        while self._ready and self._connection.has_room:
            identity = next(iter(self._ready))
            del self._ready[identity]
            job = self.jobs.get(identity)
            frame = None if job is None else job.next()
            if job is None or frame is None:
                continue
            self._connection.stream(frame)
            if job.is_told:
                self.drop(identity)
                self.gone.add(identity)
            else:
                self._ready[identity] = None
