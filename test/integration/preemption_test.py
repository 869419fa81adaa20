"""Preemption with real processes, a real server, and a kill of it in the middle."""

import json
import time
from pathlib import Path

import pytest

from trainway.engine.testing import WAIT_FOR_FILE, jobset
from trainway.json_types import Json
from trainway.server.testing import LIMIT_S, RunningServer, Starts

CAPACITY = json.dumps({"cpu": "2", "memory": "1Gi", "gpus": 0})
QUEUE: Json = {
    "apiVersion": "trainway.dev/v1",
    "kind": "Queue",
    "metadata": {"name": "default"},
    "spec": {"preemption": "Any", "gracePeriodSeconds": 60},
}


def low_job(marks: Path, saved: Path) -> Json:
    """Two pods that on SIGTERM go on until a file is there, and then say that they have saved."""
    ending = f"{WAIT_FOR_FILE.format(saved)}; echo saved >> {marks}; exit 0"
    command = f"trap '{ending}' TERM; echo begin >> {marks}; while :; do sleep 0.05; done"
    job = jobset("low", command, pods=2, requests={"cpu": "1"})
    (role,) = job["spec"]["replicatedJobs"]
    del role["template"]["spec"]["template"]["spec"]["terminationGracePeriodSeconds"]
    return job


def until_marked(marks: Path, lines: list[str]) -> None:
    deadline = time.monotonic() + LIMIT_S
    while not marks.exists() or marks.read_text().split() != lines:
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize("is_killed", [False, True], ids=["", "with a kill"])
def test_who_makes_room_has_its_grace_period_and_goes_on(
    tmp_path: Path, starts: Starts, is_killed: bool
) -> None:
    marks, saved = tmp_path / "marks", tmp_path / "saved"
    server = starts(RunningServer(tmp_path / "home", env={"TRAINWAY_LOCAL_CAPACITY": CAPACITY}))
    assert server.request("PUT", "/queues/default", QUEUE).status == 200
    server.submit(low_job(marks, saved), priority=-1)
    server.wait("low", "Running")
    until_marked(marks, ["begin", "begin"])
    server.submit(jobset("high", f"echo high >> {marks}", requests={"cpu": "2"}))
    told = server.request("GET", "/jobs/high").body["status"]
    assert (told["phase"], told["reason"]) == ("Queued", "Preempting")
    if is_killed:
        server.kill()
        server.start()
    saved.touch()
    assert server.wait("high")["status"]["phase"] == "Succeeded"
    server.wait("low", "Running")
    lines = marks.read_text().split()
    assert lines[:5] == ["begin", "begin", "saved", "saved", "high"]
    events = server.request("GET", "/jobs/low/events").body["items"]
    assert [event["reason"] for event in events].count("Preempting") == 1
