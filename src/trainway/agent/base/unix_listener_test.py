import os
import socket
import stat
from pathlib import Path

import pytest

from trainway.agent.base import unix_listener
from trainway.agent.base.directory import Directory
from trainway.agent.base.event_loop import EventLoop
from trainway.agent.supervisor.control import ControlServer


def test_a_socket_is_its_owners_alone(tmp_path: Path) -> None:
    with unix_listener.listen(Directory(str(tmp_path)), "a.sock") as listener:
        assert stat.S_IMODE((tmp_path / "a.sock").stat().st_mode) == 0o600
        assert unix_listener.accept(listener) is None
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(tmp_path / "a.sock"))
            accepted = unix_listener.accept(listener)
            assert accepted is not None
            with accepted:
                assert not accepted.getblocking()


def test_another_user_is_turned_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unix_listener, "ROOT", -1)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with (
        unix_listener.listen(Directory(str(tmp_path)), "a.sock") as listener,
        socket.socket(socket.AF_UNIX) as client,
    ):
        client.connect(str(tmp_path / "a.sock"))
        assert unix_listener.accept(listener) is None
        assert client.recv(1) == b""


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"{", "Expecting"),
        (b"[]", "not an object"),
        (b"1", "not an object"),
        (b"[" * 60_000, "too deep"),
    ],
    ids=lambda value: repr(value)[:10],
)
def test_a_line_that_is_no_object(line: bytes, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        unix_listener.parsed(line)


def test_clients_of_an_agent_are_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ControlServer, "connection_limit", 2)
    loop = EventLoop()
    server = ControlServer(Directory(str(tmp_path)), loop, None, lambda _request, _answer: None)
    clients = [socket.socket(socket.AF_UNIX) for _ in range(3)]
    for client in clients:
        client.connect(str(tmp_path / "agent.sock"))
        loop.turn()
    assert server.clients == 2
    assert clients[2].recv(1) == b""
    clients[0].sendall(b"[" * 60_000 + b"\n")
    loop.turn()
    assert clients[0].recv(1000).startswith(b'{"ok": false')
    for client in clients:
        client.close()
    while server.clients:
        loop.turn()
    server.drain(lambda: None)
