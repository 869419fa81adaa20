"""Free ports of this machine, which stay free for whoever got them.

A program binds its port a while after it was chosen. So none is chosen that the kernel could give
to another meanwhile, nor one that another test run has chosen: a port is reserved by a name, a
socket without a file, for as long as the process lives.
"""

import errno
import itertools
import os
import socket
from typing import Final

PORTS: Final = range(12_000, 20_000)  # the kernel's own begin at 32768, Slurm's here at 20000
STRIDE: Final = 97
"""Processes with numbers side by side begin their search so far apart."""

_offsets = itertools.count()


def free_port(host: str = "127.0.0.1") -> int:
    """A port that nobody listens on now, and that nobody else gets from here."""
    begin = os.getpid() * STRIDE
    for offset in itertools.islice(_offsets, len(PORTS)):
        port = PORTS[(begin + offset) % len(PORTS)]
        if is_free(host, port) and reserve(port):
            return port
    raise OSError(errno.EADDRINUSE, "no port is free")


def is_free(host: str, port: int) -> bool:
    """Whether nobody listens there."""
    with socket.socket() as listener:
        return takes(listener, (host, port))


def reserve(port: int) -> bool:
    """Make it ours until this process ends; whether nobody was faster."""
    with socket.socket(socket.AF_UNIX) as name:
        if takes(name, f"\0trainway-port-{port}"):
            name.detach()  # stays open
            return True
    return False


def takes(listener: socket.socket, address: tuple[str, int] | str) -> bool:
    """Whether the socket gets the address; one that somebody else has it does not."""
    try:
        listener.bind(address)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            return False
        raise
    return True
