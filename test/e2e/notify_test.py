"""Notifications as people use them: a real server, and a real webhook that fails at first."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from installation import Installation, installed
from patience import until


class Webhook(BaseHTTPRequestHandler):
    """Refuses the first notice, and keeps the others."""

    refused: list[str]
    got: list[dict[str, object]]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        is_first = not Webhook.refused
        if is_first:
            Webhook.refused.append(body["event"])
        else:
            Webhook.got.append({"path": self.path, **body})
        self.send_response(503 if is_first else 200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_args: object) -> None:
        """Be quiet."""


@pytest.fixture
def address() -> Iterator[str]:
    Webhook.refused, Webhook.got = [], []
    with ThreadingHTTPServer(("127.0.0.1", 0), Webhook) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_a_job_that_fails_is_told_once_the_webhook_answers(address: str, tmp_path: Path) -> None:
    with installed(tmp_path / "home") as home:
        home.home.mkdir(mode=0o700, exist_ok=True)
        settings = f"notify: {{team: {{url: '{address}/team', events: [failed]}}}}\n"
        (home.home / "config.yaml").write_text(settings)
        own = ("--notify", f"{address}/own")
        home.run("run", "--name", "broken", *own, "--", "sh", "-c", "exit 7", code=4)
        until(lambda: len(Webhook.got) == 3, "not everything was delivered")
        check(home)


def check(home: Installation) -> None:
    told = sorted((str(each["path"]), str(each["event"])) for each in Webhook.got)
    assert told == [("/own", "failed"), ("/own", "started"), ("/team", "failed")]
    texts = {str(each["text"]) for each in Webhook.got}
    assert texts == {
        "broken started on local",
        "broken failed on local: node-0 exited with 7 (attempt 1 of 1)",
    }
    assert Webhook.refused != []
    shown = home.run("jobs", "show", "broken", "-o", "json") + home.run("jobs", "events", "broken")
    assert "/own" not in shown
    assert home.run("notify", "test") == "team: delivered\n"
    assert Webhook.got[-1]["event"] == "test"
    home.run("run", "--notify", "nobody", "--", "true", code=2)
