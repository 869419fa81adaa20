"""Workers that bring objects to the state they should have, one key at a time.

A reconcile function looks at the whole state of an object and does what is missing. It says when
to look again, or raises and is tried again later.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Literal, Protocol

from trainway.errors import TrainwayError
from trainway.kube.errors import Conflict
from trainway.kube.store import split_key
from trainway.kube.workqueue import WorkQueue
from trainway.telemetry.log_subject import Fields, about

logger = logging.getLogger(__name__)

Result = float | None
"""The seconds after which to look again; None means when something changes."""
Outcome = Literal["ok", "again", "error"]
Reconcile = Callable[[str], Awaitable[Result]]


class Observer(Protocol):
    """Is told of each reconcile."""

    def on_start(self, name: str) -> None:
        """A reconcile begins."""
        ...

    def on_end(self, name: str, seconds: float, outcome: Outcome) -> None:
        """It ended."""
        ...


class Controller:
    """A queue and the workers on it."""

    def __init__(
        self,
        name: str,
        reconcile: Reconcile,
        workers: int = 1,
        *,
        noun: str = "job",
        observer: Observer | None = None,
        queue: WorkQueue | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = name
        self._noun = noun
        """What its objects are called in the log."""
        self.queue = queue or WorkQueue(clock)
        self.observer = observer
        self._reconcile = reconcile
        self.workers = workers
        self._clock = clock

    async def run(self) -> None:
        """Work until cancelled."""
        try:
            async with asyncio.TaskGroup() as tasks:
                for number in range(self.workers):
                    tasks.create_task(self._work(), name=f"{self.name} {number}")
        finally:
            self.queue.close()

    async def _work(self) -> None:
        while True:
            key = await self.queue.take()
            try:
                await self._handle(key)
            finally:
                self.queue.done(key)

    async def _handle(self, key: str) -> None:
        began = self._clock()
        if self.observer is not None:
            self.observer.on_start(self.name)
        outcome: Outcome = "error"
        with about(self._fields(key)):
            try:
                outcome = await self._reconciled(key)
            finally:
                if self.observer is not None:
                    self.observer.on_end(self.name, self._clock() - began, outcome)

    def _fields(self, key: str) -> Fields:
        """What the lines have that are logged about an object."""
        namespace, name = split_key(key)
        return {"controller": self.name, "namespace": namespace, self._noun: name}

    async def _reconciled(self, key: str) -> Outcome:
        outcome: Outcome = "error"
        try:
            seconds = await self._reconcile(key)
            outcome = "ok" if seconds is None else "again"
            self.queue.forget(key)
            if seconds is not None:
                self.queue.add_after(key, seconds)
        except Conflict as error:
            logger.debug("%s %s: %s", self.name, key, error)
            self.queue.retry(key)
        except TrainwayError as error:
            pause = self.queue.retry(key)
            logger.warning("%s %s: %s; again in %.3g s", self.name, key, error, pause)
        except Exception:
            pause = self.queue.retry(key)
            logger.exception("%s %s failed; again in %.3g s", self.name, key, pause)
        return outcome
