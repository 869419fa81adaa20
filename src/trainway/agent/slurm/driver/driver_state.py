"""The states of a driver, and which one may follow which.

Not among them are what the user wants and what Slurm is to be asked for at the end: that the job is
cancelled, or that it is to be requeued, may become known in several states and changes none.
"""

from __future__ import annotations

from enum import Enum

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


class DriverState(Enum):
    """What a driver does with its attempt."""

    RUNNING = "Running"
    """Steps run, or are about to."""
    HELD = "Held"
    """The job is suspended and no step runs: Slurm is to end this process, and to hold the job."""
    LEAVING = "Leaving"
    """All pods are stopped and none is started: the next attempt goes on with the job."""
    LEFT = "Left"
    """No pod runs any more: Slurm is to end this process."""
    COMPLETING = "Completing"
    """The end of the job is written, and its last step is about to end."""
    DELIVERING = "Delivering"
    """No step runs any more; where the nodes share no files, the relay takes what the job left."""
    EXITING = "Exiting"
    """All is done, and this process ends."""
    STALE = "Stale"
    """A newer attempt counts: everything here is killed, and nothing more is written."""


_S = DriverState

TRANSITIONS: Mapping[DriverState, frozenset[DriverState]] = {
    _S.RUNNING: frozenset({_S.HELD, _S.LEAVING, _S.COMPLETING, _S.STALE}),
    # Nothing has to be stopped any more where Slurm takes the allocation of a suspended job away.
    _S.HELD: frozenset({_S.LEFT, _S.STALE}),
    _S.LEAVING: frozenset({_S.LEFT, _S.STALE}),
    _S.LEFT: frozenset({_S.STALE}),
    _S.COMPLETING: frozenset({_S.DELIVERING, _S.STALE}),
    _S.DELIVERING: frozenset({_S.EXITING, _S.STALE}),
    _S.EXITING: frozenset({_S.STALE}),
    _S.STALE: frozenset(),
}
