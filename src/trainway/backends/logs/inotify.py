"""Tells when something in a directory changes, without looking again and again.

The kernel's inotify through ctypes; where it is not to be had (too many users of it), the caller is
woken at short intervals instead.
"""

import asyncio
import ctypes
import os
from pathlib import Path
from types import TracebackType
from typing import Final, Self

_CLOSE_ON_EXEC: Final = os.O_CLOEXEC
_NON_BLOCKING: Final = os.O_NONBLOCK
_MODIFY: Final = 0x2
_MOVED_TO: Final = 0x80
_CREATE: Final = 0x100
_DELETE_SELF: Final = 0x400
_ONLY_A_DIRECTORY: Final = 0x1000000
_DO_NOT_FOLLOW: Final = 0x2000000
_EVENTS: Final = _MODIFY | _MOVED_TO | _CREATE | _DELETE_SELF | _ONLY_A_DIRECTORY | _DO_NOT_FOLLOW
_BUFFER: Final = 1 << 16
_INTERVAL_S: Final = 0.25


class DirectoryChanges:
    """Wakes whoever waits when a file of the directory is made or written to."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._changed = asyncio.Event()
        self._descriptor = -1

    def __enter__(self) -> Self:
        self._descriptor = _open(self._folder)
        if self._descriptor >= 0:
            asyncio.get_running_loop().add_reader(self._descriptor, self._drain)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._descriptor >= 0:
            asyncio.get_running_loop().remove_reader(self._descriptor)
            os.close(self._descriptor)

    async def wait(self, stop: asyncio.Event) -> None:
        """Wait for a change since the last call, or until `stop` is set."""
        waiters = {asyncio.ensure_future(event.wait()) for event in (self._changed, stop)}
        limit = None if self._descriptor >= 0 else _INTERVAL_S
        try:
            await asyncio.wait(waiters, timeout=limit, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for waiter in waiters:
                waiter.cancel()
        self._changed.clear()

    def _drain(self) -> None:
        try:
            os.read(self._descriptor, _BUFFER)
        except BlockingIOError:
            return
        self._changed.set()


def _open(folder: Path) -> int:
    """A descriptor that becomes readable on changes; -1 where there is none to be had."""
    libc = ctypes.CDLL(None, use_errno=True)
    descriptor: int = libc.inotify_init1(_CLOSE_ON_EXEC | _NON_BLOCKING)
    if descriptor >= 0 and libc.inotify_add_watch(descriptor, os.fsencode(folder), _EVENTS) < 0:
        os.close(descriptor)
        return -1
    return descriptor
