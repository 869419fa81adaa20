"""Who makes room for a job: those of the lowest priority first, and of these the youngest.

Nobody is preempted for nothing: all who are chosen are needed, and together they are enough. A job
makes room as a whole or not at all, but an elastic one may give up nodes above its minimum, and
those are taken first.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from trainway.queueing.amounts import Amounts
from trainway.queueing.elastic_nodes import Taking, parts
from trainway.queueing.queue_policy import Preemption, QueuePolicy
from trainway.queueing.quota import Quotas
from trainway.queueing.snapshot import RunningGang, Snapshot, WaitingGang
from trainway.queueing.trial import Trial


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
        self._snapshot = snapshot
        self._lanes: dict[str, list[RunningGang]] = {}
        """Who could be told in those places that were asked for."""
        self._cohorts: dict[str, frozenset[str]] = {}
        """The queues of each that was asked for."""
        self.chosen: set[str] = set()
        """Who has to make room by this decision, for anybody."""

    @cached_property
    def _leaving(self) -> list[RunningGang]:
        """Who was told before to make room; nobody asks where the first ones start."""
        return [gang for gang in self._snapshot.running if gang.leaves_for]

    @cached_property
    def _candidates(self) -> list[RunningGang]:
        """Who could be told, in the order in which they are; most queues preempt nobody."""
        return _in_order(self._snapshot.running)

    def _on_lane(self, lane: str) -> list[RunningGang]:
        """Those of them who are in one place."""
        found = self._lanes.get(lane)
        if found is None:
            found = self._lanes[lane] = _in_order(self._snapshot.by_lane.get(lane, ()))
        return found

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
        near = self._near(policy)
        trial = Trial.begin(gang, policy, quotas, free, near)
        leaving = [
            one
            for one in self._leaving
            if one.queue in near or (free is not None and one.lane == gang.lane)
        ]
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
        self, gang: WaitingGang, policy: QueuePolicy, trial: Trial
    ) -> Sequence[RunningGang]:
        possible = self._possible(gang, policy, trial)
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

    def _possible(self, gang: WaitingGang, policy: QueuePolicy, trial: Trial) -> list[RunningGang]:
        """Those who may be preempted for it at all, and whose end could help."""
        is_any = policy.preemption is Preemption.ANY
        is_lower = policy.preemption is not Preemption.NEVER
        near = trial.near if trial.in_queue or trial.in_cohort else frozenset[str]()
        found = []
        for one in self._candidates if near else self._on_lane(gang.lane):
            if one.priority > gang.priority:
                break
            is_near = one.queue in near
            if not is_near and not (trial.on_lane and one.lane == gang.lane):
                continue  # as most
            is_own = one.queue == gang.queue
            allowed = is_lower and one.priority < gang.priority and (is_own or is_any)
            reclaimed = policy.reclaims and is_near and not is_own
            if (allowed or reclaimed) and one.id not in self.chosen:
                found.append(one)
        return found

    def _near(self, policy: QueuePolicy) -> frozenset[str]:
        """The queues of its cohort, with itself."""
        if not policy.cohort:
            return frozenset((policy.name,))
        near = self._cohorts.get(policy.cohort)
        if near is None:
            names = (one.name for one in self._queues.values() if one.cohort == policy.cohort)
            near = self._cohorts[policy.cohort] = frozenset(names)
        return near

    def _may_take(
        self, one: RunningGang, gang: WaitingGang, policy: QueuePolicy, trial: Trial
    ) -> bool:
        """Whether the policy lets the job take what this one has, and it lacks some of that."""
        is_own = one.queue == gang.queue
        allowed = policy.preemption is Preemption.ANY or (
            policy.preemption is Preemption.QUEUE and is_own
        )
        if one.priority < gang.priority and allowed:
            if trial.helps_on_lane(one):
                return True
            if is_own:
                return trial.helps_in_queue(one)
            return one.queue in trial.near and bool(trial.lent_to(one))
        if not policy.reclaims or is_own or one.queue not in trial.near:
            return False
        resources = trial.lent_to(one)
        other = self._queues[one.queue]
        return bool(resources) and trial.is_within() and trial.borrows(other, resources)


def _in_order(running: Iterable[RunningGang]) -> list[RunningGang]:
    return sorted(
        (one for one in running if one.is_preemptible and not one.leaves_for),
        key=lambda one: (one.priority, -one.started, one.id),
    )


def _nodes_instead(one: RunningGang, trial: Trial) -> list[RunningGang]:
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
