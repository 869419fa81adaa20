"""What a decision is made from: who waits, who runs, what has been used, and the time."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from trainway.queueing.amounts import CPU, GPU, JOBS, Amounts
from trainway.queueing.queue_policy import DEFAULT_QUEUE, QueuePolicy

_GPU_COST = 16_000
"""What a GPU counts beside CPUs where usage is compared: as much as 16 of them."""
_LEAST_COST = 100


def cost_of(request: Amounts, jobs: int = 1) -> int:
    """What a job costs in a second, or several together, where usage is compared."""
    return request.get(CPU, 0) + _GPU_COST * request.get(GPU, 0) + _LEAST_COST * jobs


@dataclass(frozen=True, slots=True)
class WaitingGang:
    """A job that waits."""

    id: str
    request: Amounts
    lane: str = ""
    """Where it would run."""
    queue: str = DEFAULT_QUEUE
    """Empty: it is in none, and no limits count for it."""
    user: str = ""
    priority: int = 0
    order: Any = 0
    """Of its arrival."""
    limit_s: int | None = None
    """The longest it holds what it has once it started, its grace period included; None: nobody
    knows."""
    name: str = ""
    owed: Any = None
    """When others were told last to make room for it, after which it comes before its equals."""


@dataclass(frozen=True, slots=True)
class RunningGang:
    """A job that holds what it asked for."""

    id: str
    request: Amounts
    lane: str = ""
    queue: str = DEFAULT_QUEUE
    user: str = ""
    priority: int = 0
    started: int = 0
    ends: int | None = None
    """When it will have ended at the latest; None: nobody knows."""
    name: str = ""
    is_preemptible: bool = True
    """Whether it can be made to end and go on later."""
    leaves_for: str = ""
    """The job that it makes room for, once it was told to end."""
    spare: tuple[Amounts, ...] = ()
    """What each node of an elastic job has that it could give up, in the order in which it does."""
    gives: int = 0
    """How many nodes of a job these are, which goes on with the others; 0: this is all of it."""


class Tally:
    """What runs, added up as shares and quotas need it; how many there are counts as `jobs`.

    It is all that these depend on. Whoever knows what starts and ends keeps one up, so that a
    decision need not go through thousands that run.
    """

    def __init__(self, running: Iterable[RunningGang] = ()) -> None:
        self.costs: dict[tuple[str, str], int] = {}
        """What it costs in a second, by queue and user."""
        self.by_queue: dict[str, dict[str, int]] = {}
        for gang in running:
            self.count(gang)

    def count(self, gang: RunningGang, times: int = 1) -> None:
        """One more runs; or, with -1, one less. Some nodes of one are no job."""
        queue, request, jobs = gang.queue, gang.request, 0 if gang.gives else 1
        owner = queue, gang.user
        self.costs[owner] = self.costs.get(owner, 0) + times * cost_of(request, jobs)
        sums = self.by_queue.get(queue)
        if sums is None:
            sums = self.by_queue[queue] = {JOBS: 0}
        sums[JOBS] += times * jobs
        for resource, amount in request.items():
            sums[resource] = sums.get(resource, 0) + times * amount
        if times < 0:
            self._forget(owner)

    def _forget(self, owner: tuple[str, str]) -> None:
        """Keep nothing of those who have nothing."""
        queue, _ = owner
        if not self.costs[owner]:
            del self.costs[owner]
        if not any(self.by_queue[queue].values()):
            del self.by_queue[queue]


@dataclass(frozen=True)
class Used:
    """What was used before now. Usage decays: see `fair_share.decayed`."""

    by_queue: Mapping[str, int] = field(default_factory=dict)
    by_user: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """By queue and user."""
    gpu_seconds: Mapping[str, int] = field(default_factory=dict)
    """By queue, in this month."""


@dataclass(frozen=True)
class Snapshot:
    """All that a decision depends on.

    Requests are not changed while it is made. It is quicker where jobs that ask for the same share
    one object.
    """

    waiting: Sequence[WaitingGang]
    running: Collection[RunningGang]
    queues: Mapping[str, QueuePolicy]
    lanes: Mapping[str, Amounts | None]
    """What there is, by place; None: somebody else decides there when a job starts."""
    now: int
    """In seconds since the epoch."""
    used: Used = field(default_factory=Used)
    kept: Tally | None = None
    """What runs, added up by somebody who keeps that up; None: nobody does."""

    @cached_property
    def tally(self) -> Tally:
        """What runs, added up."""
        return Tally(self.running) if self.kept is None else self.kept

    @cached_property
    def by_lane(self) -> dict[str, list[RunningGang]]:
        """What runs, by place; nobody asks where all start that wait."""
        lanes: dict[str, list[RunningGang]] = {}
        for gang in self.running:
            known = lanes.get(gang.lane)
            if known is None:
                known = lanes[gang.lane] = []
            known.append(gang)
        return lanes
