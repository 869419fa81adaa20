"""Whether a job has a place where it runs: it was given to its backend and is not held up."""

from trainway.engine.phases import WAITING, Phase
from trainway.engine.record import JobRecord
from trainway.engine.wishes import BEGIN_SUSPENDED, RESUME


def is_under_way(record: JobRecord) -> bool:
    """Whether a job was given to its backend, and is neither paused nor about to be resumed."""
    has_begun = record.devices != ""
    if not has_begun or record.phase == Phase.PAUSED or record.wanted == BEGIN_SUSPENDED:
        return False
    return not (record.phase in WAITING and record.wanted == RESUME)
