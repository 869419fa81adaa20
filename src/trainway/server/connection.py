"""One TCP connection: it has to say what it wants in time, and there are not too many of them.

Anybody can connect, so a connection that is not being served may be ended: after some time without
a whole request, and at once where others need its place. So the descriptors of the process never
run out, whoever connects, and the unix socket always answers.
"""

import asyncio
import resource
import time
from typing import Any, Final

import h11
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle
from uvicorn.server import ServerState

from trainway.server.access import ABORT

HEAD_SECONDS: Final = 10.0
"""The head of a request has to be there within this time."""
BODY_SECONDS: Final = 60.0
"""The time that may pass between two pieces of a body."""
BACKLOG: Final = 128
"""How many connections are accepted in one go, so that they stay few beyond the limit too."""
LARGEST_HEAD: Final = 64 << 10
_MOST: Final = 256


def most_connections() -> int:
    """A quarter of the descriptors that the process may have, and not more than `_MOST`."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _MOST if soft == resource.RLIM_INFINITY else min(_MOST, soft // 4)


class TcpConnection(H11Protocol):
    """A connection of the TCP listener."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, {**app_state, ABORT: self.abort}, _loop)
        self.since = time.monotonic()
        self._timer: asyncio.TimerHandle | None = None

    def abort(self) -> None:
        """End it at once, whatever is still to be sent."""
        self.transport.abort()

    @property
    def is_served(self) -> bool:
        """Whether a request has come that is not answered yet."""
        # There is none before the first request, whatever its type says.
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is not None and not cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn has it
        """Take it, in the place of the oldest one that is not served if there are too many."""
        super().connection_made(transport)
        if len(self.connections) > most_connections():
            self._make_room()
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Take the next bytes."""
        awaited = self.conn.their_state
        super().data_received(data)
        # The time for a head does not begin anew with each byte of it; that for a body does.
        if self.conn.their_state is not awaited or awaited is not h11.IDLE or self._timer is None:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """It is over."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _make_room(self) -> None:
        ours = [one for one in self.connections if isinstance(one, TcpConnection)]
        open_ones = [one for one in ours if not one.transport.is_closing()]
        if len(open_ones) > most_connections():
            idle = [one for one in open_ones if not one.is_served]
            min(idle, key=lambda one: one.since, default=self).abort()

    def _wait(self) -> None:
        """Give it time for what comes next; nothing more is due while an answer is made."""
        self._stop_waiting()
        state = self.conn.their_state
        if state is h11.IDLE:
            self._timer = self.loop.call_later(HEAD_SECONDS, self._give_up)
        elif state is h11.SEND_BODY:
            self._timer = self.loop.call_later(BODY_SECONDS, self._give_up)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _give_up(self) -> None:
        self._timer = None
        if self.flow.read_paused:  # it is we who take no more of the body yet
            self._wait()
        else:
            self.abort()
