"""What jobs that run have used so far, as sums of lines that rise with time. Pure.

While nothing happens to a job, what it has used grows by the same each second. So the sum over
thousands of them is a line too, and a decision reads it off instead of going through all. Lines are
whole numbers of milliseconds: what was added is taken away again without a rest.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TypeVar

from trainway.engine.attempt_runs import Runs
from trainway.engine.queues.gangs import request_of, seconds, user_of
from trainway.engine.queues.months import month_start, next_month
from trainway.engine.record import JobRecord
from trainway.queueing.amounts import GPU
from trainway.queueing.snapshot import cost_of

K = TypeVar("K")


@dataclass
class Line:
    """So much at the beginning of time, and so much more each second."""

    base_ms: int = 0
    rate: int = 0

    def add(self, other: "Line", times: int = 1) -> None:
        """Add another one so many times."""
        self.base_ms += other.base_ms * times
        self.rate += other.rate * times

    def at(self, time: float) -> int:
        """What it has come to, and never less than nothing."""
        return max(self.base_ms + self.rate * _ms(time), 0) // 1000


def line_of(runs: Runs, since: float = 0.0) -> Line:
    """The seconds that the attempts of a job ran; since a time only those after it."""
    line = Line()
    for run in runs:
        begin = seconds(run["start"])
        if "end" not in run:
            line.add(Line(-_ms(max(begin, since)), 1))
            continue
        end = seconds(run["end"])
        whole = float(run.get("seconds", end - begin))
        line.base_ms += _ms(max(whole if begin >= since else min(whole, end - since), 0.0))
    return line


@dataclass(frozen=True)
class _Job:
    """What one adds to the sums."""

    owner: tuple[str, str]
    cost: int
    gpus: int
    runs: Runs
    """Only of one with GPUs."""
    line: Line
    of_month: Line


class RunningUse:
    """The sums of all that runs: what it costs by queue and user, and GPU-seconds by queue."""

    def __init__(self, now: float, jobs: Iterable[tuple[JobRecord, Runs]] = ()) -> None:
        self._month = month_start(now), next_month(now)
        self._jobs: dict[str, _Job] = {}
        self._costs: dict[tuple[str, str], Line] = {}
        self._gpus: dict[str, Line] = {}
        for record, runs in jobs:
            self.put(record, runs)

    def put(self, record: JobRecord, runs: Runs) -> None:
        """Count a job, as it is now."""
        self.drop(record.id)
        request = request_of(record.demand, record.devices)
        gpus = request.get(GPU, 0)
        job = _Job(
            (record.queue, user_of(record.labels)),
            cost_of(request),
            gpus,
            [dict(run) for run in runs] if gpus else [],
            line_of(runs),
            line_of(runs, self._month[0]) if gpus else Line(),
        )
        self._jobs[record.id] = job
        self._count(job, 1)

    def drop(self, job_id: str) -> None:
        """Count a job no more."""
        job = self._jobs.pop(job_id, None)
        if job is not None:
            self._count(job, -1)

    def costs(self, now: float) -> dict[tuple[str, str], int]:
        """What all of it has cost, by queue and user."""
        return {owner: line.at(now) for owner, line in self._costs.items()}

    def gpu_seconds(self, now: float) -> dict[str, int]:
        """The GPU-seconds of this month, by queue."""
        if not self._month[0] <= now < self._month[1]:
            self._turn_over(now)
        return {queue: line.at(now) for queue, line in self._gpus.items()}

    def _turn_over(self, now: float) -> None:
        """Another month: what was before it does not count any more."""
        self._month = month_start(now), next_month(now)
        for job_id, job in self._jobs.items():
            if job.gpus:
                self._count(job, -1)
                self._jobs[job_id] = replace(job, of_month=line_of(job.runs, self._month[0]))
                self._count(self._jobs[job_id], 1)

    def _count(self, job: _Job, times: int) -> None:
        _add(self._costs, job.owner, job.line, job.cost * times)
        if job.gpus:
            _add(self._gpus, job.owner[0], job.of_month, job.gpus * times)


def _add(sums: dict[K, Line], key: K, line: Line, times: int) -> None:
    total = sums.setdefault(key, Line())
    total.add(line, times)
    if total == Line():
        del sums[key]


def _ms(time: float) -> int:
    return round(time * 1000)
