"""What has become of rented machines without us: what is taken back, gone, or has stopped itself.

Pure: a rental and what its cloud shows of it give what has changed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from trainway.engine.rental.record import Rental, RentalState, RentedMachine, rented
from trainway.engine.times import time_text
from trainway.providers.base import COSTS_NOTHING, Machine, MachineState, Notice

_LEAST_WARNING: Final = timedelta(seconds=30)
"""What is left after a notice that does not say when: no cloud gives less."""


class ChangeKind(StrEnum):
    """What has happened."""

    NOTICE = "notice"
    """A cloud is about to take machines back; they still run."""
    GONE = "gone"
    """Machines are gone, and others of the rental are still there."""
    STOPPED = "stopped"
    """All machines have stopped, as when their host stopped itself."""
    ENDED = "ended"
    """All machines are gone; the rental ends."""


@dataclass(frozen=True)
class RentalChange:
    """Something that happened to a rental, for those who subscribe."""

    kind: ChangeKind
    rental: Rental
    machines: Sequence[str]
    """The ids of those it is about."""
    at: str = ""
    """When it happens, where the cloud says so, as an ISO 8601 time in UTC."""
    why: str = ""


@dataclass(frozen=True)
class Seen:
    """What a look at a rental came to."""

    rental: Rental
    """As it is now; in another state, where its machines have changed theirs by themselves."""
    changes: Sequence[RentalChange] = ()


def seen(
    rental: Rental, machines: Sequence[Machine], notices: Sequence[Notice], at: datetime
) -> Seen:
    """What has become of a rental that was to run, at that time."""
    there = {each.id: each for each in machines if each.state not in COSTS_NOTHING}
    found = tuple(_as_seen(each, there.get(each.id)) for each in rental.machines)
    now = tuple(_taken(rental, each, {it.machine: it for it in notices}, at) for each in found)
    was = {each.id: each.state for each in rental.machines}
    gone = [each.id for each in now if _is_gone(each) and was[each.id] != each.state]
    alive = [each for each in now if not _is_gone(each)]
    after = replace(rental, machines=now)
    if not alive:
        after = after.followed_by(RentalState.ENDING, message="all machines are gone")
        return Seen(after, [RentalChange(ChangeKind.ENDED, after, [each.id for each in now])])
    if all(each.state == MachineState.STOPPED for each in alive):
        after = after.followed_by(RentalState.STOPPED)
        stopped = [each.id for each in alive]
        why = next((there[name].why for name in stopped if there[name].why), "")
        return Seen(after, [RentalChange(ChangeKind.STOPPED, after, stopped, why=why)])
    known = {each.id for each in rental.machines if each.taken}
    changes = [
        RentalChange(ChangeKind.NOTICE, after, [each.id], each.taken, each.why)
        for each in alive
        if each.taken and each.id not in known
    ]
    if gone:
        changes.append(RentalChange(ChangeKind.GONE, after, gone))
    return Seen(after, changes)


def _as_seen(known: RentedMachine, found: Machine | None) -> RentedMachine:
    if found is None:
        return replace(known, state=MachineState.ENDED)
    return replace(rented([found])[0], taken=known.taken, why=known.why)


def _taken(
    rental: Rental, machine: RentedMachine, notices: Mapping[str, Notice], at: datetime
) -> RentedMachine:
    """With when its cloud takes it: as it says, or just now, if a spot machine is simply gone."""
    if machine.taken:
        return machine
    if _is_gone(machine):
        return replace(machine, taken=time_text(at)) if rental.spot else machine
    notice = notices.get(machine.id)
    if notice is None:
        return machine
    return replace(machine, taken=notice.at or time_text(at + _LEAST_WARNING), why=notice.why)


def _is_gone(machine: RentedMachine) -> bool:
    return machine.state in COSTS_NOTHING
