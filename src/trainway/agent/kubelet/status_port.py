"""The port for reports of progress, open before the first process of a job can want it.

`socket` takes longer to import than a job may take to start, so its inner part has to do. Whoever
connects before somebody accepts waits in the kernel's queue.
"""

from __future__ import annotations

from importlib import import_module

HOST = "127.0.0.1"
QUEUE = 64
"""Connections that wait to be accepted."""


def reserved(port: int) -> int:
    """A socket that listens there, as the number of its file; port 0: on any that is free."""
    module = import_module("_socket")
    listener = module.socket(module.AF_INET, module.SOCK_STREAM)
    try:
        listener.setsockopt(module.SOL_SOCKET, module.SO_REUSEADDR, 1)
        listener.bind((HOST, port))
        listener.listen(QUEUE)
        listener.setblocking(False)
    except OSError:
        listener.close()
        raise
    number: int = listener.detach()
    return number
