"""The jobs that run, as the managed queue sees them, kept up from round to round.

A job is looked at again only when its record has changed, or the queues have. What runs is also
added up here, by queue and user, so that a decision reads sums.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from trainway.backends.capabilities import Suspends
from trainway.backends.missing import MissingBackend
from trainway.engine.attempt_runs import Runs
from trainway.engine.deadline import begin_of
from trainway.engine.left_job import runs_of
from trainway.engine.live import LiveJob
from trainway.engine.live_jobs import LiveJobs
from trainway.engine.queue_entry import demand_of
from trainway.engine.queues.gangs import running_gang, with_spare
from trainway.engine.queues.resizing import can_resize
from trainway.engine.queues.running_use import RunningUse
from trainway.engine.record import JobRecord
from trainway.engine.under_way import is_under_way
from trainway.engine.worker_pool.assignment import is_for_workers, worker_request
from trainway.queueing.queue_policy import QueuePolicy
from trainway.queueing.snapshot import RunningGang, Tally


class RunningBook:
    """All that runs."""

    def __init__(self, live: LiveJobs, now: float, is_setup: Callable[[str], bool]) -> None:
        self._live = live
        self._is_setup = is_setup
        """Tells backends with setups of workers, which take nothing from the queue, from others."""
        self._policies: Mapping[str, QueuePolicy] = {}
        self._gangs: dict[str, list[RunningGang]] = {}
        """By the id of the job; nodes that one is to give up are apart."""
        self._can_suspend: dict[type, bool] = {}
        self.tally = Tally()
        self.use = RunningUse(now)

    @property
    def gangs(self) -> list[RunningGang]:
        """Each of them."""
        return [gang for gangs in self._gangs.values() for gang in gangs]

    def of_job(self, job_id: str) -> list[RunningGang]:
        """One job, and apart from it the nodes that it is to give up."""
        return self._gangs.get(job_id, [])

    def update(self, policies: Mapping[str, QueuePolicy]) -> None:
        """Take in what has changed since the last time."""
        changed: Collection[str] = self._live.news()
        if policies is not self._policies:  # which may give jobs another grace period
            self._policies, changed = policies, {*changed, *self._live}
        for job_id in changed:
            self._forget(job_id)
            if (live := self._live.get(job_id)) is not None:
                self._note(live.record, live.observation.runs)
                if is_under_way(live.record) and not self._is_setup(live.backend.name):
                    self._count(job_id, self._gangs_of(live))
            elif (left := self._live.left.get(job_id)) is not None:
                self._note(left, runs_of(left))
                if is_under_way(left) and not self._is_setup(left.backend):
                    self._count(job_id, [_left_gang(left)])

    def _note(self, record: JobRecord, runs: Runs) -> None:
        if runs:  # also of one that is suspended: what it has used, it has
            self.use.put(record, runs)

    def _count(self, job_id: str, gangs: list[RunningGang]) -> None:
        self._gangs[job_id] = gangs
        for gang in gangs:
            self.tally.count(gang)

    def _forget(self, job_id: str) -> None:
        for gang in self._gangs.pop(job_id, ()):
            self.tally.count(gang, -1)
        self.use.drop(job_id)

    def _gangs_of(self, live: LiveJob) -> list[RunningGang]:
        record = live.record
        policy = self._policies.get(record.queue)
        begin = begin_of(record, live.observation.jobset.get("conditions") or [])
        gang = running_gang(
            record,
            live.backend.name,
            0 if policy is None else policy.grace_s,
            begin.timestamp() if begin else None,
            can_leave=self._may_leave(live),
        )
        if is_for_workers(gang.lane):
            return [_on_worker(gang, record)]
        if demand_of(record.demand).elastic is None:
            return [gang]
        return with_spare(gang, record, may_give=can_resize(record, live.backend))

    def _may_leave(self, live: LiveJob) -> bool:
        """Whether its backend can suspend it; to ask a protocol takes longer than all the rest."""
        kind = type(live.backend)
        if kind not in self._can_suspend:
            can_suspend = isinstance(live.backend, Suspends) and kind is not MissingBackend
            self._can_suspend[kind] = can_suspend
        return self._can_suspend[kind]


def _left_gang(record: JobRecord) -> RunningGang:
    """A job that could not be taken up: it has what it was given, and nobody makes it leave."""
    gang = running_gang(record, record.backend, 0, None, can_leave=False)
    gang = _on_worker(gang, record) if is_for_workers(gang.lane) else gang
    return replace(gang, leaves_for="")


def _on_worker(gang: RunningGang, record: JobRecord) -> RunningGang:
    return replace(gang, request=worker_request(record.demand, record.devices))
