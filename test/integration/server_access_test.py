"""Who gets in to a server that listens over TCP, and what it costs when somebody only tries."""

import http.client
import json
import resource
import socket
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cluster.ports import free_port

from trainway.engine.testing import WAIT_FOR_FILE, jobset
from trainway.errors import TrainwayError
from trainway.sdk import Client
from trainway.server.testing import LIMIT_S, RunningServer

DESCRIPTORS = 400
"""Of the server, so that few connections are many."""


class TcpServer(RunningServer):
    """A server that listens on loopback too."""

    def __init__(self, home: Path, *options: str) -> None:
        self.port = free_port()
        super().__init__(home, "--listen", f"127.0.0.1:{self.port}", *options)

    def ask(
        self, method: str, path: str, token: str = "", headers: dict[str, str] | None = None
    ) -> tuple[int, bytes]:
        """The answer over TCP."""
        shown = {"Authorization": f"Bearer {token}"} if token else {}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LIMIT_S)
        try:
            connection.request(method, f"/api/v1{path}", headers={**shown, **(headers or {})})
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def token(self) -> str:
        """What it wants to be shown."""
        return (self.home / "token").read_text().strip()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TcpServer]:
    with TcpServer(tmp_path_factory.mktemp("home")) as running:
        yield running


def test_the_token_of_a_server_is_for_its_owner_alone(server: TcpServer) -> None:
    assert stat.S_IMODE((server.home / "token").stat().st_mode) == 0o600
    assert len(server.token()) >= 32
    assert server.ask("GET", "/jobs", server.token())[0] == 200
    assert server.ask("GET", "/jobs", server.token() + "x")[0] == 401
    assert server.token() not in (server.home / "server.log").read_text()


def test_without_the_token_every_route_but_health_is_closed(server: TcpServer) -> None:
    paths: dict[str, Any] = server.request("GET", "/openapi.json").body["paths"]
    routes = [
        (method.upper(), path.removeprefix("/api/v1")) for path in paths for method in paths[path]
    ]
    assert len(routes) > 30
    routes += [("GET", "/openapi.json"), ("GET", "/docs"), ("GET", "/nowhere")]
    answers = {(method, path): server.ask(method, path)[0] for method, path in routes}
    assert answers.pop(("GET", "/health")) == 200
    assert set(answers.values()) == {401}, answers


def test_pages_of_others_are_refused_whatever_they_know(server: TcpServer) -> None:
    for method, path in (("GET", "/jobs"), ("POST", "/jobs"), ("GET", "/health")):
        status, _ = server.ask(method, path, server.token(), {"Sec-Fetch-Site": "cross-site"})
        assert status == 403


def test_the_page_about_the_api_loads_nothing(server: TcpServer) -> None:
    status, body = server.ask("GET", "/docs", server.token())
    page = body.decode()
    assert status == 200
    assert "/api/v1/jobs/{ref}/logs" in page
    assert "http://" not in page
    assert "https://" not in page
    assert "<script" not in page


def test_looking_at_backends_runs_nothing(server: TcpServer, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    plugin = {"apiVersion": "client.authentication.k8s.io/v1", "command": "touch"}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}],
        "users": [{"name": "u", "user": {"exec": {**plugin, "args": [str(ran)]}}}],
    }
    path = tmp_path / "kubeconfig"
    path.write_text(json.dumps(config))
    status, _ = server.ask("GET", f"/backends?kubeconfig={path}&deep=true", server.token())
    assert status == 200
    assert not ran.exists()
    assert server.request("POST", "/backends/check", {"kubeconfig": [str(path)]}).status == 200
    assert ran.exists()


def test_the_owners_programs_find_the_token(
    server: TcpServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("TRAINWAY_TOKEN", raising=False)
    monkeypatch.setenv("TRAINWAY_SERVER", f"http://localhost:{server.port}")
    monkeypatch.setenv("TRAINWAY_HOME", str(tmp_path))
    with pytest.raises(TrainwayError, match="the server requires a token"):
        Client().jobs()
    monkeypatch.setenv("TRAINWAY_HOME", str(server.home))
    Client().jobs()


def test_a_new_token_cuts_off_whoever_has_the_old_one(server: TcpServer, tmp_path: Path) -> None:
    go = tmp_path / "go"
    server.submit(jobset("talks", f"echo one; {WAIT_FOR_FILE.format(go)}; echo two"))
    old = server.token()
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=LIMIT_S)
    headers = {"Authorization": f"Bearer {old}"}
    connection.request("GET", "/api/v1/jobs/talks/logs?follow=true", headers=headers)
    stream = connection.getresponse()
    while b'"text": "one"' not in stream.readline():
        pass
    new = server.request("POST", "/server/token").body["token"]
    assert new == server.token() != old
    go.touch()
    with pytest.raises((http.client.IncompleteRead, ConnectionResetError)):
        assert b"two" not in stream.read()
    connection.close()
    assert server.ask("GET", "/jobs", old)[0] == 401
    assert server.ask("GET", "/jobs", new)[0] == 200


def test_a_token_of_the_owners_is_the_owners_to_change(tmp_path: Path) -> None:
    file = tmp_path / "mine"
    file.write_text("first")
    with TcpServer(tmp_path / "home", "--token-file", str(file)) as server:
        assert server.ask("GET", "/jobs", "first")[0] == 200
        status, error = server.error("POST", "/server/token")
        assert (status, error["code"]) == (409, "conflict")
        assert str(file) in error["message"]
        file.write_text("the second")
        assert server.ask("GET", "/jobs", "first")[0] == 401
        assert server.ask("GET", "/jobs", "the second")[0] == 200
        assert not (server.home / "token").exists()


def test_connections_that_say_nothing_starve_nobody(tmp_path: Path) -> None:
    server = TcpServer(tmp_path / "home")
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with server:
        assert server.process is not None
        resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (DESCRIPTORS, most))
        held = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(300)]
        try:
            assert server.request("GET", "/jobs").status == 200
            assert server.ask("GET", "/jobs", server.token())[0] == 200
            assert len(list(Path(f"/proc/{server.process.pid}/fd").iterdir())) < DESCRIPTORS // 2
        finally:
            for connection in held:
                connection.close()
        assert (server.home / "server.log").stat().st_size < 100_000


def test_a_body_that_would_fill_the_memory_is_refused(server: TcpServer) -> None:
    pieces = [b" " * (1 << 20)] * 129
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=LIMIT_S)
    headers = {"Authorization": f"Bearer {server.token()}"}
    connection.request("POST", "/api/v1/jobs", iter(pieces), headers, encode_chunked=True)
    answer = connection.getresponse()
    error = json.loads(answer.read())["error"]
    connection.close()
    assert (answer.status, error["code"]) == (413, "usage")
    assert error["message"] == "the body of a request may have at most 134217728 bytes"
