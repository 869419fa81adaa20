"""What places offer for a job, and the rule by which one of them is chosen. Pure.

A place where the job fits now goes before one where it would wait, and one that cannot tell comes
last. Machines that can be rented count as room: they are there in minutes. Among those the cheaper
one is chosen, then one that need not be rented first, then the one with fewer jobs ahead, then the
one that was named first. Whoever prefers an order gets the first place named where the job fits
now, and otherwise the first that would take it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from trainway.counting import counted


class Fit(StrEnum):
    """Whether a job could run in a place."""

    NOW = "now"
    """There is room for all of it."""
    RENT = "rent"
    """Machines for all of it can be rented, which takes minutes."""
    LATER = "later"
    """It would wait."""
    UNKNOWN = "unknown"
    """The place would take it, but nobody knows when: it does not tell how much room it has, or
    none of its nodes takes jobs now."""
    NEVER = "never"
    """The place would refuse it, or cannot be reached."""


class Prefer(StrEnum):
    """What counts between places of the same fit."""

    COST = "cost"
    ORDER = "order"


_RANK: Final = {Fit.NOW: 0, Fit.RENT: 0, Fit.LATER: 1, Fit.UNKNOWN: 2, Fit.NEVER: 3}


@dataclass(frozen=True)
class Offer:
    """What one place says to a job."""

    place: str
    fit: Fit
    reason: str
    """Why it fits or does not, as a sentence."""
    order: int = 0
    """Its position among the places that were named."""
    price: float | None = None
    """What an hour of one node costs there; None: nobody said, and it counts as nothing."""
    ahead: int = 0
    """How many jobs wait there already."""


def ranked(offers: Iterable[Offer], prefer: Prefer) -> list[Offer]:
    """The best first."""
    return sorted(offers, key=_by_cost if prefer is Prefer.COST else _by_order)


def chosen(offers: Iterable[Offer], prefer: Prefer) -> Offer | None:
    """Where the job goes; None: no place takes it."""
    taking = [offer for offer in ranked(offers, prefer) if offer.fit is not Fit.NEVER]
    return taking[0] if taking else None


def waiting(ahead: int) -> str:
    """What a job is told that would not start at once, though there is room for it."""
    return f"{counted(ahead, 'job')} {'waits' if ahead == 1 else 'wait'} there before it"


def _by_cost(offer: Offer) -> tuple[int, float, bool, int, int]:
    is_awaited = offer.fit is Fit.RENT
    return _RANK[offer.fit], offer.price or 0.0, is_awaited, offer.ahead, offer.order


def _by_order(offer: Offer) -> tuple[int, int]:
    return _RANK[offer.fit], offer.order
