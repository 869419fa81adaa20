"""One event loop in a thread, for code that may block.

A notebook runs a loop of its own, so `asyncio.run` is not possible there; and a loop for each call
would be made and torn down again and again.
"""

import asyncio
import os
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator
from typing import Any, TypeVar

T = TypeVar("T")


class LoopThread:
    """Runs coroutines for other threads; the thread starts with the first one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._process = 0

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run it, and wait for it; whoever interrupts the wait ends it."""
        future = asyncio.run_coroutine_threadsafe(coroutine, self._running())
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def iterate(self, start: Callable[[], AsyncGenerator[T, None]]) -> Iterator[T]:
        """What an asynchronous generator gives."""
        generator = start()
        try:
            while True:
                try:
                    yield self.run(anext(generator))
                except StopAsyncIteration:
                    return
        finally:
            self.run(generator.aclose())

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None or self._process != os.getpid():  # a fork has no threads
                self._loop = asyncio.new_event_loop()
                self._process = os.getpid()
                name = "trainway-training"
                threading.Thread(target=self._loop.run_forever, name=name, daemon=True).start()
            return self._loop
