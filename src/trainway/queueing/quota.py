"""What queues and cohorts use of their quotas, while a decision is made.

A queue may go beyond its quota with what the others of its cohort do not use. What one of them
waits for, none of the others borrows any more: so what was lent comes back.
"""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from trainway.queueing.amounts import GPU, JOBS, Amounts, figure, told
from trainway.queueing.queue_policy import QueuePolicy
from trainway.queueing.snapshot import Tally, WaitingGang

_HOUR_S: Final = 3600


class Shortage(NamedTuple):
    """Why a quota has no room for a job."""

    policy: QueuePolicy
    resource: str
    wanted: int
    has: int
    """What the queue uses."""
    limit: int | None = None
    """The most that the queue may borrow, where that is what is short."""
    lent: int = 0
    """What the cohort uses."""
    total: int | None = None
    """What the cohort has, where that is short."""
    claim: str = ""
    """Who came first and gets what becomes free."""

    @property
    def is_cohorts(self) -> bool:
        """Whether it is others of the cohort who have what is short."""
        return self.total is not None

    @property
    def fact(self) -> str:
        """What is short, with the figures."""
        name, resource = self.policy.name, self.resource
        quota = told(resource, self.policy.quota[resource])
        uses = f"Queue {name} uses {self._of(self.has)} of its {quota}"
        needs = f"this job needs {self._of(self.wanted)}"
        if self.total is None:
            borrows = "" if self.limit is None else f" and may borrow {self._of(self.limit)}"
            return f"{uses}{borrows}, and {needs}."
        kept = f", and what becomes free is kept for {self.claim}" if self.claim else ""
        return (
            f"{uses}, and {needs}. The queues of cohort {self.policy.cohort} use "
            f"{self._of(self.lent)} of {self._of(self.total)}{kept}."
        )

    @property
    def message(self) -> str:
        """That, and what would help."""
        whose = "the queue" if self.total is None else "the cohort"
        return f"{self.fact} It starts when jobs of {whose} end, or with a larger quota."

    def _of(self, amount: int) -> str:
        return figure(self.resource, amount)


