"""What queues and users have had: shares of the managed queue, and GPU-hours of the month. Pure.

Jobs that are over are added up once, when they end or when the server starts. What runs is a sum
too, of lines that rise with time (`running_use.py`). Usage halves in a week
(`queueing/fair_share.py`), which here is a factor that grows with the time of use, so that a sum
need not be touched again.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Final

from trainway.engine.queues.gangs import request_of, seconds, user_of
from trainway.engine.queues.months import month_of, month_start
from trainway.engine.queues.record import EndedJob
from trainway.engine.queues.running_use import RunningUse
from trainway.queueing.amounts import GPU
from trainway.queueing.fair_share import HALF_LIFE_S, decayed
from trainway.queueing.snapshot import Used, cost_of

KEPT_S: Final = 35 * 24 * 3600
"""How long ago a job may have ended to count: a month, and five times what halves a share."""
_FARTHEST_S: Final = 50 * HALF_LIFE_S
"""How far from now use may count as one: numbers of any clock stay small enough to reckon with."""


@dataclass
class UsageBook:
    """The sums of jobs that are over."""

    _zero: float
    """The time, since the epoch, at which a second of use counts as one."""
    _by_user: dict[tuple[str, str], float] = field(default_factory=lambda: defaultdict(float))
    _gpus: dict[tuple[str, str], float] = field(default_factory=lambda: defaultdict(float))
    """GPU-seconds by month and queue."""

    def add(self, job: EndedJob, now: float) -> None:
        """Count a job that is over; if the clock was set back since, it has ended just now."""
        if not job.started or not job.finished:
            return
        self._keep_near(now)
        whole = max(seconds(job.finished) - seconds(job.started), 0.0)
        end = min(seconds(job.finished), now)
        used = whole if job.ran_seconds is None else job.ran_seconds
        request = request_of(job.demand, "")
        user = job.queue, user_of(job.labels)
        growth: float = 2.0 ** ((end - self._zero) / HALF_LIFE_S)
        self._by_user[user] += used * cost_of(request) * growth
        gpus = request.get(GPU, 0)
        if gpus:
            month = month_of(end)
            self._gpus[month, job.queue] += gpus * min(used, end - month_start(end))

    def used(self, now: float, running: RunningUse) -> Used:
        """What counts in a decision."""
        self._keep_near(now)
        decay = 2.0 ** ((self._zero - now) / HALF_LIFE_S)
        by_user = {user: amount * decay for user, amount in self._by_user.items()}
        for user, cost in running.costs(now).items():
            by_user[user] = by_user.get(user, 0) + cost
        month = month_of(now)
        gpus = {queue: value for (of, queue), value in self._gpus.items() if of == month}
        for queue, seconds_ in running.gpu_seconds(now).items():
            gpus[queue] = gpus.get(queue, 0) + seconds_
        by_queue: dict[str, int] = defaultdict(int)
        for (queue, _), amount in by_user.items():
            by_queue[queue] += int(amount)
        return Used(
            by_queue,
            {user: int(amount) for user, amount in by_user.items()},
            {queue: int(value) for queue, value in gpus.items()},
        )

    def _keep_near(self, now: float) -> None:
        """Count from now on another time as one, if the clock was set by years, or they passed."""
        if abs(now - self._zero) <= _FARTHEST_S:
            return
        for user, amount in self._by_user.items():
            self._by_user[user] = decayed(amount, now - self._zero)
        self._zero = now
