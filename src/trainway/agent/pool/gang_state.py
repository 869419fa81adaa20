"""The states of a job in a pool, and which one may follow which.

They say where its pods may be. Whether the job itself is suspended or finished is known to its
JobSet, and independent of them: a suspended job has its place until its last pod has ended.
"""

from __future__ import annotations

from enum import Enum

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


class GangState(Enum):
    """Where a job is in its life."""

    NEW = "New"
    """It has no place and never had one, and its controllers have not begun."""
    PENDING = "Pending"
    """It has no place, but its controllers have begun: it is to run again, or to end."""
    PLACED = "Placed"
    """It has a place, which its pods may use."""
    LEAVING = "Leaving"
    """Its place counts no more, but pods may still run there; none is started."""
    ENDED = "Ended"
    """The last record is on the disk."""


_S = GangState

WITHOUT_PLACE = frozenset({_S.NEW, _S.PENDING})
WITH_PLACE = frozenset({_S.PLACED, _S.LEAVING})

TRANSITIONS: Mapping[GangState, frozenset[GangState]] = {
    # It becomes Pending without a place where it is suspended, cancelled or refused.
    _S.NEW: frozenset({_S.PENDING, _S.PLACED, _S.ENDED}),
    _S.PENDING: frozenset({_S.PLACED, _S.ENDED}),
    # A suspended job gives its place back; one that lost a host has to leave it first.
    _S.PLACED: frozenset({_S.PENDING, _S.LEAVING, _S.ENDED}),
    _S.LEAVING: frozenset({_S.PENDING, _S.ENDED}),
    _S.ENDED: frozenset(),
}
