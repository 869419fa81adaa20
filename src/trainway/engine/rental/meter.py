"""When rented machines cost something: from when they were launched until they stopped or ended.

Their cloud says it, if it can; otherwise it is when this server saw it. Pure.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC
from typing import Final

from trainway.engine.rental.record import RentedMachine
from trainway.engine.times import time_text
from trainway.jobset.status import moment
from trainway.providers.base import MachineState

ON: Final = frozenset({MachineState.STARTING, MachineState.RUNNING})


def metered(
    known: Sequence[RentedMachine],
    found: Sequence[RentedMachine],
    ends: Mapping[str, str],
    now: str,
) -> tuple[RentedMachine, ...]:
    """Machines as they are found, with the times that are known of them.

    Those that are not found any more have ended.
    """
    before = {each.id: each for each in known}
    there = {each.id for each in found}
    gone = [replace(each, state=MachineState.ENDED) for each in known if each.id not in there]
    told = {name: _text(at) for name, at in ends.items()}
    machines = [_timed(before.get(each.id), each, told, now) for each in (*found, *gone)]
    return tuple(sorted(machines, key=lambda each: (each.rank, each.id)))


def _timed(
    known: RentedMachine | None, found: RentedMachine, ends: Mapping[str, str], now: str
) -> RentedMachine:
    said = _text(found.launched) if found.launched else ""
    launched = _text(known.launched) if known and known.launched else said or now
    ended, before = (known.ended, known.before) if known else ("", ())
    taken, why = (known.taken, known.why) if known else ("", "")
    if found.state not in ON:
        # A clock that differs makes no time negative.
        ended = ended or max(ends.get(found.id) or now, launched)
    elif ended:  # it has started again
        before = (*before, (launched, ended))
        launched, ended = (said if said > ended else now), ""
        taken = why = ""  # whatever was said before that, it was not taken
    return replace(found, launched=launched, ended=ended, before=before, taken=taken, why=why)


def _text(time: str) -> str:
    """A time of a cloud as all of ours are, whose order is that of their texts."""
    at = moment(time)
    return time_text(at if at.tzinfo else at.replace(tzinfo=UTC))
