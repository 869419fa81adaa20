"""`trainway dashboard`, up to what a browser gets: links, sessions, and a server that is killed."""

import http.client
import json
import os
import signal
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from installation import Installation, installed

WINDOW = {"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate", "Accept": "text/html"}
PAGE = {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors"}


class Browser:
    """As much of one as a session needs."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._cookie = ""

    def get(self, path: str, **headers: str) -> tuple[int, bytes]:
        return self.ask("GET", path, headers or PAGE)

    def ask(self, method: str, path: str, headers: dict[str, str]) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=120)
        try:
            connection.request(method, path, headers={**headers, "Cookie": self._cookie})
            answer = connection.getresponse()
            cookie = answer.getheader("Set-Cookie")
            if cookie:
                self._cookie = cookie.partition(";")[0]
            return answer.status, answer.read()
        finally:
            connection.close()

    def json(self, path: str) -> Any:
        status, body = self.get(path)
        assert status == 200, body
        return json.loads(body)


@pytest.fixture
def trainway(tmp_path: Path) -> Any:
    with installed(tmp_path / "home") as installation:
        yield installation


def test_a_browser_stays_logged_in_when_the_server_is_killed(trainway: Installation) -> None:
    lines = trainway.run("dashboard", "--no-open").splitlines()
    link = urlsplit(lines[0])
    assert len(lines) == 1
    assert link.hostname == "127.0.0.1"
    assert link.port is not None
    browser, other = Browser(link.port), Browser(link.port)
    path = f"{link.path}?{link.query}"
    assert browser.get("/api/v1/jobs")[0] == 401
    assert browser.ask("GET", path, WINDOW)[0] == 303
    assert browser.json("/api/v1/jobs") == {"items": [], "cursor": None}
    assert other.ask("GET", path, WINDOW)[0] == 403

    token = browser.json("/dashboard/session")["csrf"]
    change = "/api/v1/jobs/nothing/cancel"
    assert browser.ask("POST", change, PAGE)[0] == 403
    assert browser.ask("POST", change, {**PAGE, "X-Trainway-CSRF": token})[0] == 404

    os.kill(int(trainway.json("server", "status")["pid"]), signal.SIGKILL)
    trainway.run("jobs", "list")  # which starts the next one
    assert browser.json("/dashboard/session")["csrf"] == token
    again = urlsplit(trainway.run("dashboard", "--no-open").strip())
    assert again.port == link.port

    trainway.run("dashboard", "--revoke")
    assert browser.get("/dashboard/session")[0] == 401
    trainway.run("dashboard", "--revoke", "--port", "8100", code=2)


def test_a_server_of_others_is_opened_with_its_token(
    trainway: Installation, tmp_path: Path
) -> None:
    trainway.run("server", "start", "--listen", "127.0.0.1:0")
    address = json.loads((trainway.home / "server.json").read_text())["listen"]
    token = trainway.run("server", "token", "show").strip()
    variables = {"TRAINWAY_SERVER": f"http://{address}", "TRAINWAY_TOKEN": token}
    visitor = Installation(tmp_path / "visitor", variables)
    link = urlsplit(visitor.run("dashboard", "--no-open").strip())
    assert link.netloc == address
    assert link.port is not None
    browser = Browser(link.port)
    assert browser.ask("GET", f"{link.path}?{link.query}", WINDOW)[0] == 303
    assert browser.json("/api/v1/server")["jobs"] == {"active": 0, "total": 0}
    visitor.run("dashboard", "--no-open", "--port", "8100", code=2)
    trainway.run("server", "token", "rotate")
    assert browser.get("/api/v1/server")[0] == 401
