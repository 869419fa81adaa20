import socket
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from trainway.agent.base.directory import Directory
from trainway.agent.kubelet.status_port import HOST, reserved
from trainway.agent.local import agent as local_agent
from trainway.agent.local.agent import LocalAgent


def agent(folder: Path, port: int, monkeypatch: pytest.MonkeyPatch) -> tuple[LocalAgent, list[str]]:
    """One whose supervisor only notes what it is told, and knocks at the port when it starts."""
    noted: list[str] = []

    class Supervisor:
        def __init__(self, *_: object) -> None:
            self.leave = lambda: None

        def start(self, *_: object, **__: object) -> None:
            try:
                socket.create_connection((HOST, port), timeout=120).close()
                noted.append("connected")
            except OSError as error:
                noted.append(type(error).__name__)

        def tell(self, _type: str, reason: str, message: str) -> None:
            noted.append(f"{reason}: {message}")

    monkeypatch.setattr(local_agent, "Supervisor", Supervisor)
    monkeypatch.setattr(local_agent, "LocalPods", lambda *_: None)
    plan: Any = SimpleNamespace(status={"port": port, "path": "/x"})
    loop: Any = SimpleNamespace(on_signal=lambda *_: None)
    journal: Any = None
    return LocalAgent(plan, Directory(str(folder)), loop, journal, journal), noted


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def test_reports_can_be_sent_before_the_first_process_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, noted = agent(tmp_path, free_port(), monkeypatch)
    made.start()
    assert noted == ["connected"]


def test_a_port_that_is_taken_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket(fileno=reserved(0)) as taken:
        made, noted = agent(tmp_path, int(taken.getsockname()[1]), monkeypatch)
        made.start()
    assert noted[0] == "NoProgress: progress cannot be reported: Address already in use"
