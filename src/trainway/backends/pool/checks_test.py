import json
import socket
import subprocess
import sys
import threading
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from trainway.backends.pool import host_report
from trainway.backends.pool.checks import Answer, check, parsed
from trainway.json_types import Json

HOST: Json = {"name": "a1", "destination": "me@a1", "port": 22, "python": "python3"}
REPORT: Json = {
    "python": [3, 11, 2],
    "cpus": 8,
    "memory": 2**35,
    "disk": 2**40,
    "gpus": 1,
    "mounts": True,
    "ends_sessions": False,
    "unreached": [],
    "home": "/home/me",
    "writable": True,
}


@dataclass(frozen=True)
class Case:
    name: str
    answer: Answer
    ok: bool
    detail: str
    fix: str


GOOD = Answer(0, REPORT)
CASES = [
    Case("all is well", GOOD, True, "Python 3.11.2, 8 CPUs, 32.0 GiB memory, 1 GPU", ""),
    Case(
        "no mounts",
        replace(GOOD, report={**REPORT, "mounts": False, "gpus": 0}),
        True,
        "Python 3.11.2, 8 CPUs, 32.0 GiB memory, 0 GPUs, volumes appear under other paths",
        "allow unprivileged user namespaces there",
    ),
    Case(
        "an old Python",
        replace(GOOD, report={**REPORT, "python": [3, 6, 8]}),
        False,
        "Python 3.6.8 is too old",
        "set `python` to Python 3.8 or later",
    ),
    Case(
        "no Python",
        Answer(127),
        False,
        "there is no python3 on it",
        "install Python 3.8, or set `python`",
    ),
    Case(
        "a home that cannot be written",
        replace(GOOD, report={**REPORT, "writable": False}),
        False,
        "/home/me cannot be written",
        "jobs are kept there: check its permissions",
    ),
    Case(
        "a full disk",
        replace(GOOD, report={**REPORT, "disk": 2**20}),
        False,
        "less than 1 GiB is free in /home/me",
        "make room there",
    ),
    Case(
        "a system that ends what users leave behind",
        replace(GOOD, report={**REPORT, "ends_sessions": True}),
        False,
        "systemd ends what a user has started when the last session ends",
        "let them continue: run loginctl enable-linger on the host",
    ),
    Case(
        "others that it does not reach",
        replace(GOOD, report={**REPORT, "unreached": ["a2", "a3"]}),
        False,
        "it does not reach a2, a3",
        "gangs need it: check the firewall between them, or set `address` of those hosts",
    ),
    Case(
        "an unknown key",
        Answer(255, said=b"Host key verification failed.\r\n"),
        False,
        "its host key is not known here",
        "connect once by hand and compare the key: ssh me@a1",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_host_is_one_line_with_what_to_do(case: Case) -> None:
    found = check(HOST, case.answer)
    assert (found.name, found.ok, found.detail) == ("host a1", case.ok, case.detail)
    assert found.fix == case.fix


def test_the_report_is_found_behind_greetings() -> None:
    assert parsed('Welcome!\n{not json\n{"a": 1}\nbye\n') == {"a": 1}
    assert parsed("Welcome!\n") == {}


def greet(server: socket.socket) -> None:
    connection, _ = server.accept()
    with connection:
        connection.sendall(b"SSH-2.0-x\r\n")


def test_a_host_reports_what_is_looked_at() -> None:
    script = Path(host_report.__file__).read_bytes()
    with socket.create_server(("127.0.0.1", 0)) as there, socket.create_server(("", 0)) as closed:
        peers = [["a", *there.getsockname()], ["b", *closed.getsockname()]]
        closed.close()
        reporter = subprocess.Popen(
            [sys.executable, "-", json.dumps(peers)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        greeter = threading.Thread(target=greet, args=[there])
        greeter.start()
        out, _ = reporter.communicate(script, timeout=60)
        greeter.join()
    report = json.loads(out)
    assert set(report) == set(REPORT)
    assert report["unreached"] == ["b"]
