import contextlib
import http.client
import json
import os
import socket
import ssl
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from cluster.ports import free_port
from patience import PATIENCE_S

from trainway.agent.base.directory import Directory
from trainway.agent.base.event_loop import EventLoop
from trainway.agent.base.progress_report import trainer_status
from trainway.agent.kubelet.status_endpoint import BODY_LIMIT, CONNECTION_LIMIT, StatusEndpoint
from trainway.agent.kubelet.status_port import reserved
from trainway.backends.agents.certificate import new_status_keys
from trainway.json_types import Json

PATH = "/apis/trainer.kubeflow.org/v1alpha1/namespaces/default/trainjobs/demo/status"
STATUS: Json = {
    "progressPercentage": 45,
    "estimatedRemainingSeconds": 120,
    "metrics": [{"name": "loss", "value": "0.15"}],
    "lastUpdatedTime": "2026-01-01T00:00:00Z",
}


class Served:
    """An endpoint in a loop of its own, and a client for it."""

    def __init__(self, folder: Path, listener: int | None = None) -> None:
        keys = new_status_keys("demo", datetime.now(UTC))
        (folder / "crt").write_bytes(keys.certificate)
        (folder / "key").write_bytes(keys.key)
        (folder / "token").write_text(keys.token)
        self.port = free_port()
        settings = {
            "port": self.port, "path": PATH, "certificate": "crt", "key": "key", "token": "token",
        }  # fmt: skip
        self.folder = folder
        self.posts: list[Json] = []
        self.token = keys.token
        self.loop = EventLoop()
        self.endpoint = StatusEndpoint(
            Directory(str(folder)), self.loop, settings, self.posts.append, listener
        )
        self.context = ssl.create_default_context(cafile=folder / "crt")
        self.is_over = False
        self._thread = threading.Thread(target=self._turn)
        self._thread.start()

    def _turn(self) -> None:
        while not self.is_over:
            self.loop.call_later(0.01, lambda: None)
            self.loop.turn()

    def halt(self) -> None:
        """Turn no more; the endpoint stays open."""
        self.is_over = True
        self._thread.join()

    def request(self, status: Json) -> bytes:
        """A report as it is sent."""
        body = json.dumps({"trainerStatus": status}).encode()
        lines = (
            f"POST {PATH} HTTP/1.1", f"Authorization: Bearer {self.token}",
            f"Content-Length: {len(body)}", "", "",
        )  # fmt: skip
        return "\r\n".join(lines).encode() + body

    def close(self) -> None:
        self.halt()
        self.endpoint.close()

    def post(
        self, body: bytes, path: str = PATH, token: str | None = None, method: str = "POST"
    ) -> tuple[int, Json]:
        connection = http.client.HTTPSConnection(
            "127.0.0.1", self.port, context=self.context, timeout=PATIENCE_S
        )
        headers = {"Authorization": f"Bearer {self.token if token is None else token}"}
        try:
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            return response.status, json.loads(response.read())
        finally:
            connection.close()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    made = Served(tmp_path)
    yield made
    made.close()


def test_a_report_is_handed_on_and_echoed(served: Served) -> None:
    body = {"trainerStatus": STATUS}
    assert served.post(json.dumps(body).encode()) == (200, body)
    assert served.posts == [STATUS]


def test_an_empty_report_is_fine_and_says_nothing(served: Served) -> None:
    assert served.post(b"{}") == (200, {})
    assert served.posts == []


def test_refusals(served: Served) -> None:
    good = json.dumps({"trainerStatus": STATUS}).encode()
    status, answer = served.post(good, token="")
    assert status == 403
    assert answer == {
        "metadata": {},
        "status": "Failure",
        "message": "Forbidden",
        "reason": "Forbidden",
        "code": 403,
    }
    assert served.post(good, path="/other")[0] == 404
    assert served.post(good, method="GET")[0] == 405
    assert served.post(b"x" * (BODY_LIMIT + 1))[1]["message"] == "Payload too large"
    assert served.post(b"not json")[1]["message"] == "Invalid payload"
    late = {"trainerStatus": {"progressPercentage": 1}}
    assert served.post(json.dumps(late).encode())[0] == 422
    assert served.posts == []


