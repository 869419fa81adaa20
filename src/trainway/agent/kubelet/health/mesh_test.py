"""Nodes that meet on this machine, each in a thread."""

import os
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from trainway.agent.kubelet.health import mesh
from trainway.agent.kubelet.health.mesh import Mesh, neighbours, ports_of

HERE = "127.0.0.1"
NOWHERE = "127.255.255.255"
"""An address that nobody can connect to, which is known at once."""


def word() -> str:
    return f"test-{os.urandom(4).hex()}"


Gang = Callable[..., list[Mesh]]


@pytest.fixture
def gang() -> Iterator[Gang]:
    """Makes the nodes of a gang, given the addresses of all as each of them has them."""
    made: list[Mesh] = []

    def make(*addresses: list[str], seconds: float = 60, name: str = "") -> list[Mesh]:
        name = name or word()
        nodes = [Mesh(rank, each, name, seconds) for rank, each in enumerate(addresses)]
        made.extend(nodes)
        return nodes

    yield make
    for node in made:
        node.close()


def met(nodes: list[Mesh]) -> list[list[tuple[int, int]]]:
    with ThreadPoolExecutor(len(nodes)) as pool:
        return list(pool.map(lambda node: node.broken_links(), nodes))


@pytest.mark.parametrize("size", [2, 5])
def test_nodes_that_reach_each_other_add_numbers_up(gang: Gang, size: int) -> None:
    nodes = gang(*[[HERE] * size] * size)
    assert met(nodes) == [[]] * size
    with ThreadPoolExecutor(size) as pool:
        assert all(took >= 0 for took in pool.map(lambda node: node.add_up(), nodes))


def test_a_port_that_somebody_else_has_is_left_to_them(
    gang: Gang, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mesh, "CONNECT_SECONDS", 0.2)
    name = word()
    with socket.socket() as other:
        other.bind((HERE, ports_of(name, 0)[0]))
        other.listen()
        assert met(gang(*[[HERE] * 2] * 2, name=name)) == [[], []]


def answers_of(port: int) -> list[bytes]:
    """What a stranger is told who connects to a port; nothing if nobody listens there."""
    try:
        link = socket.create_connection((HERE, port), 60)
    except ConnectionRefusedError:
        return []
    with link:
        try:
            link.sendall(b"GET / HTTP/1.1\r\n\r\n")
            return [link.recv(100)]
        except (ConnectionResetError, BrokenPipeError):  # it was closed before all was read
            return [b""]


def test_who_is_not_of_the_gang_is_not_heard(gang: Gang) -> None:
    name = word()
    first, second = gang(*[[HERE] * 2] * 2, name=name)
    with ThreadPoolExecutor(1) as pool:
        waits = pool.submit(first.broken_links)
        end = time.monotonic() + 60
        while not (answers := [each for port in ports_of(name, 0) for each in answers_of(port)]):
            assert time.monotonic() < end, "the first does not listen"
            time.sleep(0.01)
        assert set(answers) == {b""}
        assert second.broken_links() == []
        assert waits.result() == []


def test_all_know_of_a_link_that_is_broken(gang: Gang) -> None:
    addresses = [[HERE, NOWHERE, HERE], [NOWHERE, HERE, HERE], [HERE, HERE, HERE]]
    for links in met(gang(*addresses, seconds=1.0)):
        assert {tuple(sorted(pair)) for pair in links} == {(0, 1)}


def test_of_many_nodes_each_has_some_neighbours() -> None:
    assert neighbours(1, 3) == [0, 2]
    for size in (33, 1000):
        for rank in (0, 7, size - 1):
            found = neighbours(rank, size)
            assert {(rank + 1) % size, (rank - 1) % size} <= set(found)
            assert rank not in found
            assert len(found) <= 2 * size.bit_length()
            assert all(rank in neighbours(other, size) for other in found)
