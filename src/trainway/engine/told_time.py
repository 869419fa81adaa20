"""Times of a job that another machine tells, as far as the server believes them. Pure.

By them a job's time limit, its usage and its cleaning up are counted, and a clock may be years off.
The server's own clock says what they can be: a moment that is first told of now was after the
server last knew better. One that cannot be right is the one at which the server learned of it.
"""

from datetime import timedelta
from typing import Final

from trainway.jobset.status import moment

_MAY_DIFFER: Final = timedelta(minutes=1)
"""Clocks of machines differ a little: what they tell stays as it is."""


def believed(told: str, since: str, learned: str) -> str:
    """A time that was told first between two of the server's; any, if those are not known."""
    if not (told and since and learned):
        return told
    time = moment(told)
    is_early = time < moment(since) - _MAY_DIFFER
    return learned if is_early or time > moment(learned) + _MAY_DIFFER else told
