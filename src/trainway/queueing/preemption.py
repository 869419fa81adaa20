"""Who makes room for a job: those of the lowest priority first, and of these the youngest.

Nobody is preempted for nothing: all who are chosen are needed, and together they are enough. A job
makes room as a whole or not at all, but an elastic one may give up nodes above its minimum, and
those are taken first.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from trainway.queueing.amounts import JOBS, Amounts, add, fits, shortages, subtract
from trainway.queueing.elastic_nodes import Taking, parts
from trainway.queueing.queue_policy import Preemption, QueuePolicy
from trainway.queueing.quota import Quotas, Shortage
from trainway.queueing.snapshot import RunningGang, Snapshot, Tally, WaitingGang


@dataclass(frozen=True)
class Rescue:
    """How a job gets its room."""

    victims: tuple[RunningGang, ...] = ()
    """Who has to make room from now on."""
    leaving: tuple[RunningGang, ...] = ()
    """Who does so already, if that is enough."""

    def __bool__(self) -> bool:
        return bool(self.victims or self.leaving)


class Preemptions:
    """Finds those who make room."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._queues = snapshot.queues
        self._running = snapshot.running
        self.chosen: set[str] = set()
        """Who has to make room by this decision, for anybody."""

    @cached_property
    def _leaving(self) -> list[RunningGang]:
        """Who was told before to make room; nobody asks where the first ones start."""
        return [gang for gang in self._running if gang.leaves_for]

    @cached_property
    def _candidates(self) -> list[RunningGang]:
        """Who could be told, in the order in which they are; most queues preempt nobody."""
        return sorted(
            (gang for gang in self._running if gang.is_preemptible and not gang.leaves_for),
            key=lambda gang: (gang.priority, -gang.started, gang.id),
        )

    def rescue(
        self,
        gang: WaitingGang,
        policy: QueuePolicy,
        quotas: Quotas,
        free: Amounts | None,
        *,
        may_preempt: bool = True,
    ) -> Rescue:
        """Who makes room for the job; nobody, if that would not be enough."""
        has_right = policy.preemption is not Preemption.NEVER or policy.reclaims
        may_preempt = may_preempt and has_right
        if not may_preempt and not self._leaving:
            return Rescue()
        room = None if free is None else dict(free)
        trial = _Trial(gang, policy, quotas.copy(), room, self._near(policy))
        leaving = [one for one in self._leaving if trial.is_near(one, self._cohort(one))]
        for one in leaving:
            trial.remove(one)
        if trial.is_enough():
            return Rescue((), tuple(leaving))
        if not may_preempt:
            return Rescue()
        victims = self._victims(gang, policy, trial)
        self.chosen |= {victim.id for victim in victims}
        return Rescue(tuple(victims))

    def _victims(
        self, gang: WaitingGang, policy: QueuePolicy, trial: "_Trial"
    ) -> Sequence[RunningGang]:
        possible = self._possible(gang, policy)
        if not trial.is_enough_without(possible):
            return ()
        chosen: list[RunningGang] = []
        taking = Taking(possible)
        for one in taking.steps():
            if self._may_take(one, gang, policy, trial):
                trial.remove(one)
                taking.take(one)
                chosen.append(one)
                if trial.is_enough():
                    break
        if not trial.is_enough():
            return ()
        needed: list[RunningGang] = []
        for one in reversed(chosen):
            trial.put_back(one)
            if not taking.may_stay(one, needed) or not trial.is_enough():
                trial.remove(one)
                needed.append(one)
        for one in [one for one in needed if one.spare and not one.gives]:
            nodes = _nodes_instead(one, trial)
            if nodes:
                needed.remove(one)
                needed += nodes
        return taking.victims(needed)

    def _possible(self, gang: WaitingGang, policy: QueuePolicy) -> list[RunningGang]:
        """Those who may be preempted for it at all, and whose end could help."""
        is_any = policy.preemption is Preemption.ANY
        is_lower = policy.preemption is not Preemption.NEVER
        near = self._near(policy)
        found = []
        for one in self._candidates:
            if one.priority > gang.priority:
                break
            is_near = one.queue in near
            if not is_near and one.lane != gang.lane:
                continue  # as most
            is_own = one.queue == gang.queue
            allowed = (
                is_lower
                and one.priority < gang.priority
                and (is_own or (is_any and (is_near or one.lane == gang.lane)))
            )
            reclaimed = policy.reclaims and is_near and not is_own
            if (allowed or reclaimed) and one.id not in self.chosen:
                found.append(one)
        return found

    def _near(self, policy: QueuePolicy) -> set[str]:
        """The queues of its cohort, with itself."""
        others = (one.name for one in self._queues.values() if one.cohort == policy.cohort)
        return {policy.name, *others} if policy.cohort else {policy.name}

    def _may_take(
        self, one: RunningGang, gang: WaitingGang, policy: QueuePolicy, trial: "_Trial"
    ) -> bool:
        """Whether the policy lets the job take what this one has, and it lacks some of that."""
        lacks = trial.lacks
        is_own = one.queue == gang.queue
        allowed = policy.preemption is Preemption.ANY or (
            policy.preemption is Preemption.QUEUE and is_own
        )
        if one.priority < gang.priority and allowed:
            return trial.is_short_on_lane(one) or any(
                _has(one, shortage.resource)
                and (is_own or (shortage.is_cohorts and self._cohort(one) == policy.cohort))
                for shortage in lacks
            )
        if not policy.reclaims or is_own or self._cohort(one) != policy.cohort:
            return False
        resources = [
            shortage.resource
            for shortage in lacks
            if shortage.is_cohorts and _has(one, shortage.resource)
        ]
        other = self._queues[one.queue]
        return bool(resources) and trial.is_within and trial.quotas.borrows(other, resources)

    def _cohort(self, one: RunningGang) -> str | None:
        policy = self._queues.get(one.queue)
        return policy.cohort if policy else None


