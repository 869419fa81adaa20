"""The engine under stress and through faults: kills, lost agents, full queues, taken ports."""

import json
import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from trainway.engine.testing import jobset
from trainway.server.testing import RunningServer

Json = dict[str, Any]
Starts = Callable[[RunningServer], RunningServer]

WAIT_FOR_FILE = "while [ ! -e {} ]; do sleep 0.05; done"


@pytest.fixture
def starts() -> Iterator[Starts]:
    """Starts servers that are cleaned up after the test, however it ends."""
    with ExitStack() as stack:
        yield stack.enter_context


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_200_jobs_at_once_on_a_machine_for_two(tmp_path: Path) -> None:
    capacity = json.dumps({"cpu": "2", "memory": "1Gi", "gpus": 0})
    marks = tmp_path / "marks"
    with RunningServer(tmp_path / "home", env={"TRAINWAY_LOCAL_CAPACITY": capacity}) as server:
        command = f"echo start >> {marks}; echo end >> {marks}"
        for number in range(200):
            server.submit(jobset(f"j{number}", command, requests={"cpu": "1"}))
        phases = Counter(server.wait(f"j{n}")["status"]["phase"] for n in range(200))
        assert phases == {"Succeeded": 200}
    running = highest = 0
    for mark in marks.read_text().split():
        running += 1 if mark == "start" else -1
        highest = max(highest, running)
    assert highest <= 2


def test_20_kills_of_the_server_during_20_jobs_lose_nothing(tmp_path: Path, starts: Starts) -> None:
    marks, go = tmp_path / "marks", tmp_path / "go"
    server = starts(RunningServer(tmp_path / "home"))
    for number in range(20):
        command = f"echo {number} >> {marks}; echo begin; {WAIT_FOR_FILE.format(go)}; echo end"
        server.submit(jobset(f"j{number}", command))
        server.kill()
        server.start()
    go.touch()
    for number in range(20):
        job = server.wait(f"j{number}")
        assert job["status"]["phase"] == "Succeeded", job["status"]
        assert server.lines(f"j{number}") == ["begin", "end"]
        reasons = Counter(
            event["reason"]
            for event in server.request("GET", f"/jobs/j{number}/events").body["items"]
        )
        assert (reasons["Created"], reasons["Succeeded"]) == (1, 1)
        assert reasons["Running"] <= 1
    assert sorted(map(int, marks.read_text().split())) == list(range(20))


def test_a_kill_while_jobs_wait_keeps_their_order(tmp_path: Path, starts: Starts) -> None:
    capacity = json.dumps({"cpu": "1", "memory": "1Gi", "gpus": 0})
    marks, go = tmp_path / "marks", tmp_path / "go"
    server = starts(RunningServer(tmp_path / "home", env={"TRAINWAY_LOCAL_CAPACITY": capacity}))
    for number in range(5):
        command = f"{WAIT_FOR_FILE.format(go)}; echo {number} >> {marks}"
        server.submit(jobset(f"j{number}", command, requests={"cpu": "1"}))
    server.kill()
    server.start()
    go.touch()
    for number in range(5):
        assert server.wait(f"j{number}")["status"]["phase"] == "Succeeded"
    assert marks.read_text().split() == ["0", "1", "2", "3", "4"]


def test_a_cancel_that_a_kill_interrupts_is_done_by_the_next_server(
    tmp_path: Path, starts: Starts
) -> None:
    server = starts(RunningServer(tmp_path))
    server.submit(jobset("stubborn", "trap '' TERM; while :; do sleep 0.1; done"))
    server.wait("stubborn", "Running")
    server.request("POST", "/jobs/stubborn/cancel")
    server.kill()
    server.start()
    assert server.wait("stubborn")["status"]["phase"] == "Cancelled"


def agent_pid(job: Json) -> int:
    return int(json.loads(Path(job["status"]["jobDir"], "agent.json").read_text())["pid"])


def test_a_lost_agent_is_replaced_and_policy_decides(tmp_path: Path) -> None:
    with RunningServer(tmp_path / "home") as server:
        go = tmp_path / "go"
        command = f"echo $TRAINWAY_RESTART_ATTEMPT; {WAIT_FOR_FILE.format(go)}"
        policy = {"failurePolicy": {"maxRestarts": 3}}
        server.submit(jobset("lost", command, spec=policy))
        running = server.wait("lost", "Running")
        os.kill(agent_pid(running), signal.SIGKILL)
        job = server.wait("lost", lambda job: bool(job["status"]["attempt"] == 1))
        go.touch()
        job = server.wait("lost")
        assert (job["status"]["phase"], job["status"]["restarts"]) == ("Succeeded", 1)
        events = server.request("GET", "/jobs/lost/events").body["items"]
        assert "AgentLost" in [event["reason"] for event in events]
        assert server.lines("lost", "?all_attempts=true") == ["0", "1"]


def test_an_agent_lost_while_no_server_ran_is_noticed(tmp_path: Path, starts: Starts) -> None:
    server = starts(RunningServer(tmp_path))
    server.submit(jobset("lost", "sleep 1000"))
    running = server.wait("lost", "Running")
    server.kill()
    os.kill(agent_pid(running), signal.SIGKILL)
    server.start()
    status = server.wait("lost")["status"]
    assert status["phase"] == "Failed"


def test_cancel_of_a_job_whose_agent_is_dead_leaves_no_process(
    tmp_path: Path, starts: Starts
) -> None:
    server = starts(RunningServer(tmp_path))
    policy = {"failurePolicy": {"maxRestarts": 3}}
    server.submit(jobset("lost", "sleep 1000", spec=policy))
    running = server.wait("lost", "Running")
    server.request("POST", "/jobs/lost/cancel")
    os.kill(agent_pid(running), signal.SIGKILL)
    assert server.wait("lost")["status"]["phase"] == "Cancelled"
    left = [pid for pid in marked(running["metadata"]["id"]) if is_running(pid)]
    assert left == []


def marked(job_id: str) -> list[int]:
    """Processes that belong to a job."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            environ = (folder / "environ").read_bytes() if folder.name.isdigit() else b""
        except OSError:
            continue
        if f"TRAINWAY_JOB_ID={job_id}".encode() in environ:
            found.append(int(folder.name))
    return found