class Quotas:
    """What is in use."""

    def __init__(
        self,
        queues: Mapping[str, QueuePolicy],
        tally: Tally,
        gpu_seconds: Mapping[str, int],
    ) -> None:
        self._queues = queues
        self._gpu_seconds = gpu_seconds
        self._used = {name: dict.fromkeys(policy.quota, 0) for name, policy in queues.items()}
        self._cohort_used: dict[str, dict[str, int]] = {}
        self._totals: dict[str, dict[str, int]] = {}
        self._claims: dict[tuple[str, str], str] = {}
        for policy in queues.values():
            if policy.cohort:
                total = self._totals.setdefault(policy.cohort, {})
                lent = self._cohort_used.setdefault(policy.cohort, {})
                for resource, amount in policy.quota.items():
                    total[resource] = total.get(resource, 0) + amount
                    lent[resource] = 0
        self._most = {policy.name: self._ceiling(policy) for policy in queues.values()}
        self._least_ceiling: dict[str, int] = {}
        """What a job of any queue may ask for."""
        for most in self._most.values():
            for resource, amount in most.items():
                least = self._least_ceiling.get(resource, amount)
                self._least_ceiling[resource] = min(least, amount)
        self._modest: dict[int, bool] = {}
        """By request: whether that is not exceeded."""
        for queue, amounts in tally.by_queue.items():
            self.count(queue, amounts, jobs=amounts[JOBS])

    def _ceiling(self, policy: QueuePolicy) -> dict[str, int]:
        """The most that a queue can have, with all that there is to borrow."""
        if not policy.cohort:
            return dict(policy.quota)
        totals = self._totals[policy.cohort]
        return {
            resource: min(
                totals[resource], quota + policy.borrowing.get(resource, totals[resource])
            )
            for resource, quota in policy.quota.items()
        }

    def count(self, queue: str, request: Amounts, times: int = 1, jobs: int = 1) -> None:
        """A job has started; or, with -1, has ended. Some nodes of one are no job: `jobs` is 0."""
        policy = self._queues.get(queue)
        if policy is None or not policy.quota:
            return
        used = self._used[queue]
        lent = self._cohort_used[policy.cohort] if policy.cohort else None
        for resource in policy.quota:
            amount = jobs if resource == JOBS else request.get(resource)
            if amount:
                amount *= times
                used[resource] += amount
                if lent is not None:
                    lent[resource] += amount

    def policy(self, queue: str) -> QueuePolicy:
        """What the owner of a queue says of it."""
        return self._queues[queue]

    def used(self, queue: str) -> Amounts:
        """What a queue uses of that which it has a quota for."""
        return self._used.get(queue, {})

    def lacks(self, gang: WaitingGang, policy: QueuePolicy) -> list[Shortage]:
        """What is short for a job; empty: nothing."""
        if not policy.quota or self._is_plenty(gang, policy):
            return []
        return list(self._lacks(gang, policy))

    def _is_plenty(self, gang: WaitingGang, policy: QueuePolicy) -> bool:
        """Whether it would borrow nothing, and nobody has borrowed so much that it matters.

        So it is of most that start. `_lacks` comes to the same, but has more to look at.
        """
        used, request = self._used[policy.name], gang.request
        lent = self._cohort_used.get(policy.cohort, used)
        totals = self._totals.get(policy.cohort, policy.quota)
        for resource, quota in policy.quota.items():
            wanted = 1 if resource == JOBS else request.get(resource)
            if wanted and (
                used.get(resource, 0) + wanted > quota
                or lent.get(resource, 0) + wanted > totals[resource]
            ):
                return False
        return True

    def _lacks(self, gang: WaitingGang, policy: QueuePolicy) -> Iterable[Shortage]:
        used = self._used[policy.name]
        for resource, quota in policy.quota.items():
            wanted = 1 if resource == JOBS else gang.request.get(resource, 0)
            if not wanted:
                continue
            has = used.get(resource, 0)
            beyond = has + wanted - quota
            if not policy.cohort:
                if beyond > 0:
                    yield Shortage(policy, resource, wanted, has)
                continue
            limit = policy.borrowing.get(resource)
            if beyond > 0 and limit is not None and beyond > limit:
                yield Shortage(policy, resource, wanted, has, limit)
                continue
            claim = self._claims.get((policy.cohort, resource), "") if beyond > 0 else ""
            total = self._totals[policy.cohort][resource]
            lent = self._cohort_used[policy.cohort].get(resource, 0)
            if claim or lent + wanted > total:
                yield Shortage(policy, resource, wanted, has, None, lent, total, claim)

    def claim(self, gang: WaitingGang, policy: QueuePolicy, lacks: Iterable[Shortage]) -> None:
        """From now on nobody borrows what this one waits for."""
        for shortage in lacks:
            if shortage.is_cohorts:
                self._claims.setdefault((policy.cohort, shortage.resource), gang.name or gang.id)

    def is_modest(self, request: Amounts) -> bool:
        """Whether every queue could have so much."""
        is_modest = self._modest.get(id(request))
        if is_modest is None:
            is_modest = self._modest[id(request)] = not _excess(request, self._least_ceiling)
        return is_modest

    def never(self, gang: WaitingGang, policy: QueuePolicy) -> str:
        """Why a job asks for more than its queue can ever have; empty: it does not."""
        if self.is_modest(gang.request):
            return ""
        most = self._most[policy.name]
        resource = _excess(gang.request, most)
        if not resource:
            return ""
        wanted, allowed = _wanted(gang.request, resource), figure(resource, most[resource])
        return f"{told(resource, wanted)}, and queue {policy.name} may use {allowed}"

    def deficits(
        self, gang: WaitingGang, policy: QueuePolicy
    ) -> tuple[dict[str, int], dict[str, int], dict[str, int]]:
        """By how much its queue is short for a job, its cohort is, and what it would borrow.

        The first two are what `_lacks` tells of, for whoever has no claim to mind.
        """
        used, lent = self._used[policy.name], self._cohort_used.get(policy.cohort)
        of_queue: dict[str, int] = {}
        of_cohort: dict[str, int] = {}
        borrowed: dict[str, int] = {}
        for resource, quota in policy.quota.items():
            wanted = _wanted(gang.request, resource)
            if not wanted:
                continue
            beyond = used[resource] + wanted - quota
            limit = 0 if lent is None else policy.borrowing.get(resource)
            if beyond > 0:
                borrowed[resource] = beyond
                if limit is not None and beyond > limit:
                    of_queue[resource] = beyond - limit
            if lent is not None:
                missing = lent[resource] + wanted - self._totals[policy.cohort][resource]
                if missing > 0:
                    of_cohort[resource] = missing
        return of_queue, of_cohort, borrowed

    def spent(self, gang: WaitingGang, policy: QueuePolicy) -> str:
        """What to say of a queue that has used up its GPU-hours; empty: it has not."""
        if policy.gpu_hours is None or not gang.request.get(GPU, 0):
            return ""
        seconds = self._gpu_seconds.get(policy.name, 0)
        if seconds < policy.gpu_hours * _HOUR_S:
            return ""
        return (
            f"Queue {policy.name} has used {seconds / _HOUR_S:.1f} of its {policy.gpu_hours} "
            "GPU-hours of this month. Its jobs with GPUs start again next month, "
            "or when it gets more."
        )


def _wanted(request: Amounts, resource: str) -> int:
    return 1 if resource == JOBS else request.get(resource, 0)


def _excess(request: Amounts, most: Amounts) -> str:
    """The first resource of which a job asks for more than this; empty: there is none."""
    return next((name for name, amount in most.items() if _wanted(request, name) > amount), "")
