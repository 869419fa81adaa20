"""Spot machines that their cloud takes back: until when they are there, and what is avoided then.

The ledger remembers each of them with its rental, also after that has ended, so a new server knows
them as well. Pure.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from trainway.engine.recovery.avoidance import Avoidances, with_failure
from trainway.engine.rental.record import Rental
from trainway.jobset.status import moment
from trainway.optimizer.request import Block

REMEMBERED: Final = timedelta(hours=3)
"""Longer than any interruption counts: an hour and a half is avoided at most, and an hour after
that without another one begins anew."""


@dataclass(frozen=True)
class Interruption:
    """A cloud takes machines back."""

    until: str
    """When the first of them goes, or has gone."""
    words: str
    """What people are told."""


def interruption(rental: Rental) -> Interruption | None:
    """That of a rental; None: nobody takes any of its machines."""
    taken = [each for each in rental.machines if each.taken]
    if not taken:
        return None
    first = min(taken, key=lambda each: moment(each.taken))
    why = f": {first.why}" if first.why else ""
    return Interruption(
        first.taken, f"{rental.cloud} takes back {first.id} at {first.taken} ({rental.place}){why}"
    )


def avoided(rentals: Iterable[Rental], now: datetime) -> list[Block]:
    """The offers of which spot machines were taken so lately that others are tried first.

    The time grows as for places that lose a job: `recovery.avoidance`.
    """
    taken = [(found.until, each) for each in rentals if (found := interruption(each))]
    known: Avoidances = {}
    blocks: dict[str, Block] = {}
    for until, each in sorted(taken, key=lambda pair: moment(pair[0])):
        offer = each.place
        known = with_failure(known, offer, "taken", moment(until), _chance(each.token))
        region, zone = each.region or None, each.zone or None
        blocks[offer] = Block(each.cloud, region, zone, each.instance_type, spot=True)
    return [blocks[offer] for offer, each in known.items() if each.holds(now)]


def _chance(token: str) -> float:
    """A number between 0 and 1 that is the same whenever it is asked for."""
    return int.from_bytes(hashlib.sha256(token.encode()).digest()[:4], "big") / 2**32