def _nodes_instead(one: RunningGang, trial: "_Trial") -> list[RunningGang]:
    """The nodes of a job that are enough, now that others leave; none: it has to leave.

    Whoever may take all of a job may take less: a queue that gives back what it has borrowed need
    not still borrow when the last of its nodes is taken.
    """
    trial.put_back(one)
    taken: list[RunningGang] = []
    for part in parts(one):
        if trial.is_enough():
            break
        trial.remove(part)
        taken.append(part)
    if trial.is_enough():
        return taken
    for part in taken:
        trial.put_back(part)
    trial.remove(one)
    return []


class _Trial:
    """What it would be like without some of those that run."""

    def __init__(
        self,
        gang: WaitingGang,
        policy: QueuePolicy,
        quotas: Quotas,
        free: dict[str, int] | None,
        near: Collection[str],
    ) -> None:
        self._gang, self._policy, self._free, self._near = gang, policy, free, near
        """Only what the queues near to its own use matters to its quota, and is counted."""
        self.quotas = quotas
        self._lacks: list[Shortage] | None = None

    def remove(self, one: RunningGang) -> None:
        if one.queue in self._near:
            self._lacks = None
            self.quotas.count(one.queue, one.request, -1, jobs=0 if one.gives else 1)
        if self._free is not None and one.lane == self._gang.lane:
            add(self._free, one.request)

    def put_back(self, one: RunningGang) -> None:
        if one.queue in self._near:
            self._lacks = None
            self.quotas.count(one.queue, one.request, jobs=0 if one.gives else 1)
        if self._free is not None and one.lane == self._gang.lane:
            subtract(self._free, one.request)

    def is_enough_without(self, others: Iterable[RunningGang]) -> bool:
        """Whether it would fit if all of these were gone as well."""
        free = None if self._free is None else dict(self._free)
        trial = _Trial(self._gang, self._policy, self.quotas.copy(), free, self._near)
        tally, lane = Tally(), self._gang.lane
        for one in others:
            if one.queue in self._near:
                tally.count(one)
            if free is not None and one.lane == lane:
                add(free, one.request)
        for queue, amounts in tally.by_queue().items():
            trial.quotas.count(queue, amounts, -1, jobs=amounts[JOBS])
        return trial.is_enough()

    def is_enough(self) -> bool:
        return (self._free is None or fits(self._gang.request, self._free)) and not self.lacks

    @property
    def lacks(self) -> list[Shortage]:
        if self._lacks is None:
            self._lacks = self.quotas.lacks(self._gang, self._policy)
        return self._lacks

    @property
    def is_within(self) -> bool:
        return self.quotas.is_within(self._gang, self._policy)

    def is_short_on_lane(self, one: RunningGang) -> bool:
        if self._free is None or one.lane != self._gang.lane:
            return False
        return any(one.request.get(name) for name in shortages(self._gang.request, self._free))

    def is_near(self, one: RunningGang, cohort: str | None) -> bool:
        """Whether its end may help."""
        is_here = self._free is not None and one.lane == self._gang.lane
        is_own = one.queue == self._gang.queue
        return is_here or is_own or bool(cohort and cohort == self._policy.cohort)


def _has(one: RunningGang, resource: str) -> bool:
    return (resource == JOBS and not one.gives) or bool(one.request.get(resource))
