"""The states of a supervisor, and which one may follow which.

Whether the job succeeded, failed or is suspended is the JobSet's own business (`jobset.py`), and so
is none of these: a job that is suspended has a supervisor that runs. That a look at the controllers
is due in the next turn is no state either.
"""

from __future__ import annotations

from enum import Enum

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


class SupervisorState(Enum):
    """What a supervisor does with its job."""

    RUNNING = "Running"
    """The controllers look at the job, and pods come and go."""
    LEAVING = "Leaving"
    """All pods are stopped, and none is started: the next agent goes on with the job."""
    LEFT = "Left"
    """No pod runs any more, and what the pods left on the machine is cleared away."""
    ENDING = "Ending"
    """The job is over and no pod runs: the machine is cleared, and then the end is written."""
    ENDED = "Ended"
    """The last record is written."""


_S = SupervisorState

TRANSITIONS: Mapping[SupervisorState, frozenset[SupervisorState]] = {
    _S.RUNNING: frozenset({_S.LEAVING, _S.ENDING}),
    # An error of our own ends also a job that was to be left.
    _S.LEAVING: frozenset({_S.LEFT, _S.ENDING}),
    _S.LEFT: frozenset({_S.ENDING}),
    _S.ENDING: frozenset({_S.ENDED}),
    _S.ENDED: frozenset(),
}
