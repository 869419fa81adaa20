"""Chooses the place of a task when its turn comes, and not before: what is free then counts.

The task is stored as it would be for each place, so the server can go on without whoever submitted
it. Until one is chosen the task waits nowhere, whatever place its record names. The choice is one
write: a server that is killed has made it, or the next one asks all places again.
"""

import logging
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Final

from trainway.backends import capabilities
from trainway.engine.backoff import Backoff
from trainway.engine.ledger import Ledger
from trainway.engine.live import LiveJob
from trainway.engine.moving.arrival import Arrival, submission_at
from trainway.engine.moving.candidates import Candidates, candidates_of, is_undecided
from trainway.engine.moving.move import Candidate
from trainway.engine.moving.moves import Moves
from trainway.engine.phases import WAITING
from trainway.engine.placement.offer import Fit, Offer, Prefer, ranked
from trainway.engine.record import JobRecord
from trainway.engine.stored_job import Change
from trainway.engine.submission import Submission
from trainway.errors import DatabaseError, TrainwayError

CHOOSING: Final = "a place is chosen for it"
_LONGEST_S: Final = 60.0
"""The longest pause before places that take it not are asked again."""

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ChoosingContext:
    """What the choice needs of the engine."""

    ledger: Ledger
    moves: Moves
    survey: Callable[[Sequence[Submission]], Awaitable[list[Offer]]]
    """Asks the places of submissions what they offer, in their order."""
    request_round: Callable[[], object]
    bring: Callable[[JobRecord, Candidate], Awaitable[Candidate]]
    """Gives a task for a place what it reads of others."""


@dataclass(frozen=True)
class _Choice:
    """A place that takes a task."""

    offer: Offer
    arrival: Arrival
    rest: Sequence[Candidate]
    """The other places that would take it, the best first."""


class Choosing:
    """The tasks that have their turn, and no place yet."""

    def __init__(self, around: ChoosingContext) -> None:
        self._around = around
        self._told: dict[str, str] = {}
        """What each is told, by its id."""

    def ready(self, live: LiveJob) -> str:
        """Have a place chosen, unless that is under way; what the task is told meanwhile."""
        if live.id not in self._told:
            self._told[live.id] = CHOOSING
            task = live.background.spawn(self._choose(live))
            task.add_done_callback(lambda _: self._told.pop(live.id, None))
        return self._told[live.id]

    async def _choose(self, live: LiveJob) -> None:
        """Ask until a place takes it, or nobody wants it to start any more."""
        backoff = Backoff()
        while not live.over.is_set() and _is_due(live):
            try:
                problem = await self._attempt(live)
            except DatabaseError as error:
                log.warning("job %s: its place is chosen later: %s", live.id, error)
                problem = ""
            except Exception:
                log.exception("job %s: its place is chosen later", live.id)
                problem = "an error of the server, which its log tells"
            if problem:
                self._told[live.id] = f"no place takes it now, and all are asked again: {problem}"
            self._around.request_round()
            await backoff.wait(_LONGEST_S)

    async def _attempt(self, live: LiveJob) -> str:
        """Ask all places once, and write what is chosen; why nothing is."""
        record, found = live.record, candidates_of(live.record)
        if found is None:
            return ""
        store = self._around.ledger.store
        spec = await self._around.ledger.call(store.spec, record.id)
        files = record.handle_data.get("kubeconfig") or ()
        places = [Candidate(record.backend, spec.objects, files, spec.environ), *found.rest]
        asked = [submission_at(record, each) for each in places]
        offers = ranked(await self._around.survey(asked), Prefer(found.prefer or Prefer.ORDER))
        refused = [f"{offer.place}: {offer.reason}" for offer in offers if offer.fit is Fit.NEVER]
        taking: list[tuple[Offer, Candidate]] = []
        for offer in (each for each in offers if each.fit is not Fit.NEVER):
            with _refusals(offer, refused):
                place = await self._around.bring(record, places[offer.order])
                taking.append((offer, place))
        for offer, place in taking:
            with _refusals(offer, refused):
                rest = [other for each, other in taking if each is not offer]
                async with self._around.moves.housed(record, place) as (known, there):
                    arrival = await self._around.moves.arrival(known, spec, there)
                    await self._write(live, _Choice(offer, arrival, rest))
                return ""
        return "; ".join(refused)

    async def _write(self, live: LiveJob, choice: _Choice) -> None:
        arrival = choice.arrival
        try:
            await live.alter(lambda: _chosen(live, choice))
        finally:
            if live.record.handle_data.get("port") != arrival.port:
                capabilities.release(arrival.backend, arrival.port)
        self._around.moves.look(live)


@contextmanager
def _refusals(offer: Offer, found: list[str]) -> Iterator[None]:
    """Note why a place does not take it after all."""
    try:
        yield
    except DatabaseError:
        raise
    except TrainwayError as error:
        found.append(f"{offer.place}: {error.sentence}")


def _is_due(live: LiveJob) -> bool:
    return is_undecided(live.record) and live.record.phase in WAITING


def _chosen(live: LiveJob, choice: _Choice) -> Change | None:
    """It has its place from now on, and begins there like one that was submitted to it."""
    found = candidates_of(live.record)
    if found is None or not _is_due(live):
        return None
    left: Candidates | None = None
    if choice.rest:
        left = replace(found, rest=choice.rest, since=live.now(), prefer=None)
    columns = {
        **choice.arrival.columns,
        "observed": choice.arrival.planned,
        "candidates": left.text() if left else None,
    }
    said = f"{choice.offer.place} was chosen: {choice.offer.reason}"
    return Change(columns, [live.event("Placed", said)], choice.arrival.spec)
