"""Elastic jobs that give up nodes or get them back: who can, and how their agents are told."""

import logging

from trainway.backends.base import Backend
from trainway.backends.capabilities import Resizes
from trainway.engine.backoff import Backoff
from trainway.engine.phases import Phase
from trainway.engine.queues.node_limit import node_limit
from trainway.engine.record import JobRecord
from trainway.engine.stored_job import StoredJob
from trainway.errors import TrainwayError, UnavailableError

log = logging.getLogger(__name__)


def can_resize(record: JobRecord, backend: Backend) -> bool:
    """Whether a job runs in peace, where nodes can be taken from it and given back."""
    is_calm = record.phase == Phase.RUNNING and not record.wanted and not record.move
    return is_calm and isinstance(backend, Resizes)


async def tell_limit(live: StoredJob, backend: Backend) -> None:
    """Tell the agent of a job how many nodes it may have, for as long as that is what counts."""
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
        return