def test_a_client_that_does_not_speak_tls_harms_nobody(served: Served) -> None:
    with socket.create_connection(("127.0.0.1", served.port), timeout=PATIENCE_S) as plain:
        plain.sendall(b"GET / HTTP/1.1\r\n\r\n")
        with contextlib.suppress(ConnectionResetError):
            plain.recv(1000)
    assert served.post(b"{}")[0] == 200


def test_one_that_is_slow_holds_nobody_up(served: Served) -> None:
    with (
        socket.create_connection(("127.0.0.1", served.port), timeout=PATIENCE_S) as plain,
        served.context.wrap_socket(plain, server_hostname="127.0.0.1") as slow,
    ):
        slow.sendall(b"POST ")
        assert served.post(b"{}")[0] == 200


def test_those_that_say_nothing_make_room_and_one_that_reports_stays(served: Served) -> None:
    request, address = served.request(STATUS), ("127.0.0.1", served.port)
    with contextlib.ExitStack() as opened:
        first = opened.enter_context(socket.create_connection(address, timeout=PATIENCE_S))
        slow = opened.enter_context(served.context.wrap_socket(first, server_hostname="127.0.0.1"))
        slow.sendall(request[:100])
        mute = [
            opened.enter_context(socket.create_connection(address, timeout=PATIENCE_S))
            for _ in range(2 * CONNECTION_LIMIT)
        ]
        assert served.post(b"{}")[0] == 200
        assert mute[0].recv(1) == b""
        slow.sendall(request[100:])
        assert slow.recv(1000).startswith(b"HTTP/1.1 200 OK")
    assert served.posts == [STATUS]


# One that goes between two calls of the kernel leaves its file to the garbage collector.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_those_that_reset_their_connections_harm_nobody(served: Served) -> None:
    for _ in range(100):  # more than may be connected at once
        with socket.create_connection(("127.0.0.1", served.port), timeout=PATIENCE_S) as rude:
            rude.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    assert served.post(b"{}")[0] == 200


@pytest.mark.parametrize("length", ["²", "1" * 5000, "-1", "0x10"], ids=ascii)
def test_a_length_that_is_no_number_harms_nobody(served: Served, length: str) -> None:
    with (
        socket.create_connection(("127.0.0.1", served.port), timeout=PATIENCE_S) as plain,
        served.context.wrap_socket(plain, server_hostname="127.0.0.1") as rude,
    ):
        rude.sendall(f"POST / HTTP/1.1\r\nContent-Length: {length}\r\n\r\n".encode("latin-1"))
        assert rude.recv(1000).startswith(b"HTTP/1.1 404")
    assert served.post(b"{}")[0] == 200


def test_a_report_that_is_nested_too_deep_is_refused(served: Served) -> None:
    status, answer = served.post(b"[" * 60_000)
    assert (status, answer["message"]) == (422, "Invalid payload: it is nested too deep")
    assert served.post(b"{}")[0] == 200


def test_a_job_that_removes_its_own_token_only_loses_its_reports(
    served: Served, tmp_path: Path
) -> None:
    (tmp_path / "token").rename(tmp_path / "kept")
    with pytest.raises((ConnectionError, ssl.SSLError)):
        served.post(b"{}")
    (tmp_path / "kept").rename(tmp_path / "token")
    assert served.post(b"{}")[0] == 200


@pytest.mark.parametrize(
    ("status", "message"),
    [
        ({"progressPercentage": 101}, "0 to 100"),
        ({"metrics": [{"name": "\ud800", "value": "1"}]}, "name of a metric must be text"),
        ({"lastUpdatedTime": "\ud800"}, "lastUpdatedTime must be text"),
        ({"progressPercentage": True}, "0 to 100"),
        ({"progressPercentage": 4.5}, "0 to 100"),
        ({"estimatedRemainingSeconds": -1}, "estimatedRemainingSeconds"),
        ({"metrics": {}}, "a list of at most 256"),
        ({"metrics": [{"name": "a", "value": "1"}] * 257}, "a list of at most 256"),
        ({"metrics": ["loss"]}, "an object with name and value"),
        ({"metrics": [{"name": "loss", "value": 1}]}, "value of a metric"),
        ({"metrics": [{"name": "", "value": "1"}]}, "name of a metric"),
        ({"metrics": [{"name": "x" * 65, "value": "1"}]}, "name of a metric"),
        ({"lastUpdatedTime": None}, "lastUpdatedTime is required"),
        ([], "trainerStatus must be an object"),
    ],
)
def test_what_a_status_may_say(status: Any, message: str) -> None:
    body = {"trainerStatus": STATUS | status if isinstance(status, dict) else status}
    with pytest.raises(ValueError, match=message):
        trainer_status(body)


