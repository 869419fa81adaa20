import asyncio
import json
import os
import socket
import stat
from pathlib import Path

import pytest

from trainway.server.process import (
    AlreadyRunningError,
    Listen,
    ListenError,
    ServerHome,
    tcp_socket,
)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_socket_is_for_the_owner_alone(tmp_path: Path) -> None:
    home = ServerHome(tmp_path / "home")
    with home.listen():
        home.announce()
        info = json.loads((home.path / "server.json").read_text())
        assert (info["pid"], info["socket"]) == (os.getpid(), str(home.socket_path))
        assert (mode(home.path), mode(home.socket_path)) == (0o700, 0o600)
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(home.socket_path))
    home.withdraw()
    assert sorted(path.name for path in home.path.iterdir()) == ["server.lock"]


def test_a_directory_that_others_could_read_is_closed_to_them(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    assert mode(ServerHome(tmp_path).path) == 0o700


def test_a_socket_that_a_killed_server_left_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "server.sock").touch()
    with ServerHome(tmp_path).listen() as listener:
        assert listener.getsockname() == str(tmp_path / "server.sock")


def test_one_server_for_each_home(tmp_path: Path) -> None:
    first = ServerHome(tmp_path)
    with first.listen():
        first.announce()
        with pytest.raises(AlreadyRunningError):
            ServerHome(tmp_path)
    os.close(first._lock)
    ServerHome(tmp_path)


def test_a_server_waits_for_one_that_is_about_to_end(tmp_path: Path) -> None:
    ending = ServerHome(tmp_path)
    pauses = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        os.close(ending._lock)

    ServerHome(tmp_path, pause=pause)
    assert len(pauses) == 1


def test_it_does_not_wait_for_ever(tmp_path: Path) -> None:
    stuck = ServerHome(tmp_path)
    with pytest.raises(AlreadyRunningError):
        ServerHome(tmp_path, patience_s=0.0)
    os.close(stuck._lock)


def test_a_long_path_has_its_socket_elsewhere(tmp_path: Path) -> None:
    home = ServerHome(tmp_path / ("x" * 100))
    assert len(str(home.socket_path)) < 100
    with home.listen():
        assert mode(home.socket_path.parent) == 0o700
    home.withdraw()
    assert not home.socket_path.parent.exists()


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [("localhost:80", "localhost", 80), ("192.0.2.1:0", "192.0.2.1", 0), ("[::1]:9", "::1", 9)],
)
def test_addresses(text: str, host: str, port: int) -> None:
    assert Listen.parse(text) == Listen(host, port)


@pytest.mark.parametrize("text", ["", "80", ":80", "host:", "host:x", "host:70000"])
def test_no_addresses(text: str) -> None:
    with pytest.raises(ValueError, match="not HOST:PORT"):
        Listen.parse(text)


def test_a_taken_port_is_named() -> None:
    with tcp_socket(Listen("127.0.0.1", 0)) as first:
        port = first.getsockname()[1]
        with pytest.raises(ListenError, match=f"cannot listen on 127.0.0.1:{port}: Address"):
            tcp_socket(Listen("127.0.0.1", port))


def test_the_body_of_an_answer_does_not_wait_for_its_head_to_be_acknowledged() -> None:
    async def main() -> int:
        accepted: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        def connected(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            sock = writer.get_extra_info("socket")
            accepted.set_result(sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        listener = tcp_socket(Listen("127.0.0.1", 0))
        async with await asyncio.start_server(connected, sock=listener):
            _, writer = await asyncio.open_connection(*listener.getsockname())
            writer.close()
            return await accepted

    assert asyncio.run(main()) == 1
