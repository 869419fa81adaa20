"""What the owner of a queue says of it: quotas, cohort, share, preemption, and what it lets in."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from trainway.errors import UsageError
from trainway.queueing.amounts import Amounts, is_known

LOWEST_PRIORITY: Final = -1000
HIGHEST_PRIORITY: Final = 1000
DEFAULT_QUEUE: Final = "default"


def check_priority(priority: int, field: str) -> None:
    """Raise for a priority that no job may be given."""
    if not LOWEST_PRIORITY <= priority <= HIGHEST_PRIORITY:
        said = f"must be between {LOWEST_PRIORITY} and {HIGHEST_PRIORITY}, and is {priority}"
        raise UsageError(f"a priority {said}", field=field)


class QueueState(StrEnum):
    """Whether jobs come in and go out."""

    OPEN = "Open"
    PAUSED = "Paused"
    """Jobs are taken in, and none starts."""
    DRAINING = "Draining"
    """No job is taken in; those that wait still start."""


class Preemption(StrEnum):
    """Of whom a job of the queue may take what it needs; only jobs of lower priority count."""

    NEVER = "Never"
    QUEUE = "Queue"
    """Jobs of its own queue."""
    ANY = "Any"
    """Jobs of all queues."""


class Eviction(StrEnum):
    """What becomes of a job of the queue that has to make room."""

    SUSPEND = "Suspend"
    REQUEUE = "Requeue"


@dataclass(frozen=True)
class QueuePolicy:
    """A queue as the decision sees it."""

    name: str
    quota: Amounts = field(default_factory=dict)
    """The most that its jobs use at the same time; what is not named is not limited."""
    gpu_hours: int | None = None
    """The most in a month; None: not limited."""
    cohort: str = ""
    """The queues of a cohort lend each other what they do not use."""
    borrowing: Amounts = field(default_factory=dict)
    """The most beyond its quota; what is not named is limited by what there is to lend."""
    weight: int = 1
    """Its part of what several queues want."""
    preemption: Preemption = Preemption.NEVER
    reclaims: bool = False
    """Whether its jobs may take back what others of the cohort have borrowed."""
    eviction: Eviction = Eviction.SUSPEND
    grace_s: int = 30
    """How long its jobs have to end when they make room."""
    state: QueueState = QueueState.OPEN

    @property
    def refusal(self) -> str:
        """Why it takes in no jobs; empty: it does."""
        if self.state is not QueueState.DRAINING:
            return ""
        return (
            f"Queue {self.name} is being drained and takes in no more jobs. "
            f"Choose another queue, or let it take jobs again: trainway queues resume {self.name}"
        )


def problems(policy: QueuePolicy) -> dict[str, str]:
    """What is wrong with a policy, by field."""
    found: dict[str, str] = {}
    for where, amounts in (("quota", policy.quota), ("borrowing", policy.borrowing)):
        found |= _amount_problems(where, amounts)
    if policy.weight < 1:
        found["weight"] = f"must be 1 or more, and is {policy.weight}"
    if policy.grace_s < 0:
        found["gracePeriodSeconds"] = f"must not be negative, and is {policy.grace_s}"
    if policy.gpu_hours is not None and policy.gpu_hours < 0:
        found["gpuHoursPerMonth"] = f"must not be negative, and is {policy.gpu_hours}"
    if policy.borrowing and not policy.cohort:
        found["borrowing"] = "needs a cohort: without one there is nobody to borrow from"
    if policy.reclaims and not policy.cohort:
        found["reclaims"] = "needs a cohort: without one nobody can have borrowed anything"
    for resource in policy.borrowing.keys() - policy.quota.keys():
        found[f"borrowing.{resource}"] = "has no quota to go beyond; give the quota as well"
    return found


def _amount_problems(where: str, amounts: Mapping[str, int]) -> dict[str, str]:
    found = {}
    for resource, amount in amounts.items():
        if not is_known(resource):
            found[f"{where}.{resource}"] = (
                "is no resource of queues; there are cpu, memory, gpu, gpu:TYPE and jobs"
            )
        elif amount < 0:
            found[f"{where}.{resource}"] = f"must not be negative, and is {amount}"
    return found
