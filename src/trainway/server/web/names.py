"""What the server is called by those who have business with it.

The page of another site can make a browser call the server by a name of its own, by pointing that
name to the server's address (DNS rebinding). It can do so neither with an address, which nobody
looks up, nor with a name that is this machine's, nor with one under which somebody has logged in.
"""

import ipaddress
import socket
from collections.abc import Collection
from typing import Final

_LOOPBACK: Final = "localhost"


def is_known_name(host: str, logged_in: Collection[str]) -> bool:
    """Whether it, the `Host` of a request, may be trusted not to be a name of another site.

    `logged_in` are those under which browsers are logged in.
    """
    if host in logged_in:
        return True
    name = _without_port(host).lower()
    return _is_address(name) or name in (_LOOPBACK, socket.gethostname().lower())


def _without_port(host: str) -> str:
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
