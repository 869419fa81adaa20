"""A way to the API server that can be cut: what a network does to long connections."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from typing import Final

from cluster.control_plane import LOOPBACK

PIECE: Final = 65536


class TcpProxy:
    """Passes connections on to an address, byte for byte."""

    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self._listener = socket.create_server((LOOPBACK, 0))
        self.port: int = self._listener.getsockname()[1]
        self.accepted = 0
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self._thread = threading.Thread(target=self._accept, name="proxy")

    def start(self) -> None:
        """Begin to accept."""
        self._thread.start()

    def stop(self) -> None:
        """Accept no more, and end what there is."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._listener.close()
        self.cut()

    def cut(self) -> int:
        """End all connections at once; how many there were."""
        with self._lock:
            found = list(self._open)
        for each in found:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        return len(found) // 2

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            self.accepted += 1
            try:
                server = socket.create_connection(self._target, timeout=5)
            except OSError:
                client.close()
                continue
            server.settimeout(None)
            with self._lock:
                self._open |= {client, server}
            thread = threading.Thread(target=self._carry, args=(client, server), daemon=True)
            thread.start()

    def _carry(self, client: socket.socket, server: socket.socket) -> None:
        back = threading.Thread(target=_pump, args=(server, client), daemon=True)
        back.start()
        _pump(client, server)
        back.join()
        with self._lock:
            self._open -= {client, server}
        client.close()
        server.close()


def _pump(source: socket.socket, sink: socket.socket) -> None:
    """Carry bytes one way until either end is shut."""
    with contextlib.suppress(OSError):
        while piece := source.recv(PIECE):
            sink.sendall(piece)
    for each in (source, sink):
        with contextlib.suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)


@contextlib.contextmanager
def proxy_to(host: str, port: int) -> Iterator[TcpProxy]:
    """A proxy for as long as the block runs."""
    proxy = TcpProxy(host, port)
    proxy.start()
    try:
        yield proxy
    finally:
        proxy.stop()
