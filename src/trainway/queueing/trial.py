"""What a job would still lack if some of those that run had left.

Room is made by trying: who leaves, who may stay after all. All of that only takes away from what is
short at first, so nothing else is looked at: most jobs lack one or two resources, and hundreds of
others are tried for them.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from trainway.queueing.amounts import JOBS, Amounts
from trainway.queueing.queue_policy import QueuePolicy
from trainway.queueing.quota import Quotas
from trainway.queueing.snapshot import RunningGang, WaitingGang


@dataclass(slots=True)
class Trial:
    """What is short by resource, and by how much; not more than nothing is short no more."""

    gang: WaitingGang
    policy: QueuePolicy
    quotas: Quotas
    near: frozenset[str]
    """The queues whose use matters to the quota of its own: those of its cohort, with itself."""
    on_lane: dict[str, int]
    in_queue: dict[str, int]
    """What only jobs of its own queue could free."""
    in_cohort: dict[str, int]
    beyond: dict[str, int]
    """What it would borrow."""
    gone: dict[str, dict[str, int]]
    """By queue: what those had who have left."""

    @classmethod
    def begin(
        cls,
        gang: WaitingGang,
        policy: QueuePolicy,
        quotas: Quotas,
        free: Amounts | None,
        near: frozenset[str],
    ) -> "Trial":
        """As it is before anybody leaves; without `free` somebody else decides about the place."""
        on_lane = {}
        if free is not None:
            for resource, amount in gang.request.items():
                if amount and amount > free.get(resource, 0):
                    on_lane[resource] = amount - free.get(resource, 0)
        found = quotas.deficits(gang, policy)
        return cls(gang, policy, quotas, near, on_lane, *found, {})

    def copy(self) -> "Trial":
        """One in which something else may be tried."""
        return replace(
            self,
            on_lane=dict(self.on_lane),
            in_queue=dict(self.in_queue),
            in_cohort=dict(self.in_cohort),
            beyond=dict(self.beyond),
            gone={queue: dict(amounts) for queue, amounts in self.gone.items()},
        )

    def remove(self, one: RunningGang, times: int = 1) -> None:
        """It leaves; or, with -1, it stays after all."""
        if one.lane == self.gang.lane:
            for resource in self.on_lane:
                self.on_lane[resource] -= times * one.request.get(resource, 0)
        if one.queue not in self.near:
            return
        quota = self.quotas.policy(one.queue).quota
        """What its queue has no quota for is not counted."""
        if self.in_cohort:
            _take(self.in_cohort, one, quota, times)
            if self.policy.reclaims:
                gone = self.gone.setdefault(one.queue, dict.fromkeys(self.in_cohort, 0))
                _take(gone, one, quota, times)
        if one.queue == self.policy.name:
            _take(self.in_queue, one, quota, times)
            _take(self.beyond, one, quota, times)

    def put_back(self, one: RunningGang) -> None:
        """It stays after all."""
        self.remove(one, -1)

    def is_enough_without(self, others: Iterable[RunningGang]) -> bool:
        """Whether it would fit if all of these were gone as well."""
        trial = self.copy()
        for one in others:
            trial.remove(one)
        return trial.is_enough()

    def is_enough(self) -> bool:
        """Whether nothing is short any more."""
        for short in (self.on_lane, self.in_cohort, self.in_queue):
            for amount in short.values():
                if amount > 0:
                    return False
        return True

    def helps_on_lane(self, one: RunningGang) -> bool:
        """Whether it has some of what the place is short of."""
        return one.lane == self.gang.lane and any(
            amount > 0 and one.request.get(resource) for resource, amount in self.on_lane.items()
        )

    def helps_in_queue(self, one: RunningGang) -> bool:
        """Whether one of the same queue has some of what a quota is short of."""
        return any(
            amount > 0 and has(one, resource)
            for short in (self.in_queue, self.in_cohort)
            for resource, amount in short.items()
        )

    def lent_to(self, one: RunningGang) -> list[str]:
        """What one of the cohort has of that which the cohort is short of.

        What its own queue may not borrow comes first: with that, the cohort is of no use.
        """
        return [
            resource
            for resource, amount in self.in_cohort.items()
            if amount > 0 and self.in_queue.get(resource, 0) <= 0 and has(one, resource)
        ]

    def is_within(self) -> bool:
        """Whether it would borrow nothing."""
        return all(amount <= 0 for amount in self.beyond.values())

    def borrows(self, policy: QueuePolicy, resources: Iterable[str]) -> bool:
        """Whether another queue has more than its quota of one of these."""
        used, gone = self.quotas.used(policy.name), self.gone.get(policy.name, {})
        return any(
            used.get(resource, 0) + gone.get(resource, 0) > policy.quota[resource]
            for resource in resources
            if resource in policy.quota
        )


def has(one: RunningGang, resource: str) -> bool:
    """Whether it would free some of that; some nodes of a job are no job."""
    return (resource == JOBS and not one.gives) or bool(one.request.get(resource))


def _take(short: dict[str, int], one: RunningGang, counted: Iterable[str], times: int) -> None:
    """So much less is short of what is counted."""
    for resource in short:
        if resource in counted:
            amount = 0 if one.gives else 1
            if resource != JOBS:
                amount = one.request.get(resource, 0)
            short[resource] -= times * amount
