import socket
import subprocess
import sys
from pathlib import Path

from cluster.ports import PORTS, free_port, is_free, reserve

RESERVE = "import sys; from cluster.ports import reserve; sys.exit(reserve(int(sys.argv[1])))"


def test_a_port_is_given_once() -> None:
    ports = [free_port() for _ in range(50)]
    assert len(set(ports)) == 50
    assert set(ports) <= set(PORTS)


def test_a_port_that_somebody_listens_on_is_not_free() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        assert not is_free("127.0.0.1", port)


def test_another_process_does_not_get_it_before_it_is_used() -> None:
    port = free_port()
    assert is_free("127.0.0.1", port)
    assert not reserve(port)
    command = [sys.executable, "-c", RESERVE, str(port)]
    folder = Path(__file__).parents[1]
    assert subprocess.run(command, cwd=folder, check=False).returncode == 0
