"""Which peers can be reached: their SSH servers are asked for the first line that they say.

A bare connection is not enough, since something on the way may accept it in their place.
"""

from __future__ import annotations

import errno
import socket

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from trainway.agent.base.event_loop import EventLoop

TIMEOUT = 1.0
BANNER = b"SSH-"


class Probe:
    """Asks all peers at once; calls back with how many answered, after a second at most."""

    def __init__(
        self,
        loop: EventLoop,
        peers: Sequence[tuple[str, int]],
        done: Callable[[int], None],
        timeout: float = TIMEOUT,
    ) -> None:
        self._loop = loop
        self._done: Callable[[int], None] | None = done
        self._reached = 0
        self._sockets: set[socket.socket] = set()
        for peer in peers:
            self._ask(peer)
        self._timer = loop.call_later(timeout if self._sockets else 0.0, self._finish)

    def _ask(self, peer: tuple[str, int]) -> None:
        address, port = peer
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        asked = socket.socket(family, socket.SOCK_STREAM)
        asked.setblocking(False)
        try:
            failure = asked.connect_ex((address, port))
        except OSError:  # no address, but a name that nobody knows here
            failure = errno.EINVAL
        if failure not in (0, errno.EINPROGRESS):
            asked.close()
            return
        self._sockets.add(asked)
        self._loop.watch(asked.fileno(), on_readable=lambda: self._on_answer(asked))

    def _on_answer(self, asked: socket.socket) -> None:
        """The banner is there, or the reason why it will never be."""
        try:
            data = asked.recv(len(BANNER))
        except BlockingIOError:
            return
        except OSError:
            data = b""
        self._close(asked)
        self._reached += data == BANNER
        if not self._sockets:
            self._finish()

    def _close(self, asked: socket.socket) -> None:
        self._sockets.discard(asked)
        self._loop.forget(asked.fileno())
        asked.close()

    def _finish(self) -> None:
        self._timer.cancel()
        for asked in list(self._sockets):
            self._close(asked)
        done, self._done = self._done, None
        if done is not None:
            done(self._reached)
