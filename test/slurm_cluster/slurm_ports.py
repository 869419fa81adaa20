"""Ports of this machine."""

import random
import socket
from typing import Final

from switch import UnavailableError

LOOPBACK: Final = "127.0.0.1"


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on, none of which the kernel hands out by itself."""
    found: list[int] = []
    for port in random.sample(range(20_000, 32_000), 1000):
        with socket.socket() as probe:
            try:
                probe.bind(("", port))
            except OSError:
                continue
        found.append(port)
        if len(found) == count:
            return found
    raise UnavailableError("no ports are free")


def answers(port: int) -> bool:
    """Whether somebody listens there."""
    try:
        socket.create_connection((LOOPBACK, port), timeout=1).close()
    except OSError:
        return False
    return True
