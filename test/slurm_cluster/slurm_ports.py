"""Ports that daemons of Slurm listen on."""

import socket
from typing import Final

from cluster.ports import free_port

LOOPBACK: Final = "127.0.0.1"
EVERYWHERE: Final = ""


def free_ports(count: int) -> list[int]:
    """Ports that nobody else gets before a daemon has bound them."""
    return [free_port(EVERYWHERE) for _ in range(count)]


def answers(port: int) -> bool:
    """Whether somebody listens there."""
    try:
        socket.create_connection((LOOPBACK, port), timeout=10).close()
    except OSError:
        return False
    return True
