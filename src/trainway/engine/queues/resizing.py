"""Elastic jobs that give up nodes or get them back: who can, and how their agents are told."""

import logging
from collections.abc import Callable
from datetime import datetime
from functools import partial

from trainway.backends.base import Backend
from trainway.backends.capabilities import Resizes
from trainway.engine.backoff import Backoff
from trainway.engine.phases import Phase
from trainway.engine.queue_entry import demand_of
from trainway.engine.queues.making_room import PREEMPTING, leaving
from trainway.engine.queues.node_limit import is_giving, node_limit
from trainway.engine.record import Event, JobRecord
from trainway.engine.stored_job import Change, StoredJob
from trainway.engine.times import time_text
from trainway.errors import ConflictError, TrainwayError, UnavailableError
from trainway.queueing.queue_policy import Eviction

log = logging.getLogger(__name__)


def can_resize(record: JobRecord, backend: Backend) -> bool:
    """Whether a job runs in peace, where nodes can be taken from it and given back."""
    is_calm = record.phase == Phase.RUNNING and not record.wanted and not record.move
    return is_calm and isinstance(backend, Resizes)


async def tell_limit(live: StoredJob, backend: Backend, clock: Callable[[], datetime]) -> None:
    """Tell the agent of a job how many nodes it may have, for as long as that is what counts.

    A job whose nodes cannot be taken from it makes room as a whole.
    """
    text, limit, backoff = live.record.node_limit, node_limit(live.record), Backoff()
    while limit is not None and live.record.node_limit == text and not live.record.is_over:
        try:
            if isinstance(backend, Resizes):
                await backend.resize(live.record.handle_data, limit.most)
        except UnavailableError as error:
            log.info("job %s: its size has to wait: %s", live.id, error)
            await backoff.wait()
            continue
        except TrainwayError as error:
            log.info("job %s: it cannot be told its size: %s", live.id, error)
            if isinstance(error, ConflictError):
                await live.insist(partial(_as_a_whole, live, text, error.sentence, clock))
        return


def _as_a_whole(
    live: StoredJob, text: str | None, why: str, clock: Callable[[], datetime]
) -> Change | None:
    """What makes a job leave that does not give up single nodes; None: nothing has to."""
    record, limit = live.record, node_limit(live.record)
    is_busy = record.node_limit != text or bool(record.wanted) or bool(record.move)
    if limit is None or is_busy or not is_giving(record, demand_of(record.demand)):
        return None
    now = clock()
    said = f"it makes room for {limit.name} ({limit.job}) as a whole: {why}"
    event = Event(time_text(now), "Warning", PREEMPTING, said, f"job/{record.name}")
    columns = leaving(limit.job, limit.name, Eviction.SUSPEND, now)
    return Change({**columns, "node_limit": None}, [event])
