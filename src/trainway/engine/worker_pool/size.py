"""How many workers a worker pool wants: decided from its queue alone. Pure.

A pool grows as soon as jobs wait for a worker, and shrinks when workers have had no job for a
while, within the limits that its owner has set.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from trainway.json_types import Json

IDLE_S: Final = 300.0
"""How long a worker that is not needed is kept, where nobody says otherwise."""


@dataclass(frozen=True)
class Size:
    """Between which limits, and when, the number of workers changes."""

    least: int
    most: int
    threshold: int = 1
    """How many jobs may wait for each worker that there is not yet."""
    patience_s: float = 0.0
    """How long a job waits before a worker is made for it."""
    idle_s: float = IDLE_S
    """How long a worker has no job before it is released."""
    goes_with_jobs: bool = False
    """Whether the pool itself goes once its jobs are over."""
    insists: bool = False
    """Whether machines of a worker are asked for until a cloud has some."""

    def to_dict(self) -> Json:
        """The size as it is stored."""
        return asdict(self)


@dataclass(frozen=True)
class Demand:
    """What there is to do, and who does it."""

    waits: Sequence[float]
    """For each job that waits for a worker, how many seconds it does so."""
    busy: int
    """How many workers have a job."""
    idle: Sequence[float]
    """For each worker that has none, how many seconds it has had none; 0 while it is made."""

    @property
    def workers(self) -> int:
        """All of them."""
        return self.busy + len(self.idle)


def size_of(pool: Mapping[str, Any]) -> Size:
    """The `pool` section of a task, which was checked: `workers`, or a least and a most number."""
    least = pool.get("min_workers")
    begin = pool.get("workers") if least is None else least
    most = pool.get("max_workers")
    least = int(begin or 0)
    return Size(
        least,
        least if most is None else int(most),
        int(pool.get("queue_length_threshold") or 1),
        float(pool.get("upscale_delay_seconds") or 0),
        float(
            IDLE_S
            if pool.get("downscale_delay_seconds") is None
            else pool["downscale_delay_seconds"]
        ),
    )


def wanted_workers(size: Size, demand: Demand) -> int:
    """How many workers there are to be now."""
    waiting = sum(wait >= size.patience_s for wait in demand.waits)
    needed = demand.busy + -(-waiting // size.threshold)
    needed = min(max(needed, size.least), size.most)
    if needed >= demand.workers:
        return needed
    spare = sum(idle >= size.idle_s for idle in demand.idle)
    if demand.workers > size.most:  # the limit was lowered: nobody waits for that
        spare = max(spare, min(len(demand.idle), demand.workers - size.most))
    return max(needed, demand.workers - spare)


def look_again_s(size: Size, demand: Demand) -> float | None:
    """In how many seconds time alone changes what is wanted; None: it does not."""
    left = [size.patience_s - wait for wait in demand.waits if wait < size.patience_s]
    if demand.workers > size.least:
        left += [size.idle_s - idle for idle in demand.idle if idle < size.idle_s]
    return min(left, default=None)
