import socket
from pathlib import Path

import pytest

from trainway.backends.agents.ports import LOWEST, Ports, listening_ports
from trainway.errors import TrainwayError


def ports_of(count: int, *listening: int) -> Ports:
    """So many ports, tried in their order, on a machine that listens on some."""
    return Ports(LOWEST, LOWEST + count - 1, lambda _count: 0, lambda: listening)


def test_jobs_never_share_a_port() -> None:
    ports = Ports(listening=set)
    held = {ports.reserve() for _ in range(50)}
    both = held | {port + 1 for port in held}
    assert len(both) == 100
    assert all(LOWEST <= port < 32_768 for port in both)


@pytest.mark.parametrize("taken", [LOWEST, LOWEST + 1])
def test_a_port_that_someone_listens_on_is_left_alone(taken: int) -> None:
    ports = ports_of(4, taken)
    assert ports.reserve() == LOWEST + 2
    assert not ports.are_free(taken)
    assert not ports.are_free(taken - 1)
    assert ports.are_free(LOWEST + 2)


def test_the_ports_of_this_machine_are_asked_for() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        assert not Ports().are_free(listener.getsockname()[1])


def test_a_released_port_is_given_again() -> None:
    ports = ports_of(2)
    port = ports.reserve()
    with pytest.raises(TrainwayError, match="no port between 20000 and 20001 is free"):
        ports.reserve()
    ports.release(port)
    assert ports.reserve() == port


def test_a_port_of_an_adopted_job_is_kept() -> None:
    ports = ports_of(4)
    ports.hold(LOWEST)
    assert ports.reserve() == LOWEST + 2


@pytest.mark.parametrize(
    ("family", "address"),
    [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET, ""), (socket.AF_INET6, "::")],
)
def test_every_listener_is_seen(family: socket.AddressFamily, address: str) -> None:
    with socket.create_server((address, 0), family=family) as listener:
        port = listener.getsockname()[1]
        assert port in listening_ports()
    assert port not in listening_ports()


def test_a_table_may_be_missing(tmp_path: Path) -> None:
    assert listening_ports([tmp_path / "tcp6"]) == set()
