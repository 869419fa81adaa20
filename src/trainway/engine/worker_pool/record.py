"""A worker pool and its workers, as the store holds them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from trainway.engine.worker_pool.size import Size
from trainway.engine.worker_pool.state import (
    IN_THE_MAKING,
    PoolState,
    WorkerState,
    check_transition,
)
from trainway.families.builtin import WORKERS
from trainway.json_types import Json

MOST_FAILURES: Final = 3
"""After so many workers in a row that could not be made, no more are tried."""


@dataclass(frozen=True, kw_only=True)
class WorkerPoolRecord:
    """One row of `worker_pools`, but for what sets a worker up."""

    name: str
    id: str
    infra: str
    agent: str
    """The pool agent that keeps its workers."""
    nodes: int
    """The nodes of each worker."""
    resources: str
    """What each node has, as a task writes it."""
    options: str = "{}"
    """The options of sbatch, for workers on Slurm."""
    size: str
    version: int = 1
    """It grows when workers are to be other ones than before."""
    digest: str = ""
    """What tells that a worker would be another one."""
    last_number: int = 0
    failures: int = 0
    """How many workers in a row could not be made."""
    is_going: bool = False
    """Whether it is being taken down."""
    created: str = ""

    @property
    def backend(self) -> str:
        """The backend of its jobs."""
        return f"{WORKERS}/{self.name}"

    @property
    def limits(self) -> Size:
        """Between which limits its number of workers changes."""
        return Size(**json.loads(self.size))

    @property
    def resource_data(self) -> Json:
        """What each node of a worker has, and where."""
        data: Json = json.loads(self.resources)
        return data

    @property
    def option_data(self) -> Json:
        """The options of sbatch."""
        data: Json = json.loads(self.options)
        return data

    @property
    def has_given_up(self) -> bool:
        """Whether no more workers are made, since several in a row could not be."""
        return self.failures >= MOST_FAILURES

    def changed(self, **columns: Any) -> "WorkerPoolRecord":
        """With other values."""
        return replace(self, **columns)


@dataclass(frozen=True, kw_only=True)
class WorkerRecord:
    """One row of `workers`."""

    id: str
    pool: str
    number: int
    name: str
    """The name of the cluster that it is."""
    version: int
    state: str = WorkerState.STARTING
    message: str = ""
    setup_job: str = ""
    created: str = ""

    def followed_by(self, state: WorkerState, message: str = "") -> "WorkerRecord":
        """In its next state; a ValueError if the table does not allow it."""
        check_transition(WorkerState(self.state), state)
        return replace(self, state=state, message=message)

    @property
    def is_counted(self) -> bool:
        """Whether it takes jobs, or will."""
        return self.state in (*IN_THE_MAKING, WorkerState.READY)


def pool_state(pool: WorkerPoolRecord, workers: Sequence[WorkerRecord]) -> PoolState:
    """How a pool stands."""
    states = {worker.state for worker in workers if worker.version == pool.version}
    rules = (
        (pool.is_going, PoolState.SHUTTING_DOWN),
        (WorkerState.READY in states, PoolState.READY),
        (pool.has_given_up, PoolState.FAILED),
        (bool(states & IN_THE_MAKING), PoolState.STARTING),
    )
    return next((state for holds, state in rules if holds), PoolState.NO_WORKERS)
