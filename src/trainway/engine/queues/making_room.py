"""Preemption, carried out: a job makes room for another, waits in its queue, and goes on by itself.

That it makes room is written into its record together with the wish that it be suspended. So
whoever reads the record knows for whom it left, and a server that is killed at any moment is
followed by one that does the rest: the wish is told to the agent again, what the agent then says
puts the job back into its queue, and a round of the queue lets it go on. Pure.
"""

import json
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, Final

from trainway.engine.ids import before
from trainway.engine.phases import Phase
from trainway.engine.record import JobRecord
from trainway.engine.times import time_text
from trainway.engine.wishes import RESUME, SUSPEND
from trainway.queueing.queue_policy import Eviction

PREEMPTED: Final = "Preempted"
"""The reason of a job that has made room and waits."""
PREEMPTING: Final = "Preempting"
"""What happens to a job that is told to make room."""


@dataclass(frozen=True)
class MakingRoom:
    """For whom a job makes room."""

    job: str
    name: str
    time: str
    order: str = ""
    """Its new place in the queue, as the id of a job has it; empty: it keeps its own."""

    @property
    def told(self) -> str:
        """What the job says for itself."""
        return f"it made room for {self.name} ({self.job})"


@lru_cache(10_000)
def _read(text: str) -> MakingRoom:
    return MakingRoom(**json.loads(text))


def read_making_room(text: str | None) -> MakingRoom | None:
    """What a record has of it."""
    return _read(text) if text else None


def leaving(job: str, name: str, eviction: Eviction, now: datetime) -> dict[str, Any]:
    """The columns of a job that has to make room for another, which has that id and name."""
    order = before(now) if eviction is Eviction.REQUEUE else ""
    made = MakingRoom(job, name, time_text(now), order)
    return {"wanted": SUSPEND, "making_room": json.dumps(asdict(made))}


def is_leaving(record: JobRecord) -> bool:
    """Whether it still holds what it is to make room with."""
    return record.making_room is not None and record.wanted == SUSPEND


def has_left(record: JobRecord) -> bool:
    """Whether it has made room, and waits."""
    return record.making_room is not None and record.wanted == RESUME


def left(record: JobRecord) -> dict[str, Any]:
    """The columns of a job that is suspended now, and wants to go on."""
    made = read_making_room(record.making_room)
    said = made.told if made else ""
    return {"phase": Phase.QUEUED, "wanted": RESUME, "reason": PREEMPTED, "message": said}


def told(record: JobRecord, reason: str, why: str) -> tuple[str, str]:
    """Reason and message of a job that waits; one that has made room also says so."""
    made = read_making_room(record.making_room)
    return (PREEMPTED, f"{made.told}; {why}") if made else (reason, why)
