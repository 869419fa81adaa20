"""What the wish to have a job elsewhere makes of it, by the phase that it is in. Pure."""

from collections.abc import Mapping
from typing import Any, Final

from trainway.backends import capabilities
from trainway.backends.base import Backend
from trainway.backends.hand_over import HandsOver, check_goes_on, handing_over
from trainway.engine import wishing
from trainway.engine.live import LiveJob
from trainway.engine.moving.candidates import is_undecided
from trainway.engine.moving.move import Candidate, Move, Step, move_of
from trainway.engine.phases import WAITING, Phase
from trainway.engine.record import JobRecord
from trainway.engine.rental.interruption import Interruption
from trainway.engine.stored_job import Change
from trainway.engine.under_way import is_under_way
from trainway.engine.wishes import BEGIN_SUSPENDED, ENDING, SUSPEND
from trainway.errors import ConflictError

_BETWEEN: Final[Mapping[str, Any]] = {"phase": Phase.PAUSED, "wanted": "", "making_room": None}
"""The columns of a job that no place has: what was wanted of it at the last one counts no more."""


def moving(live: LiveJob, to: Candidate, back: Candidate, target: Backend) -> Change:
    """It is to go on at the other place, which is the target."""
    record = live.record
    check_movable(live, to.backend)
    if live.has_begun and not record.started and not is_handed_over(live, target):
        return _withdrawing(live, to, back)
    if is_under_way(record):
        capabilities.suspending(live.backend)
        move = Move(Step.STOPPING, to, back, resumes=not is_suspended(record))
        said = f"it is to go on at {to.backend}: it is suspended at {record.backend} first"
        columns = {"move": move.text(), "wanted": SUSPEND, "making_room": None}
        return Change(columns, [live.event("Moving", said)])
    move = Move(Step.LEAVING, to, back, resumes=record.phase in WAITING)
    columns = {"move": move.text(), **_BETWEEN}
    said = f"it is to go on at {to.backend}"
    return Change(columns, [live.event("Moving", said)])


def _withdrawing(live: LiveJob, to: Candidate, back: Candidate) -> Change:
    """It waits at a place that cannot hand jobs over: there it ends, and begins elsewhere."""
    resumes = not is_suspended(live.record)
    move = Move(Step.LEAVING, to, back, resumes=resumes, withdraws=True)
    columns = {"move": move.text(), **_BETWEEN}
    said = f"it has not started at {back.backend}, and goes to {to.backend}"
    return Change(columns, [live.event("Moving", said)])


def begins_anew(
    live: LiveJob, why: str, *, has_ended: bool = False, taken: Interruption | None = None
) -> Change | None:
    """It waits at its place again, since where it ran there is lost; None: it ends, or moves.

    `has_ended`: nothing of it runs any more. `taken`: a cloud takes its machines, but not yet.
    """
    record = live.record
    if not live.has_begun or record.is_over or record.wanted in ENDING or record.move:
        return None
    here = Candidate(record.backend, (), record.handle_data.get("kubeconfig") or ())
    move = Move(
        Step.LEAVING, here, here, resumes=not is_suspended(record), withdraws=True, anew=True,
        abandons=not has_ended, has_ended=has_ended,
        taken=taken.words if taken else "", until=taken.until if taken else "",
    )  # fmt: skip
    columns = {"move": move.text(), **_BETWEEN}
    return Change(columns, [live.event("Recovering", why, kind="Warning")])


def is_suspended(record: JobRecord) -> bool:
    """Whether its owner has it suspended; one that makes room for another goes on by itself."""
    move = move_of(record)
    if move is not None:
        return not move.resumes
    is_asked = record.wanted in (SUSPEND, BEGIN_SUSPENDED) and record.making_room is None
    return record.phase == Phase.PAUSED or is_asked


def is_handed_over(live: LiveJob, target: Backend) -> bool:
    """Whether it can take along what it has; what has not started may as well be withdrawn."""
    place = live.backend
    if not isinstance(place, HandsOver) or not isinstance(target, HandsOver):
        return False
    return not place.why_stays(live.record.handle_data)


def check_leaving(live: LiveJob, target: Backend) -> None:
    """Raise why a job cannot leave its place for that one, by what both can do."""
    record = live.record
    has_begun = live.has_begun or record.journal_seq >= 0
    if not has_begun or (not record.started and not is_handed_over(live, target)):
        return
    stays = handing_over(live.backend).why_stays(record.handle_data)
    check_goes_on(target)
    if stays:
        raise ConflictError(f"{record.name} cannot leave {record.backend}: {stays}")


def check_movable(live: LiveJob, to: str) -> None:
    """Raise why a job cannot move to a place now."""
    record, move = live.record, move_of(live.record)
    if record.is_over:
        raise wishing.is_over(record, "moved")
    if record.phase == Phase.STOPPING or record.wanted in ENDING:
        raise ConflictError(f"{record.name} is being stopped and cannot be moved")
    if record.wanted == BEGIN_SUSPENDED:
        raise ConflictError(f"{record.name} is still being submitted", hint="try again in a moment")
    if is_undecided(record):
        raise ConflictError(
            f"the place of {record.name} is chosen when its turn comes",
            hint="wait until it has started, or cancel it and submit it with --on",
        )
    if move is not None:
        raise ConflictError(
            f"{record.name} is already on its way from {move.back.backend} to {move.to.backend}",
            hint="wait until it has arrived: trainway jobs show -w",
        )
    if record.backend == to:
        raise ConflictError(f"{record.name} is at {to} already")
