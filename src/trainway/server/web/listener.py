"""The listener that browsers of this machine reach, opened when somebody asks for the dashboard.

A unix socket is nothing for a browser. The listener stays at its port, also with the next server,
so that a page that is open finds it again.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from trainway.errors import ConflictError
from trainway.server.process import Listen, ListenError, tcp_socket

log = logging.getLogger(__name__)

LOOPBACK: Final = "127.0.0.1"
_NAMES: Final = (LOOPBACK, "localhost")


class Serving(Protocol):
    """What serves a socket."""

    should_exit: bool

    def serve(self, sockets: list[Any]) -> Coroutine[Any, Any, None]:
        """Serve until it should exit."""


MakeServer = Callable[[frozenset[str]], Serving]
"""Makes what serves the listener, given what the server may be called there."""


@dataclass
class LocalListener:
    """A TCP listener of this machine alone; there is at most one."""

    make: MakeServer | None = None
    """None: the server does not serve sockets."""
    port: int = 0
    """Where it listens; 0: nowhere yet."""
    _server: Serving | None = None
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    async def open(self, port: int, usual: int = 0) -> int:
        """Listen, and say where: at that port, or with 0 where it does or did, or anywhere."""
        if self.port and port in (0, self.port):
            return self.port
        if self.make is None:
            raise ConflictError("this server cannot listen for browsers")
        listener = None
        if not port and usual:
            with contextlib.suppress(ListenError):  # somebody else has it now
                listener = tcp_socket(Listen(LOOPBACK, usual))
        if listener is None:
            listener = tcp_socket(Listen(LOOPBACK, port))
        self.stop()
        self.port = int(listener.getsockname()[1])
        self._server = self.make(frozenset(f"{name}:{self.port}" for name in _NAMES))
        task = asyncio.create_task(self._server.serve([listener]))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return self.port

    async def reopen(self, port: int) -> None:
        """Listen where the server before did, unless somebody else does now."""
        try:
            await self.open(port)
        except ListenError as error:
            log.warning("pages of the dashboard that are open do not find it: %s", error.message)

    def stop(self) -> None:
        """Stop listening; who is being answered still is."""
        if self._server is not None:
            self._server.should_exit = True
        self.port, self._server = 0, None

    async def close(self) -> None:
        """Stop listening, and wait for the answers that are under way."""
        self.stop()
        if self._tasks:
            await asyncio.wait(self._tasks)
