"""Cleans up after jobs whose `ttlSecondsAfterFinished` is over: files go, history stays."""

import asyncio
import logging
from collections.abc import Callable
from datetime import datetime
from typing import Final

from trainway.backends.registry import Registry
from trainway.engine.ledger import Ledger
from trainway.engine.record import Event, JobRecord
from trainway.engine.times import time_text
from trainway.errors import TrainwayError

log = logging.getLogger(__name__)

_AGAIN_S: Final = 60.0
"""When to try again what could not be removed."""


class Retention:
    """Removes the directories of jobs when their time is over."""

    def __init__(self, ledger: Ledger, registry: Registry, clock: Callable[[], datetime]) -> None:
        self._ledger = ledger
        self._registry = registry
        self._clock = clock
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Look after all jobs in the store."""
        self._task = asyncio.create_task(self._run())

    def stop(self) -> None:
        """Look after them no more."""
        if self._task is not None:
            self._task.cancel()

    def look_again(self) -> None:
        """Note that another job is over."""
        self._changed.set()

    async def _run(self) -> None:
        while True:
            self._changed.clear()
            pause: float | None = None
            try:
                pause = await self._sweep()
            except Exception:
                log.exception("cleaning up failed")
                pause = _AGAIN_S
            try:
                await asyncio.wait_for(self._changed.wait(), pause)
            except TimeoutError:
                continue

    async def _sweep(self) -> float | None:
        """Remove what is due; the time until the next one is."""
        put_off: float | None = None
        for job in await self._ledger.call(self._ledger.store.expiring):
            left = (job.expires or 0.0) - self._clock().timestamp()
            if left > 0:
                return left if put_off is None else min(left, put_off)
            try:
                await self._expire(job)
            except TrainwayError as error:
                log.info("job %s cannot be cleaned up yet: %s", job.id, error)
                put_off = _AGAIN_S
        return put_off

    async def _expire(self, job: JobRecord) -> None:
        backend = self._registry.of(job.backend, job.handle_data)
        await backend.delete(job.handle_data)
        text = f"its files were removed {job.ttl_seconds} seconds after its end"
        event = Event(time_text(self._clock()), "Normal", "Expired", text, f"job/{job.name}")
        await self._ledger.write(job.id, {"expires": None, "is_expired": True}, [event])
