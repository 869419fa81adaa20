"""The nodes of a gang reach each other, and add numbers up around a ring: an all-reduce.

Each node connects to the others and says who it is. When it has reached all, or its time is up, it
tells those that it has reached which ones it has not. So a broken link is known to all who can be
reached at all. Nobody has chosen ports for this beforehand, and other jobs may run on the same
machines: they follow from a word that only this gang has, with a few to choose from.
"""

from __future__ import annotations

import json
import time
from array import array
from contextlib import suppress
from operator import add
from zlib import crc32

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from collections.abc import Sequence
    from queue import Queue
    from typing import BinaryIO

FIRST_PORT, PORTS = 20_000, 12_000
"""Below the ports that the kernel gives to those who ask for any."""
CHOICES = 4
"""On how many ports a node may be found."""
FEW = 32
"""So many nodes all connect to each other; of more, each to some."""
NUMBERS = 8192
"""How many numbers of eight bytes are added up."""
PAUSE = 0.05
CONNECT_SECONDS = 2.0
REPORT_SECONDS = 5.0
"""How much longer a node waits for what others could not reach: they may have begun later."""
LONGEST_LINE = 64 * 1024
CHANGED = "numbers that went around the nodes were changed on the way"


class MeshError(Exception):
    """The nodes reach each other, and yet something went wrong. The message says what."""


def neighbours(rank: int, size: int) -> list[int]:
    """The ranks that a node connects to: all of few, else those at distances 1, 2, 4 and so on."""
    if size <= FEW:
        return [other for other in range(size) if other != rank]
    distances = [1 << power for power in range(size.bit_length()) if 1 << power < size]
    found = {(rank + sign * distance) % size for distance in distances for sign in (1, -1)}
    return sorted(found - {rank})


def ports_of(word: str, rank: int) -> list[int]:
    """The ports on which a node may be found, in the order in which it tries them."""
    names = [f"{word}/{rank}/{choice}" for choice in range(CHOICES)]
    return [FIRST_PORT + crc32(name.encode()) % PORTS for name in names]


