"""Preemption with real processes, a real server, and a kill of it in the middle."""

import json
import time
from pathlib import Path

import pytest

from trainway.engine.testing import WAIT_FOR_FILE, jobset
from trainway.jobset.labels import MIN_NODES
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


def elastic_job(marks: Path) -> Json:
    """Three nodes that can do with one, and say that they begin and end."""
    ending = f"echo end-$JOB_COMPLETION_INDEX >> {marks}; exit 0"
    begin = f"echo begin-$JOB_COMPLETION_INDEX >> {marks}"
    command = f"trap '{ending}' TERM; {begin}; while :; do sleep 0.05; done"
    job = jobset("low", command, pods=3, job={"completionMode": "Indexed"}, requests={"cpu": "1"})
    (role,) = job["spec"]["replicatedJobs"]
    role["template"]["metadata"] = {"annotations": {MIN_NODES: "1"}}
    return job


@pytest.mark.parametrize("is_killed", [False, True], ids=["", "with a kill"])
def test_an_elastic_job_gives_up_nodes_and_gets_them_back(
    tmp_path: Path, starts: Starts, is_killed: bool
) -> None:
    marks, over = tmp_path / "marks", tmp_path / "over"
    capacity = json.dumps({"cpu": "3", "memory": "1Gi", "gpus": 0})
    server = starts(RunningServer(tmp_path / "home", env={"TRAINWAY_LOCAL_CAPACITY": capacity}))
    assert server.request("PUT", "/queues/default", QUEUE).status == 200
    server.submit(elastic_job(marks), priority=-1)
    server.wait("low", "Running")
    until_sorted(marks, ["begin-0", "begin-1", "begin-2"])
    server.submit(jobset("high", WAIT_FOR_FILE.format(over), requests={"cpu": "2"}))
    if is_killed:
        server.kill()
        server.start()
    server.wait("high", "Running")
    ended = ["begin-0", "begin-1", "begin-2", "end-1", "end-2"]
    until_sorted(marks, ended)
    over.touch()
    assert server.wait("high")["status"]["phase"] == "Succeeded"
    until_sorted(marks, sorted([*ended, "begin-1", "begin-2"]))
    low = server.request("GET", "/jobs/low").body["status"]
    assert (low["phase"], low["restarts"]) == ("Running", 0)
    all_three, one = "runs with 3 of 3 nodes", "runs with 1 of 3 nodes"
    deadline = time.monotonic() + LIMIT_S
    while sizes(server) != [all_three, one, all_three]:
        assert time.monotonic() < deadline, sizes(server)
        time.sleep(0.01)


def sizes(server: RunningServer) -> list[str]:
    events = server.request("GET", "/jobs/low/events").body["items"]
    return [event["message"] for event in events if event["reason"] == "NodesChanged"]


def until_sorted(marks: Path, lines: list[str]) -> None:
    deadline = time.monotonic() + LIMIT_S
    while not marks.exists() or sorted(marks.read_text().split()) != lines:
        assert time.monotonic() < deadline, marks.read_text()
        time.sleep(0.01)
