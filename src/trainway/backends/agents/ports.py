"""Ports on which jobs meet: free now, and promised to one job at a time, two to each.

They lie below the range from which the kernel serves connections that name no port, so that no
stranger takes one by chance between the promise and the moment the job binds it. The first one
tried is random: another user's server on this machine takes its ports from the same range.
"""

import threading
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from random import SystemRandom

from trainway.errors import TrainwayError

LOWEST = 20_000
_EPHEMERAL = Path("/proc/sys/net/ipv4/ip_local_port_range")
_USUAL_EPHEMERAL = 32_768
_TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_LISTEN = "0A"
_RANDOM = SystemRandom()


class Ports:
    """The ports that jobs hold."""

    def __init__(
        self,
        first: int = LOWEST,
        last: int | None = None,
        start: Callable[[int], int] = _RANDOM.randrange,
        listening: Callable[[], Collection[int]] | None = None,
    ) -> None:
        self._first = first
        self._count = (last or _below_ephemeral()) - first + 1
        self._start = start
        self._listening = listening or listening_ports
        self._held: set[int] = set()
        self._lock = threading.Lock()

    def reserve(self) -> int:
        """The first of two neighbouring ports that nobody uses, until it is released."""
        pairs = self._count // 2
        offset = self._start(pairs)
        with self._lock:
            taken = frozenset(self._listening())
            for step in range(pairs):
                port = self._first + 2 * ((offset + step) % pairs)
                if port not in self._held and not {port, port + 1} & taken:
                    self._held.add(port)
                    return port
        last = self._first + self._count - 1
        raise TrainwayError(
            f"no port between {self._first} and {last} is free", hint="end some jobs first"
        )

    def are_free(self, port: int) -> bool:
        """Whether nobody uses the port and its neighbour now."""
        return {port, port + 1}.isdisjoint(self._listening())

    def hold(self, port: int) -> None:
        """Keep the ports that a job has already."""
        with self._lock:
            self._held.add(port)

    def release(self, port: int) -> None:
        """Give them back."""
        with self._lock:
            self._held.discard(port)


def listening_ports(tables: Iterable[Path] = _TABLES) -> set[int]:
    """Every port that a process of this machine listens on, on whatever address.

    Read from the kernel's tables. To bind a port and let it go again would tell the same, but a
    process that starts to listen on it at that moment would be refused.
    """
    ports = set()
    for table in tables:
        try:
            lines = table.read_text().splitlines()[1:]
        except OSError:  # a kernel without IPv6
            continue
        for line in lines:
            _, local, _, state, *_ = line.split()
            if state == _LISTEN:
                ports.add(int(local.rpartition(":")[2], 16))
    return ports


def _below_ephemeral() -> int:
    try:
        lowest = int(_EPHEMERAL.read_text().split()[0])
    except (OSError, ValueError, IndexError):
        lowest = _USUAL_EPHEMERAL
    return lowest - 1 if lowest - LOWEST > 1_000 else _USUAL_EPHEMERAL - 1