def test_who_connects_before_anybody_accepts_is_answered(tmp_path: Path) -> None:
    listener = reserved(0)
    with socket.socket(fileno=os.dup(listener)) as named:
        early = socket.create_connection(named.getsockname())
    served = Served(tmp_path, listener)
    try:
        early.settimeout(PATIENCE_S)
        with served.context.wrap_socket(early, server_hostname="127.0.0.1") as client:
            client.sendall(served.request(STATUS))
            assert client.recv(1000).startswith(b"HTTP/1.1 200 OK")
    finally:
        served.close()
    assert served.posts == [STATUS]


def test_the_last_report_counts_though_nobody_waits_for_the_answer(tmp_path: Path) -> None:
    served = Served(tmp_path)
    greeted, halted, sent, over = (threading.Event() for _ in range(4))

    def report() -> None:
        plain = socket.create_connection(("127.0.0.1", served.port), timeout=PATIENCE_S)
        with served.context.wrap_socket(plain, server_hostname="127.0.0.1") as client:
            greeted.set()
            assert halted.wait(PATIENCE_S)
            client.sendall(served.request(STATUS))
            sent.set()
            over.wait(PATIENCE_S)

    sender = threading.Thread(target=report)
    sender.start()
    assert greeted.wait(PATIENCE_S)
    served.halt()
    halted.set()
    assert sent.wait(PATIENCE_S)
    assert served.posts == []
    served.endpoint.close()
    over.set()
    sender.join(PATIENCE_S)
    assert served.posts == [STATUS]


def test_unknown_fields_are_dropped() -> None:
    assert trainer_status({"trainerStatus": STATUS | {"other": 1}}) == STATUS
    assert trainer_status({}) is None
    with pytest.raises(ValueError, match="the body must be an object"):
        trainer_status([])


def reported(script: str, served: Served, **variables: str) -> None:
    """Run a script as a process of a job that reports to the endpoint."""
    folder = served.folder
    variables = {
        "KUBEFLOW_TRAINER_SERVER_URL": f"https://127.0.0.1:{served.port}{PATH}",
        "KUBEFLOW_TRAINER_SERVER_CA_CERT": str(folder / "crt"),
        "KUBEFLOW_TRAINER_SERVER_TOKEN": str(folder / "token"),
        **variables,
    }
    subprocess.run(
        [sys.executable, "-c", f"import trainway\n{script}"],
        env={**os.environ, **variables}, check=True, timeout=PATIENCE_S,
    )  # fmt: skip


def test_all_that_a_process_reports_arrives_before_it_ends(served: Served) -> None:
    reported("for n in range(5): trainway.report(step=n, epoch=n / 4, loss=1 / (n + 1))", served)
    sent = [{pair["name"]: pair["value"] for pair in post["metrics"]} for post in served.posts]
    assert [pairs["step"] for pairs in sent] == [str(number) for number in range(5)]
    assert sent[1] == {"step": "1", "epoch": "0.25", "loss": "0.5"}


def test_only_rank_0_reports_unless_a_series_is_for_all(served: Served) -> None:
    script = "trainway.report(loss=1); trainway.report(memory=2, all_ranks=True)"
    reported(script, served, RANK="3")
    assert [post["metrics"] for post in served.posts] == [[{"name": "memory@3", "value": "2"}]]


def test_a_forked_process_reports_too(served: Served) -> None:
    script = "import os; trainway.report(a=1); p = os.fork(); trainway.report(b=2); p and os.wait()"
    reported(script, served)
    names = sorted(post["metrics"][0]["name"] for post in served.posts)
    assert names == ["a", "b", "b"]


def test_training_goes_on_where_nobody_takes_reports(tmp_path: Path) -> None:
    served = Served(tmp_path)
    served.halt()  # it listens and does not answer
    try:
        began = time.monotonic()
        reported("for n in range(3_000): trainway.report(loss=n, bad=object())", served)
        assert time.monotonic() - began < PATIENCE_S / 2
    finally:
        served.endpoint.close()
