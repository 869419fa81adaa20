"""What is known of spot machines that are taken, and how long others are tried first."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import pytest

from trainway.engine.rental.interruption import avoided, interruption
from trainway.engine.rental.record import Rental, RentalState, RentedMachine
from trainway.engine.rental.watch import ChangeKind, Found, seen, warned
from trainway.engine.times import time_text
from trainway.jobset.status import moment
from trainway.optimizer.request import Block
from trainway.providers.base import Machine, MachineState, Notice, Place

NOW = datetime(2026, 11, 18, 12, tzinfo=UTC)
SPOT = Rental(
    cluster="dev",
    token="t0",  # noqa: S106 - a name
    state=RentalState.RUNNING,
    cloud="aws",
    region="east",
    zone="east-a",
    instance_type="p5",
    spot=True,
    machines=(RentedMachine("i-0", 0, state=MachineState.RUNNING),),
)
OFFER = Block("aws", "east", "east-a", "p5", spot=True)


def taken(minutes_ago: float, name: str = "t0", zone: str = "east-a") -> Rental:
    """A rental whose machine was taken so long ago."""
    at = time_text(NOW - timedelta(minutes=minutes_ago))
    machine = replace(SPOT.machines[0], taken=at)
    return replace(SPOT, token=name, zone=zone, machines=(machine,))


@dataclass(frozen=True)
class Case:
    name: str
    rentals: tuple[Rental, ...]
    blocks: tuple[Block, ...]


@pytest.mark.parametrize(
    "case",
    [
        Case("nothing was taken", (SPOT,), ()),
        Case("it is about to be taken", (taken(-2),), (OFFER,)),
        Case("it was taken just now", (taken(0.5),), (OFFER,)),
        Case("a minute and a half is the most after the first", (taken(1.6),), ()),
        Case("the second time it is longer", (taken(1.6), taken(1.7, "t1")), (OFFER,)),
        Case("three times, four minutes at least",
             (taken(3.9), taken(4, "t1"), taken(5, "t2")), (OFFER,)),
        Case("another zone counts apart", (taken(1.6), taken(1.7, "t1", "east-b")), ()),
        Case("after a good hour it begins anew", (taken(1.6), taken(70, "t1")), ()),
    ],
    ids=lambda case: case.name,
)  # fmt: skip
def test_an_offer_that_was_taken_is_avoided_for_a_time_that_grows(case: Case) -> None:
    assert tuple(avoided(case.rentals, NOW)) == case.blocks


def machine(state: MachineState = MachineState.RUNNING) -> Machine:
    """The machine as its cloud shows it."""
    return Machine("i-0", "t0", "dev", 0, Place("east", "east-a"), state)


def test_a_notice_is_told_once_and_stays_with_the_machine() -> None:
    at = "2026-11-18T12:02:00Z"
    first = seen(SPOT, Found([machine()], [Notice("i-0", at, "no room")]), time_text(NOW))
    assert [change.kind for change in first.changes] == [ChangeKind.NOTICE]
    found = interruption(first.rental)
    assert found is not None
    assert (found.until, found.words) == (
        at,
        f"aws takes back i-0 at {at} (p5 (spot) on aws/east/east-a): no room",
    )
    again = seen(first.rental, Found([machine()], [Notice("i-0", at, "no room")]), time_text(NOW))
    assert not again.changes
    assert interruption(again.rental) == found


def test_a_notice_without_a_time_leaves_half_a_minute() -> None:
    found = interruption(seen(SPOT, Found([machine()], [Notice("i-0", "")]), time_text(NOW)).rental)
    assert found is not None
    assert found.until == time_text(NOW + timedelta(seconds=30))


@pytest.mark.parametrize("spot", [True, False])
def test_a_spot_machine_that_is_gone_was_taken(spot: bool) -> None:
    after = seen(replace(SPOT, spot=spot), Found([], []), time_text(NOW))
    assert [change.kind for change in after.changes] == [ChangeKind.ENDED]
    assert (interruption(after.rental) is not None) is spot


@dataclass(frozen=True)
class Said:
    """What a machine says at noon, and when it counts as taken; empty: not at all."""

    name: str
    at: str
    taken: str
    rental: Rental = SPOT
    machine: str = "i-0"


@pytest.mark.parametrize(
    "case",
    [
        Said("in two minutes", "2026-11-18T12:02:00Z", "2026-11-18T12:02:00Z"),
        Said("soon", "", "2026-11-18T12:00:30Z"),
        Said("long ago", "1970-01-01T00:00:00Z", "2026-11-18T12:00:00Z"),
        Said("in the far future", "2099-01-01T00:00:00Z", "2026-11-18T13:00:00Z"),
        Said("no time", "tomorrow", "2026-11-18T12:00:30Z"),
        Said("another machine", "", "", machine="i-1"),
        Said("not spot", "", "", replace(SPOT, spot=False)),
        Said("stopped", "", "", replace(SPOT, state=RentalState.STOPPED)),
    ],
    ids=lambda case: case.name,
)
def test_a_machine_that_says_itself_that_it_is_taken_may_say_anything(case: Said) -> None:
    notices = [Notice(case.machine, case.at, "preempted")]
    after = warned(case.rental, notices, time_text(NOW))
    found = interruption(after.rental)
    assert [change.kind for change in after.changes] == ([ChangeKind.NOTICE] if case.taken else [])
    assert ("" if found is None else moment(found.until)) == (case.taken and moment(case.taken))
    again = warned(after.rental, [Notice(case.machine, "", "once more")], time_text(NOW))
    assert again.rental == after.rental
    assert not again.changes


def test_a_spot_machine_that_somebody_has_ended_was_not_taken() -> None:
    two = replace(SPOT, machines=(SPOT.machines[0], replace(SPOT.machines[0], id="i-1", rank=1)))
    found = Found([machine()], others={"i-1": "User initiated shutdown"})
    first = seen(two, found, time_text(NOW))
    assert [(each.kind, each.why) for each in first.changes] == [
        (ChangeKind.GONE, "User initiated shutdown")
    ]
    assert interruption(first.rental) is None
    again = seen(first.rental, Found([machine()]), time_text(NOW))
    assert not again.changes
    assert interruption(again.rental) is None, "what is known already is not asked again"
