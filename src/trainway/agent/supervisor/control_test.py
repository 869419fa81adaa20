import socket
from pathlib import Path

import pytest

from trainway.agent.base.directory import Directory
from trainway.agent.base.event_loop import EventLoop
from trainway.agent.supervisor.control import ControlServer


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
