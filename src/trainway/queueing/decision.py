"""The decision of the managed queue: who starts, who makes room, and why the others wait.

`agent/controllers/gang_queue.py` goes through the jobs, for this queue as for all others. What is
special to a managed one is its policy here: the order by shares, the quotas, and what may happen
past and for the first job of a place.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from math import inf
from typing import Final

from trainway.agent.controllers import gang_queue
from trainway.agent.controllers.gang_queue import Decisions, Verdict, refuse, wait
from trainway.counting import counted
from trainway.queueing.amounts import JOBS, Amounts, fits
from trainway.queueing.fair_share import FairShare
from trainway.queueing.growing import Lack, growths
from trainway.queueing.preemption import Preemptions, Rescue
from trainway.queueing.queue_policy import QueuePolicy, QueueState
from trainway.queueing.quota import Quotas, Shortage
from trainway.queueing.reservation import Release, Reservation, reserved
from trainway.queueing.room import Free, Places
from trainway.queueing.snapshot import RunningGang, Snapshot, WaitingGang
from trainway.queueing.wording import Sentences, Wording, of_another

QUEUED: Final = gang_queue.QUEUED
PAUSED: Final = "QueuePaused"
NO_QUEUE: Final = "QueueMissing"
QUOTA: Final = "QuotaReached"
SPENT: Final = "GPUHoursSpent"
PREEMPTING: Final = "Preempting"
IDLE: Final = (PAUSED, NO_QUEUE, SPENT)
"""Why jobs wait that would not start if there was more room."""

_MOST_NAMES: Final = 3


def decide(snapshot: Snapshot) -> Decisions:
    """What becomes of each job that waits."""
    places = Places(snapshot.lanes, snapshot.running)
    return gang_queue.decide(snapshot.waiting, places, ManagedPolicy(snapshot, places))


def positions(decisions: Decisions) -> dict[str, int]:
    """The place of each waiting job in its queue, from 1, by its id."""
    places: dict[str, int] = {}
    counts: dict[str, int] = {}
    for gang, _, _ in decisions.waiting:
        counts[gang.queue] = places[gang.id] = counts.get(gang.queue, 0) + 1
    return places


class ManagedPolicy:
    """The policy of one decision."""

    def __init__(self, snapshot: Snapshot, places: Free, wording: Wording | None = None) -> None:
        self._queues, self._now = snapshot.queues, snapshot.now
        self._places, self._careless = places, places.careless
        self._wording = wording or Sentences()
        self._shares = FairShare(snapshot)
        self._quotas = Quotas(snapshot.queues, snapshot.tally, snapshot.used.gpu_seconds)
        self._preemptions = Preemptions(snapshot)
        self._reservations: dict[str, Reservation] = {}
        self._held: dict[str, tuple[frozenset[str], Verdict]] = {}
        """By queue: what its first lacks, and what the others are told who want that too."""
        self._pauses: dict[str, Verdict] = {}
        self._alike: defaultdict[int, _Alike] = defaultdict(_Alike)
        """By request: many jobs ask for the same."""
        self._unmet = _Unmet(snapshot.queues)
        self._snapshot = snapshot
        self._started: list[WaitingGang] = []

    def in_order(self, gangs: Iterable[WaitingGang]) -> Iterable[WaitingGang]:
        """By priority, shares and arrival."""
        return self._shares.in_order(gangs)

    def lane(self, gang: WaitingGang) -> str:
        """Only those hold each other back who want the same place."""
        return gang.lane

    def again(self, gang: WaitingGang) -> Verdict | None:
        """One that may not start past the first, as one like it, waits too, whatever its limits.

        So it is of most, and they are answered here, before anything about them is looked up.
        """
        alike = self._alike.get(id(gang.request))
        if alike is None or gang.id in self._careless:
            return None
        least, limit_s = alike.too_long.get(gang.lane), gang.limit_s
        if least is None or (limit_s is not None and limit_s < least):
            return None
        if gang.queue in alike.queues:
            return self._wording.turn(gang)
        policy = self._queues.get(gang.queue)
        if policy is None or policy.state is QueueState.PAUSED:
            return None
        return self._turn(gang, policy) if self._quotas.is_modest(gang.request) else None

    def hold(self, gang: WaitingGang, *, is_behind: bool) -> Verdict | None:
        """Whether its queue lets it start."""
        if not gang.queue:
            return None
        policy = self._queues.get(gang.queue)
        if policy is None:
            return wait(NO_QUEUE, _missing(gang.queue), holds_back=False)
        if policy.quota and (never := self._quotas.never(gang, policy)):
            return refuse(never)
        if policy.state is QueueState.PAUSED:
            return self._paused(policy)
        if is_behind and not self._may_pass(gang):
            return self._turn(gang, policy)  # whatever else its queue says
        return self._limited(gang, policy, is_behind=is_behind)

    def _may_pass(self, gang: WaitingGang) -> bool:
        """Whether it may start past the first: only if that starts no later for it."""
        if self._places.is_exempt(gang):
            return True
        least = 0.0
        if fits(gang.request, self._places.free(gang.lane) or {}):
            if self._reservations[gang.lane].allows(gang.request, gang.limit_s, self._now):
                return True
            least = inf if gang.limit_s is None else gang.limit_s
        too_long = self._alike[id(gang.request)].too_long
        too_long[gang.lane] = min(least, too_long.get(gang.lane, inf))
        return False

    def _limited(
        self, gang: WaitingGang, policy: QueuePolicy, *, is_behind: bool
    ) -> Verdict | None:
        """Whether the limits of its queue let it start."""
        spent = self._quotas.spent(gang, policy)
        if spent:
            return wait(SPENT, spent, holds_back=False)
        held = self._held.get(gang.queue)
        if held is not None and _wants(gang.request, held[0]):
            return held[1]
        lacks = self._quotas.lacks(gang, policy)
        return self._held_by_quota(gang, policy, lacks, is_behind=is_behind) if lacks else None

    def _paused(self, policy: QueuePolicy) -> Verdict:
        verdict = self._pauses.get(policy.name)
        if verdict is None:
            verdict = wait(PAUSED, _paused(policy), holds_back=False)
            self._pauses[policy.name] = verdict
        return verdict

    def _held_by_quota(
        self, gang: WaitingGang, policy: QueuePolicy, lacks: list[Shortage], *, is_behind: bool
    ) -> Verdict:
        """The first of a queue whose quota has no room for it."""
        self._quotas.claim(gang, policy, lacks)
        message = lacks[0].message
        told = f"It waits for its turn: {gang.name or gang.id} is ahead in queue {policy.name}. "
        turn = wait(QUEUED, told + of_another(gang.name or gang.id, message), holds_back=False)
        resources, turn = self._held.get(gang.queue, (frozenset[str](), turn))
        self._held[gang.queue] = resources | {item.resource for item in lacks}, turn
        self._unmet.note(gang, policy, is_held=True)
        free = self._places.free(gang.lane)
        if is_behind or any(item.claim for item in lacks):
            return wait(QUOTA, message, holds_back=False)
        rescue = self._rescue(gang, policy, free)
        if not rescue:
            return wait(QUOTA, message, holds_back=False)
        self._quotas.count(gang.queue, gang.request)
        return self._rescued(gang, lacks[0].fact, rescue)

    def _rescue(self, gang: WaitingGang, policy: QueuePolicy, free: Amounts | None) -> Rescue:
        """Who makes room for it; nobody new where a job of higher priority would get the quota."""
        may_preempt = not self._unmet.comes_before(gang, policy)
        return self._preemptions.rescue(gang, policy, self._quotas, free, may_preempt=may_preempt)

    def _rescued(self, gang: WaitingGang, message: str, rescue: Rescue) -> Verdict:
        """A job for which others make room; nobody else gets that."""
        message = self._wording.rescued(gang, message, _making_room(rescue))
        self._reserve(gang, is_rescued=True)
        has_lane = self._places.free(gang.lane) is not None
        verdict = wait(PREEMPTING, message, holds_back=has_lane)
        verdict.victims = rescue.victims
        return verdict

    def behind(self, gang: WaitingGang, ahead: str) -> Verdict | None:
        """It may start past the first, or `hold` would have said that it waits."""
        del gang, ahead
        return None

    def _turn(self, gang: WaitingGang, policy: QueuePolicy) -> Verdict:
        self._alike[id(gang.request)].queues.add(gang.queue)
        self._unmet.note(gang, policy)
        return self._wording.turn(gang)

    def short(self, gang: WaitingGang, verdict: Verdict, ahead: str | None) -> Verdict:
        """The first of a place waits until there is room, or room is made for it."""
        policy = self._queues[gang.queue]
        if ahead is not None:
            return self._turn(gang, policy)
        free = self._places.free(gang.lane)
        rescue = self._rescue(gang, policy, free)
        self._quotas.count(gang.queue, gang.request)
        if rescue:
            return self._rescued(gang, verdict.message, rescue)
        reservation = self._reserve(gang)
        return wait(QUEUED, self._wording.first(gang, verdict.message, reservation))

    def _reserve(self, gang: WaitingGang, *, is_rescued: bool = False) -> Reservation:
        """Keep its place.

        Who makes room there, for it or for others, may be gone any moment, and in any order: until
        then nobody gets what it lacks.
        """
        free, now = self._places.free(gang.lane) or {}, self._now
        releases: list[Release] = []
        leaving, here = self._preemptions.chosen, self._snapshot.by_lane.get(gang.lane, ())
        if not is_rescued and not (leaving and any(one.id in leaving for one in here)):
            releases = [Release(one.id, one.ends, one.request, one.name or one.id) for one in here]
            releases += [_release(one, now) for one in self._started if one.lane == gang.lane]
        found = reserved(gang.name or gang.id, gang.request, free, releases, now)
        self._reservations[gang.lane] = found
        return found

    def growths(self, lacks: Iterable[Lack], decisions: Decisions) -> dict[str, int]:
        """How many nodes elastic jobs get back of what is left after the decision."""
        waiting = [gang for gang, reason, _ in decisions.waiting if reason not in IDLE]
        return growths(lacks, self._places.free, self._quotas, self._queues, waiting)

    def short_of_room(self, decisions: Decisions, lanes: Collection[str]) -> list[WaitingGang]:
        """Who waits for these places alone: what the queues have left after the decision allows it.

        To be asked last, since they count from then on.
        """
        if not lanes:
            return []
        heads = {gang.id for gang in decisions.heads}  # who count already
        found = []
        for gang, reason, _ in decisions.waiting:
            if reason != QUEUED or gang.lane not in lanes:
                continue
            if gang.id not in heads:
                if self._limited(gang, self._queues[gang.queue], is_behind=True) is not None:
                    continue
                self._quotas.count(gang.queue, gang.request)
            found.append(gang)
        return found

    def took(self, gang: WaitingGang) -> None:
        """It counts from now on."""
        self._quotas.count(gang.queue, gang.request)
        self._started.append(gang)
        reservation = self._reservations.get(gang.lane)
        if reservation is not None:
            reservation.took(gang.request, gang.limit_s, self._now)


class _Alike:
    """What is known of those who ask for the same."""

    __slots__ = ("queues", "too_long")

    def __init__(self) -> None:
        self.too_long: dict[str, float] = {}
        """By lane: the least time limit with which one does not start past the first.

        What is free becomes less in a decision, and so does what the first one can spare.
        """
        self.queues: set[str] = set()
        """In which one waits for its turn, so that nothing else of its queue matters."""


class _Unmet:
    """Who comes before those of lower priority some day, whatever room was made for them.

    One waits for a place, so that its quota was not looked at yet, but will be. Another waits for
    its quota, and may want more of that than it lacks now.
    """

    def __init__(self, queues: Mapping[str, QueuePolicy]) -> None:
        highest: defaultdict[tuple[str, str], dict[str, int]] = defaultdict(dict)
        self._highest = {policy.name: highest[_whose(policy)] for policy in queues.values()}
        """The highest priority by queue, the same for all of a cohort, and in it by resource: that
        of the first, since whoever comes later has no higher one."""
        self._held: defaultdict[str, dict[str, int]] = defaultdict(dict)
        """The same of those who wait for a quota, which are before others of their queue alone."""

    def note(self, gang: WaitingGang, policy: QueuePolicy, *, is_held: bool = False) -> None:
        """One more, in the order of the queue."""
        known = (self._held if is_held else self._highest)[policy.name]
        for resource in policy.quota:
            if resource not in known and _counts(gang, resource):
                known[resource] = gang.priority

    def comes_before(self, gang: WaitingGang, policy: QueuePolicy) -> bool:
        """Whether there is one of higher priority that wants what this one wants."""
        wanted = [resource for resource in policy.quota if _counts(gang, resource)]
        return any(
            known.get(resource, gang.priority) > gang.priority
            for known in (self._highest[policy.name], self._held[policy.name])
            for resource in wanted
        )


def _whose(policy: QueuePolicy) -> tuple[str, str]:
    """Whose quotas count: a cohort has one of all its queues."""
    return (policy.cohort, "") if policy.cohort else ("", policy.name)


def _counts(gang: WaitingGang, resource: str) -> bool:
    return resource == JOBS or bool(gang.request.get(resource))


def _wants(request: Amounts, resources: frozenset[str]) -> bool:
    if JOBS in resources:
        return True
    for name in resources:  # noqa: SIM110 - three times as fast as any()
        if request.get(name):
            return True
    return False


def _release(gang: WaitingGang, now: int) -> Release:
    """What becomes free when a job has ended that starts now."""
    ends = None if gang.limit_s is None else now + gang.limit_s
    return Release(gang.id, ends, gang.request, gang.name or gang.id)


def _missing(name: str) -> str:
    return (
        f"There is no queue {name}. Create it with trainway queues apply, "
        "or submit the job to another queue."
    )


def _paused(policy: QueuePolicy) -> str:
    return (
        f"Queue {policy.name} is paused, and none of its jobs starts. "
        f"To let them start: trainway queues resume {policy.name}"
    )


def _who(gang: RunningGang) -> str:
    nodes = f"{counted(gang.gives, 'node')} of " if gang.gives else ""
    return nodes + (gang.name or gang.id)


def _making_room(rescue: Rescue) -> str:
    leaving = [_who(gang) for gang in (*rescue.victims, *rescue.leaving)]
    more = len(leaving) - _MOST_NAMES
    names = ", ".join(leaving[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
    one, *others = (*rescue.victims, *rescue.leaving)
    verb = "make" if others or one.gives > 1 else "makes"
    return f"It starts as soon as {names} {verb} room for it, which has begun."
