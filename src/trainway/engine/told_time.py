"""Times of a job that another machine tells, as far as the server believes them. Pure.

By them a job's time limit, its usage and its cleaning up are counted, and a clock may be years off.
The server's own clock says what they can be: what is first told of now was written after all that
was told before, and a pod ran after its job was given to its backend. A time that cannot be right
is the one at which the server learned of it.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from trainway.jobset.status import find_condition, moment
from trainway.json_types import Json

_MAY_DIFFER: Final = timedelta(minutes=1)
"""Clocks of machines differ a little: what they tell stays as it is."""


def believed(told: str, since: str, learned: str) -> str:
    """A time that was told first between two of the server's; any, if those are not known."""
    if not (told and since and learned):
        return told
    time = moment(told)
    is_early = time < moment(since) - _MAY_DIFFER
    return learned if is_early or time > moment(learned) + _MAY_DIFFER else told


def known_until(last: str, since: str, learned: str) -> str:
    """Up to when a journal is known of which that is the last time read.

    That is not the time of reading: of a journal of hours the next part may be read only then.
    """
    time = believed(last, since, learned)
    return min(time, learned, key=moment) if time and learned else since


def dated(conditions: Sequence[Json], known: Sequence[Json], since: str, noted: str) -> list[Json]:
    """The conditions of a job, suspended or resumed at a time that is believed."""
    told = find_condition(conditions, "Suspended")
    if told is None or not told.get("lastTransitionTime"):
        return list(conditions)
    before = find_condition(known, "Suspended") or {}
    time = believed(told["lastTransitionTime"], since, noted)
    if time != told["lastTransitionTime"] and before.get("status") == told["status"]:
        time = before.get("lastTransitionTime") or time  # it was told before, and stays
    new = {**told, "lastTransitionTime": time}
    return [new if each is told else each for each in conditions]
