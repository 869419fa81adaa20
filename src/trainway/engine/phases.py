"""The phases of a job, and from which one it may come to which: the state machine, as a table.

The names are those of `state-vocabulary`, the first of each row. Whatever asks whether a job is
over, runs or waits asks here.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final


class Phase(StrEnum):
    """Where a job is in its life."""

    PENDING = "Pending"
    """The job is stored and was not looked at yet."""
    QUEUED = "Queued"
    """The job waits until all of it fits."""
    INADMISSIBLE = "Inadmissible"
    """The job could not fit even if nothing else ran; it waits for a larger machine."""
    STARTING = "Starting"
    RUNNING = "Running"
    RESTARTING = "Restarting"
    """The job is between two attempts."""
    PAUSED = "Paused"
    STOPPING = "Stopping"
    """Someone wants the job to end; processes may still run."""
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"
    CANCELLED = "Cancelled"


_P = Phase
TERMINAL: Final = frozenset({_P.SUCCEEDED, _P.FAILED, _P.CANCELLED})
UNFINISHED: Final = tuple(sorted(set(_P) - TERMINAL))
WAITING: Final = frozenset({_P.PENDING, _P.QUEUED, _P.INADMISSIBLE})
"""Nothing of it runs, but it wants to."""
LIVE: Final = frozenset({_P.STARTING, _P.RUNNING, _P.RESTARTING, _P.STOPPING})
"""It holds resources and has an agent, or will have one in a moment."""
ACTIVE: Final = WAITING | LIVE
"""Something will happen without anyone asking; a server with such jobs stays."""

_UNDER_WAY: Final = {_P.STARTING, _P.RUNNING, _P.RESTARTING, _P.PAUSED, _P.STOPPING}

_IN_QUEUE: Final = {_P.QUEUED, _P.INADMISSIBLE}
"""A backend with a queue of its own may have taken it back."""

TRANSITIONS: Final[Mapping[Phase, frozenset[Phase]]] = {
    _P.PENDING: frozenset({_P.QUEUED, _P.INADMISSIBLE, _P.STARTING, _P.PAUSED, *TERMINAL}),
    # A job may also wait with a backend that has a queue of its own.
    _P.QUEUED: frozenset({*_UNDER_WAY, _P.INADMISSIBLE, *TERMINAL}),
    _P.INADMISSIBLE: frozenset({*_UNDER_WAY, _P.QUEUED, *TERMINAL}),
    _P.STARTING: frozenset({*_UNDER_WAY, *_IN_QUEUE, *TERMINAL} - {_P.STARTING}),
    _P.RUNNING: frozenset({*_UNDER_WAY, *_IN_QUEUE, *TERMINAL} - {_P.RUNNING}),
    _P.RESTARTING: frozenset({*_UNDER_WAY, *_IN_QUEUE, *TERMINAL} - {_P.RESTARTING}),
    # A job that is resumed waits for its resources again.
    _P.PAUSED: frozenset({*_UNDER_WAY, _P.QUEUED, _P.INADMISSIBLE, *TERMINAL} - {_P.PAUSED}),
    _P.STOPPING: TERMINAL,
    _P.SUCCEEDED: frozenset(),
    _P.FAILED: frozenset(),
    _P.CANCELLED: frozenset(),
}


def may_become(now: Phase, then: Phase) -> bool:
    """Whether the table allows it; a phase may always stay."""
    return now == then or then in TRANSITIONS[now]
