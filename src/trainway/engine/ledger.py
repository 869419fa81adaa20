"""The store, for those who must not wait for a disk: one thread does its work, in order.

Writes are queued the moment they are asked for, so that those of one job happen in the order of its
life, whether or not anyone waits for them. Whoever watches a job is told when a write is done.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

from trainway.engine.changes import Changes
from trainway.engine.record import Event
from trainway.engine.store import Changes as Columns
from trainway.engine.store import Store

log = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")


class Ledger:
    """Runs calls of the store in a thread of their own."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.changes = Changes()
        self._thread = ThreadPoolExecutor(1, "store")

    def call(
        self, method: Callable[P, T], *args: P.args, **kwargs: P.kwargs
    ) -> "asyncio.Future[T]":
        """Queue a call of the store; its answer can be awaited."""
        loop = asyncio.get_running_loop()
        return loop.run_in_executor(self._thread, partial(method, *args, **kwargs))

    def write(
        self, job_id: str, columns: Columns, events: Sequence[Event] = ()
    ) -> "asyncio.Future[None]":
        """Queue a change of a job; it need not be awaited."""
        written = self.call(self.store.update, job_id, columns, events)
        written.add_done_callback(partial(self._written, job_id))
        return written

    def _written(self, job_id: str, written: "asyncio.Future[None]") -> None:
        if not written.cancelled() and (error := written.exception()):
            log.error("a change of job %s was not stored: %s", job_id, error)
        self.changes.notify(job_id)

    def close(self) -> None:
        """Finish what is queued and close the store."""
        self._thread.shutdown(wait=True)
        self.store.close()