class Mesh:
    """One node of a gang among the others."""

    def __init__(self, rank: int, addresses: Sequence[str], word: str, seconds: float) -> None:
        from queue import Queue  # noqa: PLC0415 - slow, and needed only in this child

        self._rank = rank
        self._addresses = addresses
        self._word = word
        self._deadline = time.monotonic() + seconds
        self._links: dict[int, socket.socket] = {}
        """Where something can be said to others."""
        self._reports: dict[int, list[int]] = {}
        self._numbers: Queue[bytes] = Queue()
        """What the node before this one in the ring has sent."""
        self._size = len(addresses)
        self._server: socket.socket | None = None

    def broken_links(self) -> list[tuple[int, int]]:
        """Meet the others; the pairs of ranks that do not reach each other."""
        from threading import Thread  # noqa: PLC0415 - as above

        peers = neighbours(self._rank, self._size)
        self._server = self._listening(len(peers))
        Thread(target=self._accept, args=(self._server,), daemon=True).start()
        threads = [Thread(target=self._reach, args=(peer,), daemon=True) for peer in peers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        missing = [peer for peer in peers if peer not in self._links]
        for link in self._links.values():
            _send(link, json.dumps(missing).encode() + b"\n")
        patience = self._deadline + REPORT_SECONDS
        while not self._links.keys() <= self._reports.keys() and time.monotonic() < patience:
            time.sleep(PAUSE / 10)
        silent = [peer for peer in self._links if peer not in self._reports]
        own = [(self._rank, peer) for peer in (*missing, *silent)]
        return own + [(peer, other) for peer, said in self._reports.items() for other in said]

    def add_up(self) -> float:
        """All-reduce over the ring; how many seconds it took."""
        began, size = time.monotonic(), self._size
        if self.total(self._rank + 1) != size * (size + 1) // 2:
            raise MeshError(CHANGED)
        return time.monotonic() - began

    def total(self, number: int) -> int:
        """The sum of the numbers of all nodes, each of which knows it then."""
        following = self._links[(self._rank + 1) % self._size]
        total = current = array("q", [number]) * NUMBERS
        for _ in range(self._size - 1):
            _send(following, current.tobytes())
            current = array("q")
            current.frombytes(self._next_numbers())
            total = array("q", map(add, total, current))
        if total != total[:1] * NUMBERS:
            raise MeshError(CHANGED)
        return total[0]

    def close(self) -> None:
        """Say no more to anybody."""
        import socket  # noqa: PLC0415 - as above

        for link in self._links.values():
            link.close()
        if self._server is not None:
            with suppress(OSError):  # nobody waits there
                self._server.shutdown(socket.SHUT_RDWR)
            self._server.close()

    def _next_numbers(self) -> bytes:
        from queue import Empty  # noqa: PLC0415 - as above

        left = max(REPORT_SECONDS, self._deadline - time.monotonic())
        try:
            return self._numbers.get(timeout=left)
        except Empty:
            before = (self._rank - 1) % self._size
            raise MeshError(f"node {before} sent nothing for {left:.0f} s") from None

    def _listening(self, count: int) -> socket.socket:
        import socket  # noqa: PLC0415 - as above

        own = self._addresses[self._rank]
        family = socket.AF_INET6 if ":" in own else socket.AF_INET
        for port in ports_of(self._word, self._rank):
            for address in (own, ""):  # its address for others need not be one of its own
                server = socket.socket(family, socket.SOCK_STREAM)
                server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                try:
                    server.bind((address, port))
                    server.listen(count + CHOICES)
                except OSError:
                    server.close()
                else:
                    return server
        raise MeshError("none of the ports for the check is free")

    def _accept(self, server: socket.socket) -> None:
        from threading import Thread  # noqa: PLC0415 - as above

        while True:
            try:
                link, _ = server.accept()
            except OSError:  # it was closed
                return
            Thread(target=self._hear, args=(link,), daemon=True).start()

    def _hear(self, link: socket.socket) -> None:
        """Take in what another node says, if it is one of the gang."""
        try:
            with link, link.makefile("rb") as stream:
                link.settimeout(CONNECT_SECONDS)
                word, _, rank = stream.readline(LONGEST_LINE).decode("ascii").partition(" ")
                if word != self._word:
                    return
                link.settimeout(None)
                link.sendall(f"{self._word} {self._rank}\n".encode())
                self._take_in(int(rank), stream)
        except (OSError, ValueError, TypeError):
            return

    def _take_in(self, peer: int, stream: BinaryIO) -> None:
        """Read whom another node has not reached, and then its numbers if it comes before us."""
        self._reports[peer] = [int(other) for other in json.loads(stream.readline(LONGEST_LINE))]
        length = NUMBERS * array("q").itemsize
        while peer == (self._rank - 1) % self._size:
            data = stream.read(length)
            if len(data) < length:
                return
            self._numbers.put(data)

    def _reach(self, peer: int) -> None:
        """Connect to another node, until it answers or time is up."""
        ports = ports_of(self._word, peer)
        while time.monotonic() < self._deadline:
            for port in ports:
                link = self._greeted(peer, port)
                if link is not None:
                    self._links[peer] = link
                    return
            time.sleep(PAUSE)

    def _greeted(self, peer: int, port: int) -> socket.socket | None:
        """A connection to a node that has said who it is; None: nobody of the gang is there."""
        import socket  # noqa: PLC0415 - as above

        try:
            link = socket.create_connection((self._addresses[peer], port), CONNECT_SECONDS)
        except OSError:
            return None
        with suppress(OSError):
            link.sendall(f"{self._word} {self._rank}\n".encode())
            if _line(link) == f"{self._word} {peer}\n".encode():
                link.settimeout(None)
                return link
        link.close()
        return None


def _line(link: socket.socket) -> bytes:
    """One short line, and nothing after it."""
    data = b""
    while not data.endswith(b"\n") and len(data) < 256:
        more = link.recv(1)
        if not more:
            break
        data += more
    return data


def _send(link: socket.socket, data: bytes) -> None:
    """Say something; who is gone by now is told of by its silence."""
    try:
        link.sendall(data)
    except OSError:
        return
