"""The port for reports of progress, open before the first process of a job can want it.

`socket` takes longer to import than a job may take to start, so its inner part has to do. Whoever
connects before somebody accepts waits in the kernel's queue.
"""

from __future__ import annotations

HOST = "127.0.0.1"
QUEUE = 64
"""How many connections may wait to be accepted."""


def reserved(port: int) -> int:
    """A socket that listens there, as the number of its file; port 0: on any that is free."""
    import _socket  # noqa: PLC0415 - few jobs report how far they are

    listener = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
    try:
        listener.setsockopt(_socket.SOL_SOCKET, _socket.SO_REUSEADDR, 1)
        listener.bind((HOST, port))
        listener.listen(QUEUE)
        listener.setblocking(False)
    except OSError:
        listener.close()
        raise
    return listener.detach()
