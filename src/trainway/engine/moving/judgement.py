"""Who took from a job what it ran on: a worker that is lost may be one that its cloud has taken.

Its place sees only that a host does not answer any more. So the cloud is asked before the attempt
is written down, and before other machines are rented: those it takes are avoided.
"""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeAlias

from trainway.engine.live import LiveJob
from trainway.engine.moving.move import Move
from trainway.engine.rental.interruption import Interruption
from trainway.engine.worker_pool.assignment import worker_of
from trainway.errors import DatabaseError, TrainwayError

log = logging.getLogger(__name__)

Taken: TypeAlias = Callable[[str], Awaitable[Interruption | None]]
"""Asks the cloud of a cluster whether it has taken machines of it; None: it has not."""


async def judged(live: LiveJob, move: Move, taken: Taken) -> Move:
    """The move of a job, with why what it ran on was taken from it, where a cloud says so."""
    worker = worker_of(live.record)
    if not worker or not move.anew or move.taken:
        return move
    try:
        found = await taken(worker)
    except DatabaseError:
        raise
    except TrainwayError as error:
        log.info("job %s: nobody knows who took its worker %s: %s", live.id, worker, error)
        return move
    return move if found is None else replace(move, taken=found.words)
