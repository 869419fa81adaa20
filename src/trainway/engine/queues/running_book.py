"""The jobs that run, as the managed queue sees them, kept up from round to round.

A job is looked at again only when its record has changed, or the queues have. What runs is also
added up here, by queue and user, so that a decision reads sums.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace

from trainway.backends.capabilities import Suspends
from trainway.engine.deadline import begin_of
from trainway.engine.live import LiveJob
from trainway.engine.live_jobs import LiveJobs
from trainway.engine.queues.gangs import running_gang
from trainway.engine.queues.running_use import RunningUse
from trainway.engine.under_way import is_under_way
from trainway.engine.worker_pool.assignment import is_for_workers, worker_request
from trainway.queueing.queue_policy import QueuePolicy
from trainway.queueing.snapshot import RunningGang, Tally


class RunningBook:
    """All that runs."""

    def __init__(self, live: LiveJobs, now: float) -> None:
        self._live = live
        self._policies: Mapping[str, QueuePolicy] = {}
        self._gangs: dict[str, RunningGang] = {}
        self._can_suspend: dict[type, bool] = {}
        self.tally = Tally()
        self.use = RunningUse(now)

    @property
    def gangs(self) -> Collection[RunningGang]:
        """Each of them."""
        return self._gangs.values()

    def update(self, policies: Mapping[str, QueuePolicy]) -> None:
        """Take in what has changed since the last time."""
        changed: Collection[str] = self._live.news()
        if policies is not self._policies:  # which may give jobs another grace period
            self._policies, changed = policies, {*changed, *self._live}
        for job_id in changed:
            live = self._live.get(job_id)
            self._forget(job_id)
            if live is not None and is_under_way(live):
                gang = self._gangs[job_id] = self._gang(live)
                self.tally.count(gang)
                self.use.put(live.record, live.observation.runs)

    def _forget(self, job_id: str) -> None:
        gang = self._gangs.pop(job_id, None)
        if gang is not None:
            self.tally.count(gang, -1)
            self.use.drop(job_id)

    def _gang(self, live: LiveJob) -> RunningGang:
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
            return replace(gang, request=worker_request(record.demand, record.devices))
        return gang

    def _may_leave(self, live: LiveJob) -> bool:
        """Whether its backend can suspend it; to ask a protocol takes longer than all the rest."""
        kind = type(live.backend)
        if kind not in self._can_suspend:
            self._can_suspend[kind] = isinstance(live.backend, Suspends)
        return self._can_suspend[kind]
