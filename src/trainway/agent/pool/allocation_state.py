"""The states of a cluster's allocation, and which one may follow which.

The names are SkyPilot's, and users see them. That an allocation is being released is a fact beside
its state, as `deletionTimestamp` stands beside the phase of a pod: it may be released in any state,
and where that fails it is what it was. Whether it has nodes follows from the state.
"""

from __future__ import annotations

from enum import Enum

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


class AllocationState(Enum):
    """What a cluster has of its nodes."""

    INIT = "INIT"
    """The cluster waits for its nodes."""
    UP = "UP"
    """The cluster has its nodes."""
    AUTOSTOPPING = "AUTOSTOPPING"
    """The cluster has its nodes, but nobody has used them for long, and they are being released."""
    STOPPED = "STOPPED"
    """The cluster has no nodes and wants none."""


_S = AllocationState

TRANSITIONS: Mapping[AllocationState, frozenset[AllocationState]] = {
    _S.INIT: frozenset({_S.UP, _S.STOPPED}),
    # A host may give a place to somebody else while nothing of the cluster runs there.
    _S.UP: frozenset({_S.INIT, _S.AUTOSTOPPING, _S.STOPPED}),
    # It is up again where its nodes cannot be released, or the agent that wanted to is gone.
    _S.AUTOSTOPPING: frozenset({_S.UP, _S.STOPPED}),
    _S.STOPPED: frozenset({_S.INIT, _S.UP}),
}
