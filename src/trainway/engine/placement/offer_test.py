"""The rule by which a place is chosen."""

from dataclasses import dataclass

import pytest

from trainway.engine.placement.offer import Fit, Offer, Prefer, chosen, ranked, waiting


def _offers(*found: tuple[str, Fit, float | None, int]) -> list[Offer]:
    return [
        Offer(place, fit, "", order, price, ahead)
        for order, (place, fit, price, ahead) in enumerate(found)
    ]


@dataclass(frozen=True)
class Case:
    what: str
    offers: list[Offer]
    prefer: Prefer
    best: str | None


CASES = [
    Case(
        "room now counts more than a low price",
        _offers(("cheap", Fit.LATER, 0.1, 0), ("dear", Fit.NOW, 9.0, 0)),
        Prefer.COST,
        "dear",
    ),
    Case(
        "the cheaper of two with room",
        _offers(("dear", Fit.NOW, 2.0, 0), ("cheap", Fit.NOW, 1.0, 5)),
        Prefer.COST,
        "cheap",
    ),
    Case(
        "a place without a price costs nothing",
        _offers(("priced", Fit.NOW, 0.5, 0), ("own", Fit.NOW, None, 0)),
        Prefer.COST,
        "own",
    ),
    Case(
        "machines that can be rented are room",
        _offers(("own", Fit.LATER, None, 1), ("cloud", Fit.RENT, 9.0, 0)),
        Prefer.COST,
        "cloud",
    ),
    Case(
        "own machines with room, at a price, against cheaper ones that are rented",
        _offers(("own", Fit.NOW, 2.0, 0), ("cloud", Fit.RENT, 1.0, 0)),
        Prefer.COST,
        "cloud",
    ),
    Case(
        "at the same price what is there at once",
        _offers(("cloud", Fit.RENT, 1.0, 0), ("own", Fit.NOW, 1.0, 3)),
        Prefer.COST,
        "own",
    ),
    Case(
        "by order a cloud that was named first",
        _offers(("cloud", Fit.RENT, 9.0, 0), ("own", Fit.NOW, 0.0, 0)),
        Prefer.ORDER,
        "cloud",
    ),
    Case(
        "the shorter wait at the same price",
        _offers(("long", Fit.LATER, 1.0, 9), ("short", Fit.LATER, 1.0, 2)),
        Prefer.COST,
        "short",
    ),
    Case(
        "the order if all else is equal",
        _offers(("first", Fit.NOW, 1.0, 0), ("second", Fit.NOW, 1.0, 0)),
        Prefer.COST,
        "first",
    ),
    Case(
        "by order the first with room",
        _offers(("a", Fit.LATER, 0.0, 0), ("b", Fit.NOW, 9.0, 0), ("c", Fit.NOW, 0.0, 0)),
        Prefer.ORDER,
        "b",
    ),
    Case(
        "by order the first that takes it",
        _offers(("a", Fit.NEVER, 0.0, 0), ("b", Fit.LATER, 9.0, 9), ("c", Fit.LATER, 0.0, 0)),
        Prefer.ORDER,
        "b",
    ),
    Case(
        "one that cannot tell comes last",
        _offers(("mute", Fit.UNKNOWN, 0.0, 0), ("busy", Fit.LATER, 5.0, 9)),
        Prefer.COST,
        "busy",
    ),
    Case("none takes it", _offers(("a", Fit.NEVER, 0.0, 0)), Prefer.COST, None),
    Case("none is there", [], Prefer.ORDER, None),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.what)
def test_a_place_is_chosen_by_the_rule(case: Case) -> None:
    best = chosen(case.offers, case.prefer)
    assert (best.place if best else None) == case.best


def test_all_places_are_listed_also_those_that_refuse() -> None:
    found = _offers(("a", Fit.NEVER, 0.0, 0), ("b", Fit.NOW, 1.0, 0))
    assert [offer.place for offer in ranked(found, Prefer.COST)] == ["b", "a"]


def test_those_ahead_are_counted_in_words() -> None:
    assert waiting(1) == "1 job waits there before it"
    assert waiting(3) == "3 jobs wait there before it"
