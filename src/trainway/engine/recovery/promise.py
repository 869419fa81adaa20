"""A deadline that a job is to keep, and where Uniform Progress has it run now. Pure.

Of the places that the job may go to, the last one is sure, and those before it are cheap and may be
lost. How far the job is, it says itself where it reports its progress; else the time that it ran
counts.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from trainway.engine.attempt_runs import seconds_of
from trainway.engine.observation import RUNS
from trainway.engine.phases import Phase
from trainway.engine.record import JobRecord
from trainway.engine.recovery.avoidance import Avoidances, free, soonest
from trainway.engine.recovery.strategy import Target
from trainway.engine.recovery.uniform_progress import Place, Standing, Terms, next_place
from trainway.engine.times import time_text
from trainway.jobset.status import moment
from trainway.json_types import Json

CHANGEOVER_S: Final = 120.0
"""What a start is taken to cost until the job computes again."""
RENTED_START_S: Final = 300.0
"""The same where machines are rented first: a cloud makes them, and they boot."""
PACE_S: Final = 60.0
"""The longest time between two decisions."""


@dataclass(frozen=True)
class Promise:
    """When a job must have ended, and what was last thought of that."""

    at: str
    work_s: float
    began: str
    place: Place = Place.IDLE
    """Where it should be, as of the last decision."""
    done_s: float = 0.0
    """How much of the work was done then."""
    checked: str = ""
    stage: tuple[int, int] | None = None
    """Of a task: how many tasks of its pipeline come before it, and of how many in a row it is one,
    which count alike. The deadline and the work are those of the pipeline. None: it is no task."""
    start_s: float = CHANGEOVER_S
    """What a start is taken to cost until the job computes again."""
    rents: bool = False
    """Whether its places are machines of a cloud: while they are being made it is there already."""

    @property
    def own_s(self) -> float:
        """How much of the work is that of the job itself."""
        return self.work_s if self.stage is None else self.work_s / self.stage[1]

    @property
    def before_s(self) -> float:
        """How much of the work is done by others before it begins."""
        return 0.0 if self.stage is None else self.own_s * self.stage[0]

    @property
    def terms(self) -> Terms:
        """What the policy decides by."""
        whole = (moment(self.at) - moment(self.began)).total_seconds()
        return Terms(self.work_s, whole, self.start_s, PACE_S)

    def view(self) -> Json:
        """It as it is shown."""
        left = (moment(self.at) - moment(self.checked or self.began)).total_seconds()
        return {
            "at": self.at,
            "workSeconds": self.work_s,
            "doneSeconds": round(self.done_s, 3),
            "slackSeconds": round(left - (self.work_s - self.done_s), 3),
            "place": self.place,
        }


def promise_of(data: Any) -> Promise | None:
    """A promise as it is stored; None: there is none."""
    if not data:
        return None
    stage = data.get("stage")
    return Promise(**{**data, "place": Place(data["place"]), "stage": stage and tuple(stage)})


def decided(
    promise: Promise,
    record: JobRecord,
    here: str,
    places: Sequence[str],
    avoided: Avoidances,
    now: datetime,
    since: str = "",
) -> Promise:
    """The promise with where its job should be now; it is `here`, and `places` end with the sure.

    `since` is when it came to where it is, if it does not run there yet.
    """
    *cheap, sure = places
    done, runs = _done_s(promise, record, now), record.phase == Phase.RUNNING
    is_sure = here == sure
    is_cheap = not is_sure and (runs or _is_made(promise, since, now))
    others = [place for place in cheap if place != here]
    # One that waits at a cheap place, which has not lost it, has no other one either.
    may_leave = is_sure or _is_lost(avoided, here, now)
    standing = Standing(
        elapsed=(now - moment(promise.began)).total_seconds(),
        progress=done,
        place=Place.SURE if is_sure else Place.CHEAP if is_cheap else Place.IDLE,
        is_cheap_there=is_cheap or (may_leave and bool(free(avoided, others, now))),
        starting=0.0 if runs else promise.start_s,
    )
    aim = next_place(promise.terms, standing)
    return replace(promise, place=aim, done_s=done, checked=time_text(now))


def aim_of(
    promise: Promise,
    here: str,
    places: Sequence[str],
    avoided: Avoidances,
    now: datetime,
    *,
    has_ended: bool,
) -> Target | None:
    """Where the job goes for the decision that was made; None: it stays."""
    *cheap, sure = places
    if promise.place is Place.SURE:
        return Target(sure) if has_ended or here != sure else None
    others = [place for place in cheap if place != here or has_ended]
    if promise.place is Place.CHEAP and (has_ended or here == sure or _is_lost(avoided, here, now)):
        found = free(avoided, others, now)
        return Target(found[0]) if found else None
    return _waiting(promise, sure, others, avoided, now) if has_ended else None


def _waiting(
    promise: Promise, sure: str, cheap: Sequence[str], avoided: Avoidances, now: datetime
) -> Target:
    """Where a job that has nowhere to be goes next: a cheap place while it is in time, or not."""
    terms = promise.terms
    until_behind = promise.done_s * terms.deadline / terms.work
    last = max(moment(promise.began) + timedelta(seconds=until_behind), now)
    first = soonest(avoided, [place for place in cheap if place in avoided])
    if first is not None and moment(first.until) < last:
        return Target(first.place, first.until)
    return Target(sure, time_text(last) if last > now else "")


def _is_made(promise: Promise, since: str, now: datetime) -> bool:
    """Whether machines are being made for the job, for no longer than a start takes."""
    if not promise.rents or not since:
        return False
    return (now - moment(since)).total_seconds() < promise.start_s


def _is_lost(avoided: Avoidances, place: str, now: datetime) -> bool:
    return place in avoided and avoided[place].holds(now)


def _done_s(promise: Promise, record: JobRecord, now: datetime) -> float:
    """How much of the work is done: before it, and by it as it says, or for as long as it ran."""
    percent = record.progress_data.get("progressPercentage")
    if isinstance(percent, int | float):
        return promise.before_s + min(max(percent / 100, 0.0), 1.0) * promise.own_s
    runs = record.observed_data.get(RUNS) or ()
    ran = sum(seconds_of(run, time_text(now)) for run in runs)
    return promise.before_s + min(ran, promise.own_s)
