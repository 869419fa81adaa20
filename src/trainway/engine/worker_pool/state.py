"""Where a worker is in its life, and what may follow what. Pure."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final


class WorkerState(StrEnum):
    """What a worker does."""

    STARTING = "STARTING"
    """It waits for its nodes."""
    SETTING_UP = "SETTING_UP"
    """The setup of the pool runs on it."""
    READY = "READY"
    """It takes jobs."""
    FAILED = "FAILED"
    """It could not be made; it holds nothing, and is kept to say why."""
    SHUTTING_DOWN = "SHUTTING_DOWN"
    """Its jobs leave it, and it gives back what it holds."""


TRANSITIONS: Final[Mapping[WorkerState, frozenset[WorkerState]]] = {
    WorkerState.STARTING: frozenset(
        {WorkerState.SETTING_UP, WorkerState.FAILED, WorkerState.SHUTTING_DOWN}
    ),
    WorkerState.SETTING_UP: frozenset(
        {WorkerState.READY, WorkerState.FAILED, WorkerState.SHUTTING_DOWN}
    ),
    WorkerState.READY: frozenset({WorkerState.SHUTTING_DOWN}),
    WorkerState.FAILED: frozenset({WorkerState.SHUTTING_DOWN}),
    WorkerState.SHUTTING_DOWN: frozenset(),
}
"""A worker that has shut down is forgotten."""

IN_THE_MAKING: Final = frozenset({WorkerState.STARTING, WorkerState.SETTING_UP})


def check_transition(before: WorkerState, after: WorkerState) -> None:
    """A ValueError for a step that the table does not have."""
    if after not in TRANSITIONS[before]:
        raise ValueError(f"a worker cannot come to {after} from {before}")


class PoolState(StrEnum):
    """How a worker pool stands, by its workers."""

    STARTING = "STARTING"
    READY = "READY"
    FAILED = "FAILED"
    """No worker could be made, and none will be until somebody applies the pool again."""
    NO_WORKERS = "NO_WORKERS"
    """It has none, and makes some when a job comes."""
    SHUTTING_DOWN = "SHUTTING_DOWN"
