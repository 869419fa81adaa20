"""What has become of rented machines without us: what is taken back, gone, or has stopped itself.

Pure: a rental and what its cloud shows of it give what has changed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from trainway.engine.rental.meter import ON, metered
from trainway.engine.rental.record import Rental, RentalState, RentedMachine, rented
from trainway.engine.times import time_text
from trainway.jobset.status import moment
from trainway.providers.base import COSTS_NOTHING, Machine, MachineState, Notice

_LEAST_WARNING: Final = timedelta(seconds=30)
"""What is left after a notice that does not say when: no cloud gives less."""

_LONGEST_WARNING: Final = timedelta(hours=1)
"""How long ahead a machine may say that it is taken; clouds say it minutes before."""


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

    @property
    def words(self) -> str:
        """What a cloud does, or has done, to machines: `takes back i-1 at 12:02`."""
        gone = "has ended" if self.why else "has taken back"
        verb = "takes back" if self.kind is ChangeKind.NOTICE else gone
        when, why = f" at {self.at}" if self.at else "", f": {self.why}" if self.why else ""
        return f"{verb} {', '.join(self.machines)}{when}{why}"


@dataclass(frozen=True)
class Seen:
    """What a look at a rental came to."""

    rental: Rental
    """As it is now; in another state, where its machines have changed theirs by themselves."""
    changes: Sequence[RentalChange] = ()


def not_on(rental: Rental, machines: Sequence[Machine]) -> list[str]:
    """Machines that cost something, as far as was known, and do not any more."""
    on = {each.id for each in machines if each.state in ON}
    return [each.id for each in rental.machines if not each.ended and each.id not in on]


@dataclass(frozen=True)
class Found:
    """What a cloud shows."""

    machines: Sequence[Machine]
    notices: Sequence[Notice] = ()
    ends: Mapping[str, str] = field(default_factory=dict)
    """When machines have stopped or ended, where the cloud says so."""
    others: Mapping[str, str] = field(default_factory=dict)
    """Machines that are gone and that the cloud has not taken, and what it says of each."""


def seen(rental: Rental, found: Found, at: str) -> Seen:
    """What has become of a rental that was to run, at that time."""
    ours = {each.id for each in rental.machines}
    alive_there = [each for each in found.machines if each.state not in COSTS_NOTHING]
    there = {each.id: each for each in alive_there if each.id in ours}
    notices = {each.machine: each for each in found.notices}
    met = metered(rental.machines, rented(list(there.values())), found.ends, at)
    was = {each.id: each.state for each in rental.machines}
    kept = {name for name in was if name in found.others or was[name] in COSTS_NOTHING}
    now = tuple(each if each.id in kept else _taken(rental, each, notices, at) for each in met)
    gone = [each.id for each in now if _is_gone(each) and was[each.id] != each.state]
    alive = [each for each in now if not _is_gone(each)]
    after = replace(rental, machines=now)
    if not alive:
        after = after.followed_by(RentalState.ENDING, message="all machines are gone")
        names = [each.id for each in now]
        return Seen(after, [RentalChange(ChangeKind.ENDED, after, names, why=_why(found, names))])
    if all(each.state == MachineState.STOPPED for each in alive):
        after = after.followed_by(RentalState.STOPPED)
        stopped = [each.id for each in alive]
        why = next((there[name].why for name in stopped if there[name].why), "")
        return Seen(after, [RentalChange(ChangeKind.STOPPED, after, stopped, why=why)])
    changes = _notices(rental, after)
    if gone:
        changes.append(RentalChange(ChangeKind.GONE, after, gone, why=_why(found, gone)))
    return Seen(after, changes)


def warned(rental: Rental, notices: Sequence[Notice], at: str) -> Seen:
    """A rental whose machines say themselves that they are taken; they may say anything.

    What is known already stays. Who is not spot is not taken, and nobody is after so long.
    """
    soonest, latest = moment(at), moment(at) + _LONGEST_WARNING
    told = {}
    for each in notices:
        when = min(max(_moment(each.at) or soonest + _LEAST_WARNING, soonest), latest)
        told[each.machine] = replace(each, at=time_text(when))
    if not rental.spot or rental.state is not RentalState.RUNNING:
        return Seen(rental)
    after = replace(
        rental, machines=tuple(_taken(rental, each, told, at) for each in rental.machines)
    )
    return Seen(after, _notices(rental, after))


def _moment(text: str) -> datetime | None:
    try:
        return moment(text) if text else None
    except ValueError:
        return None


def _notices(before: Rental, after: Rental) -> list[RentalChange]:
    known = {each.id for each in before.machines if each.taken}
    return [
        RentalChange(ChangeKind.NOTICE, after, [each.id], each.taken, each.why)
        for each in after.machines
        if each.taken and each.id not in known and not _is_gone(each)
    ]


def _taken(
    rental: Rental, machine: RentedMachine, notices: Mapping[str, Notice], at: str
) -> RentedMachine:
    """With when its cloud takes it: as it says, or just now, if a spot machine is simply gone."""
    if machine.taken:
        return machine
    if _is_gone(machine):
        return replace(machine, taken=at) if rental.spot else machine
    notice = notices.get(machine.id)
    if notice is None:
        return machine
    return replace(
        machine, taken=notice.at or time_text(moment(at) + _LEAST_WARNING), why=notice.why
    )


def _why(found: Found, machines: Sequence[str]) -> str:
    """What their cloud says of who ended machines."""
    said = [found.others[name] for name in machines if name in found.others]
    return "; ".join(dict.fromkeys(said))


def _is_gone(machine: RentedMachine) -> bool:
    return machine.state in COSTS_NOTHING
