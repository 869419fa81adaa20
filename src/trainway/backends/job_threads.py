"""Threads for reading the files of jobs, apart from those that everything else shares.

A file system of another machine may not answer for hours. Whoever reads there waits, but nobody
else does: not the store, not the compiler, and not the end of the server's process, which does not
wait for these threads.
"""

import asyncio
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Any, Final, ParamSpec, TypeVar

_MOST: Final = 8
_P = ParamSpec("_P")
_T = TypeVar("_T")
_Task = tuple[Future[Any], Callable[[], Any]]


class JobThreads:
    """A few threads, each started when all others have something to do."""

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._tasks: queue.SimpleQueue[_Task] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._started = 0
        self._waiting = 0
        """How many tasks nobody has begun with, less the threads that have nothing to do."""

    async def run(self, function: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
        """Call it in one of the threads, and wait for what it gives."""
        future: Future[_T] = Future()
        with self._lock:
            self._waiting += 1
            if self._waiting > 0 and self._started < self._most:
                self._started += 1
                name = f"job-files-{self._started}"
                threading.Thread(target=self._serve, name=name, daemon=True).start()
                self._waiting -= 1
        self._tasks.put((future, lambda: function(*args, **kwargs)))
        return await asyncio.wrap_future(future)

    def _serve(self) -> None:
        while True:
            future, call = self._tasks.get()
            tell = _done(future, call)
            with self._lock:  # first of all: whoever is told may come with the next task at once
                self._waiting -= 1
            tell()
            del future, call, tell


def _done(future: Future[_T], call: Callable[[], _T]) -> Callable[[], object]:
    """Do a task, unless nobody waits for it any more; gives what tells its future of it."""
    if not future.set_running_or_notify_cancel():
        return lambda: None
    try:
        result = call()
    except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
        return partial(future.set_exception, error)
    return partial(future.set_result, result)


job_threads: Final = JobThreads()
"""The threads of this process."""
