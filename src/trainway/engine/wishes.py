"""What may be wanted of a job and is not done yet."""

from typing import Final

from trainway.engine.phases import WAITING, Phase
from trainway.engine.record import JobRecord

CANCEL: Final = "cancel"
DELETE: Final = "delete"
"""A cancel after which the job is forgotten."""
DEADLINE: Final = "deadline"
"""A cancel that counts as failure."""
LOST: Final = "lost"
"""A cancel that counts as failure too, of a job that is not to be recovered from a loss."""
BUDGET: Final = "budget"
"""A cancel that counts as failure too, of a job for which no money is left."""
SUSPEND: Final = "suspend"
BEGIN_SUSPENDED: Final = "begin-suspended"
RESUME: Final = "resume"

PRUNED: Final = "Pruned"
"""The reason of a trial that its search has stopped early; what is wanted of it is a cancel."""

ENDING: Final = (CANCEL, DELETE, DEADLINE, LOST, BUDGET)


def is_explained(record: JobRecord) -> bool:
    """Whether it is to end, and has the reason and message of its end already."""
    return record.wanted in (LOST, BUDGET)


def has_reason(record: JobRecord) -> bool:
    """Whether its end will have the reason and message that it has now."""
    return is_explained(record) or record.reason == PRUNED


def is_new(before: JobRecord, record: JobRecord) -> bool:
    """Whether the agent has yet to be told; that a job goes on, only when it may begin."""
    if record.wanted == RESUME:
        return before.phase in WAITING and record.phase == Phase.STARTING
    return record.wanted not in ("", before.wanted)
