"""A job that goes on elsewhere when its place is lost: what is stored with it for that. Pure.

The job is kept as it would be submitted to each place that it may go to, the one where it began
among them, with the places that it avoids and the attempts that it has lost where nothing but this
remembers them.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Final

from trainway.engine.moving.move import Candidate
from trainway.engine.phases import Phase
from trainway.engine.record import JobRecord
from trainway.engine.recovery.avoidance import Avoided, avoidances_view, with_failure
from trainway.engine.recovery.promise import Promise, aim_of, decided, promise_of
from trainway.engine.recovery.strategy import Loss, Situation, Strategy, Target, target
from trainway.engine.recovery.uniform_progress import Place
from trainway.engine.worker_pool.rented_place import place_again
from trainway.json_types import Json

USUAL_WAIT_S: Final = 300.0
"""How long a job waits at a place that has lost it until it goes elsewhere, if nobody says."""
_MOST_PAST: Final = 50


@dataclass(frozen=True)
class Failover:
    """Where a job may go on, and what it knows of these places."""

    strategy: Strategy
    places: Sequence[Candidate]
    """In order; the place where it is is one of them."""
    wait_s: float = USUAL_WAIT_S
    avoided: Mapping[str, Avoided] = field(default_factory=dict)
    since: str = ""
    """Since when it does not run because of a loss; empty: it does."""
    past: Sequence[Json] = ()
    """The attempts that were lost at places that could not hand it over, as `attempts` has them."""
    promise: Promise | None = None
    """The deadline that it is to keep; None: it has none, and the strategy decides."""

    def text(self) -> str:
        """It as the store has it."""
        return json.dumps(asdict(self))

    def here(self, record: JobRecord) -> str:
        """Where its job is, as it was named; on a cloud the job is in a pool of its own there."""
        is_known = any(each.backend == record.backend for each in self.places)
        return record.backend if is_known else place_again(record.backend, record.label_map)

    def at(self, place: str) -> Candidate:
        """The job for a place."""
        return next(each for each in self.places if each.backend == place)

    def joined(self, to: Candidate) -> "Failover":
        """It with where somebody has moved its job, which comes before what was named at first.

        A deadline takes the last place to be the sure one, and every other one to be cheap.
        """
        is_known = any(each.backend == to.backend for each in self.places)
        return self if is_known else replace(self, places=[to, *self.places])

    def lost(self, job_id: str, place: str, why: str, now: datetime, loss: Loss) -> "Failover":
        """It after a place has failed."""
        known = self.avoided.get(place)
        chance = _chance(job_id, place, known.failures if known else 0)
        is_spent = loss is Loss.REFUSED
        table = with_failure(self.avoided, place, why, now, chance, is_spent=is_spent)
        return replace(self, avoided=table)

    def aim(self, record: JobRecord, now: datetime, *, has_ended: bool = False) -> Target | None:
        """Where the job of a record goes after a loss, by its strategy or its deadline."""
        here = self.here(record)
        if self.promise is None or self.is_sure_spent:
            return target(self.situation(here, now, has_ended=has_ended))
        places = [each.backend for each in self.places]
        told = (self.promise, here, places, self.avoided, now)
        return aim_of(*told, has_ended=has_ended)

    @property
    def is_behind(self) -> bool:
        """Whether its deadline asked for the sure place when it was last checked."""
        return self.promise is not None and self.promise.place is Place.SURE

    @property
    def is_sure_spent(self) -> bool:
        """Whether the sure place does not take it, so that no deadline can be kept by it."""
        found = self.avoided.get(self.places[-1].backend)
        return found is not None and found.is_spent

    def checked(self, record: JobRecord, now: datetime) -> "Failover":
        """It with what its deadline asks for now."""
        if self.promise is None:
            return self
        places = [each.backend for each in self.places]
        since = "" if record.phase == Phase.RUNNING else self.since or record.created
        told = (self.promise, record, self.here(record), places, self.avoided, now)
        return replace(self, promise=decided(*told, since=since))

    def remembering(self, endings: Sequence[Json]) -> "Failover":
        """It with attempts of a place whose journal is given up."""
        return replace(self, past=[*self.past, *endings][-_MOST_PAST:])

    def situation(
        self, here: str, now: datetime, *, has_ended: bool = False, is_impatient: bool = False
    ) -> Situation:
        """What the strategy decides by."""
        places = [each.backend for each in self.places]
        told = (self.strategy, here, places, self.avoided, now)
        return Situation(*told, has_ended=has_ended, is_impatient=is_impatient)


def failover_of(record: JobRecord) -> Failover | None:
    """What is stored of it with a job; None: nothing."""
    if not record.recovery:
        return None
    data = json.loads(record.recovery)
    return Failover(
        Strategy(data["strategy"]),
        tuple(Candidate(**each) for each in data["places"]),
        data["wait_s"],
        {place: Avoided(**each) for place, each in data["avoided"].items()},
        data["since"],
        data["past"],
        promise_of(data.get("promise")),
    )


def failover_view(record: JobRecord) -> Json | None:
    """It as it is shown; None: there is nothing to show."""
    found = failover_of(record)
    if found is None:
        return None
    return {
        "strategy": found.strategy,
        "places": [each.backend for each in found.places],
        **({"deadline": found.promise.view()} if found.promise else {}),
        "avoided": [] if record.is_over else avoidances_view(found.avoided),
    }


def past_endings(record: JobRecord) -> Sequence[Json]:
    """The attempts that only this remembers."""
    found = failover_of(record)
    return () if found is None else found.past


def with_place(endings: Sequence[Json], place: str) -> None:
    """Note where attempts ended, of those of which it is not known yet."""
    for each in endings:
        each.setdefault("place", place)


def _chance(job_id: str, place: str, failures: int) -> float:
    """A number between 0 and 1 that differs from job to job, and is the same whenever asked."""
    digest = hashlib.sha256(f"{job_id}/{place}/{failures}".encode()).digest()
    return int.from_bytes(digest[:4], "big") / 2**32
