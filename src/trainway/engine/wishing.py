"""What the wishes of its owner make of a job, by the phase that it is in. Pure."""

from trainway.backends import capabilities
from trainway.engine.left_job import is_left
from trainway.engine.live import LiveJob
from trainway.engine.observed_columns import wished_end
from trainway.engine.phases import WAITING, Phase
from trainway.engine.queues.making_room import is_leaving
from trainway.engine.record import JobRecord
from trainway.engine.stored_job import Change
from trainway.engine.wishes import BEGIN_SUSPENDED, CANCEL, DELETE, PRUNED, RESUME, SUSPEND
from trainway.errors import ConflictError


def is_over(record: JobRecord, verb: str) -> ConflictError:
    """Why nothing can be done with a job that nobody looks after any more."""
    if is_left(record):
        return ConflictError(f"{record.name} cannot be {verb}: {record.message}")
    if not record.is_over:
        why = "it has ended just now, or this server could not take it up"
        return ConflictError(f"{record.name} cannot be {verb}: {why}")
    phase = record.phase.lower()
    return ConflictError(f"{record.name} has already ended ({phase}) and cannot be {verb}")


def cancelling(live: LiveJob) -> Change | None:
    """It is to end."""
    if live.record.is_over:
        raise is_over(live.record, "cancelled")
    return ended(live, CANCEL)


def deleting(live: LiveJob) -> Change | None:
    """It is to end and to be forgotten; one that is over already is only to be forgotten."""
    return None if live.record.is_over else ended(live, DELETE)


def ended(live: LiveJob, wish: str) -> Change | None:
    """It is to end, for that reason; None: it does already."""
    record = live.record
    if record.is_over or record.wanted in (wish, DELETE):
        return None
    if live.has_begun:
        event = live.event("Cancelling", "a user asked for it")
        return Change({"wanted": wish, "phase": Phase.STOPPING}, [event])
    return live.ending(Phase.CANCELLED, "Cancelled", "it was cancelled before it started", wish)


def cancelled_between(live: LiveJob) -> Change:
    """It is to end while no place has it; it has ended at the last one already."""
    change = live.ending(*wished_end(live.record, "it was cancelled between two places"))
    return Change({**change.columns, "move": None}, change.events)


def pruning(live: LiveJob, why: str) -> Change | None:
    """It is a trial that is not worth finishing; None: it ends already."""
    change = ended(live, CANCEL)
    if change is None:
        return None
    event = live.event(PRUNED, why)
    return Change({**change.columns, "reason": PRUNED, "message": why}, [event])


def suspending(live: LiveJob) -> Change | None:
    """Its processes are to stop."""
    record = live.record
    if record.is_over:
        raise is_over(record, "suspended")
    if record.phase == Phase.STOPPING:
        raise ConflictError(f"{record.name} is being stopped and cannot be suspended")
    _refuse_moving(record)
    capabilities.suspending(live.backend)
    event = live.event("Suspending", "a user asked for it")
    is_there = live.backend.schedules and live.has_begun and record.wanted != RESUME
    stays: dict[str, str | None] = {"making_room": None}
    if record.phase in WAITING and not is_there:
        paused = {"phase": Phase.PAUSED, "wanted": "", "reason": "", "message": ""}
        return Change(paused | stays, [event])
    return None if record.phase == Phase.PAUSED else Change({"wanted": SUSPEND} | stays, [event])


def resuming(live: LiveJob) -> Change | None:
    """It is to go on, as soon as it may."""
    record = live.record
    if record.is_over:
        raise is_over(record, "resumed")
    _refuse_moving(record)
    if record.phase == Phase.PAUSED:
        event = live.event("Resuming", "a user asked for it")
        wanted = RESUME if live.has_begun else ""
        return Change({"phase": Phase.QUEUED, "wanted": wanted}, [event])
    if is_leaving(record):
        return None  # it goes on by itself
    if record.wanted in (SUSPEND, BEGIN_SUSPENDED):
        raise ConflictError(f"{record.name} is still being suspended", hint="try again in a moment")
    return None


def _refuse_moving(record: JobRecord) -> None:
    """Raise for a job that is on its way to another place."""
    if record.move:
        raise ConflictError(
            f"{record.name} is on its way to another place", hint="try again when it has arrived"
        )
