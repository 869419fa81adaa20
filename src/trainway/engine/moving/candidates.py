"""The other places that a job may go to while it has not started: `--on a,b --max-wait 10m`.

They are stored with the job as it would be submitted there. When it has waited at a place for
longer than it may, or the place refuses it, it is withdrawn there and goes to the next one. Each is
tried once, in order, and the last one keeps the job. Pure.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime

from trainway.engine.live import LiveJob
from trainway.engine.moving.move import Candidate, Move, Step, move_of
from trainway.engine.phases import Phase
from trainway.engine.record import JobRecord
from trainway.engine.stored_job import Change
from trainway.engine.times import left_s
from trainway.engine.wishes import ENDING
from trainway.jobset.status import moment
from trainway.json_types import Json


@dataclass(frozen=True)
class Candidates:
    """Where else a job may go."""

    rest: Sequence[Candidate]
    """The places that were not tried yet, the next one first."""
    max_wait_s: float | None
    """How long it may wait at each; None: until it is refused there."""
    since: str
    """When it came to the place where it is."""
    prefer: str | None = None
    """What counts between the places, of which one is chosen when its turn comes; None: it was."""

    def left_s(self, now: datetime) -> float | None:
        """How many seconds it may still wait; None: there is no limit."""
        if self.max_wait_s is None or not self.rest or self.prefer:
            return None
        return left_s(moment(self.since), self.max_wait_s, now)

    def text(self) -> str:
        """The candidates as the store has them."""
        return json.dumps(asdict(self))


def candidates_of(record: JobRecord) -> Candidates | None:
    """The candidates of a job; None: it has none."""
    if not record.candidates:
        return None
    data = json.loads(record.candidates)
    rest = tuple(Candidate(**each) for each in data["rest"])
    return Candidates(rest, data["max_wait_s"], data["since"], data.get("prefer"))


def is_undecided(record: JobRecord) -> bool:
    """Whether its place is chosen only when its turn comes."""
    found = candidates_of(record)
    return found is not None and found.prefer is not None


def candidates_view(record: JobRecord) -> Json | None:
    """The candidates as they are shown; None: there are none."""
    found = candidates_of(record)
    if found is None or not found.rest or record.is_over:
        return None
    places = [each.backend for each in found.rest]
    return {"places": places, "maxWaitSeconds": found.max_wait_s, "since": found.since}


def may_go_on(record: JobRecord) -> bool:
    """Whether a job waits, and could go to another place instead."""
    found, move = candidates_of(record), move_of(record)
    is_free = move is None or move.step is Step.ARRIVING
    is_waiting = not record.started and not record.is_over and record.wanted not in ENDING
    return found is not None and bool(found.rest) and not found.prefer and is_free and is_waiting


def onward(live: LiveJob, why: str) -> Change | None:
    """It goes to its next candidate; None: there is none, or it waits no more."""
    record, found = live.record, candidates_of(live.record)
    if found is None or not may_go_on(record):
        return None
    to, *rest = found.rest
    back = Candidate(record.backend, (), record.handle_data.get("kubeconfig") or ())
    move = Move(Step.LEAVING, to, back, resumes=True, withdraws=True)
    columns = {
        "move": move.text(),
        "candidates": replace(found, rest=rest).text(),
        "phase": Phase.PAUSED,
        "wanted": "",
    }
    return Change(columns, [live.event("MovingOn", f"it goes to {to.backend}: {why}")])


def waited_too_long(record: JobRecord, seconds: float) -> str:
    """Why a job goes on to another place."""
    return f"it has waited at {record.backend} for {seconds:g} seconds"
