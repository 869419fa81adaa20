"""The engine under stress and through faults: kills, lost agents, full queues, taken ports."""

import json
import os
import signal
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from trainway.engine.testing import WAIT_FOR_FILE, jobset
from trainway.json_types import Json
from trainway.server.testing import LIMIT_S, RunningServer, Starts


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


@pytest.mark.parametrize("count", [40, pytest.param(200, marks=pytest.mark.stress)])
def test_many_jobs_at_once_on_a_machine_for_two(tmp_path: Path, count: int) -> None:
    capacity = json.dumps({"cpu": "2", "memory": "1Gi", "gpus": 0})
    marks = tmp_path / "marks"
    with RunningServer(tmp_path / "home", env={"TRAINWAY_LOCAL_CAPACITY": capacity}) as server:
        command = f"echo start >> {marks}; echo end >> {marks}"
        for number in range(count):
            server.submit(jobset(f"j{number}", command, requests={"cpu": "1"}))
        phases = Counter(server.wait(f"j{n}")["status"]["phase"] for n in range(count))
        assert phases == {"Succeeded": count}
    running = highest = 0
    for mark in marks.read_text().split():
        running += 1 if mark == "start" else -1
        highest = max(highest, running)
    assert highest <= 2


@pytest.mark.parametrize("kills", [4, pytest.param(20, marks=pytest.mark.stress)])
def test_kills_of_the_server_during_many_jobs_lose_nothing(
    tmp_path: Path, starts: Starts, kills: int
) -> None:
    marks, go = tmp_path / "marks", tmp_path / "go"
    server = starts(RunningServer(tmp_path / "home"))
    for number in range(kills):
        command = f"echo {number} >> {marks}; echo begin; {WAIT_FOR_FILE.format(go)}; echo end"
        server.submit(jobset(f"j{number}", command))
        server.kill()
        server.start()
    go.touch()
    for number in range(kills):
        job = server.wait(f"j{number}")
        assert job["status"]["phase"] == "Succeeded", job["status"]
        assert server.lines(f"j{number}") == ["begin", "end"]
        reasons = Counter(
            event["reason"]
            for event in server.request("GET", f"/jobs/j{number}/events").body["items"]
        )
        assert (reasons["Created"], reasons["Succeeded"]) == (1, 1)
        assert reasons["Running"] <= 1
    assert sorted(map(int, marks.read_text().split())) == list(range(kills))


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


def test_a_lost_database_loses_no_running_job(tmp_path: Path, starts: Starts) -> None:
    go = tmp_path / "go"
    server = starts(RunningServer(tmp_path / "home"))
    server.submit(jobset("lost", f"echo one; {WAIT_FOR_FILE.format(go)}; echo two"))
    server.wait("lost", "Running")
    server.kill()
    for file in server.home.glob("trainway.db*"):
        file.unlink()
    broken = server.home / "jobs" / "broken"
    broken.mkdir()
    (broken / "plan.json").write_text('{"id": "broken"}')
    server.start()
    assert [job["metadata"]["name"] for job in server.jobs()] == ["lost"]
    go.touch()
    assert server.wait("lost")["status"]["phase"] == "Succeeded"
    assert server.lines("lost") == ["one", "two"]


def agent_pid(job: Json) -> int:
    return int(json.loads(Path(job["status"]["jobDir"], "agent.json").read_text())["pid"])


def test_a_lost_agent_is_replaced_and_policy_decides(tmp_path: Path) -> None:
    with RunningServer(tmp_path / "home") as server:
        go = tmp_path / "go"
        command = f"echo $TRAINWAY_RESTART_ATTEMPT; {WAIT_FOR_FILE.format(go)}"
        policy = {"failurePolicy": {"maxRestarts": 3}}
        server.submit(jobset("lost", command, spec=policy))
        running = server.wait("lost", "Running")
        assert next(server.stream("/jobs/lost/logs?follow=true")).data["text"] == "0"
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


def test_cancel_of_a_job_whose_agent_is_dead_leaves_and_starts_no_process(
    tmp_path: Path, starts: Starts
) -> None:
    server = starts(RunningServer(tmp_path / "home"))
    marks = tmp_path / "marks"
    policy = {"failurePolicy": {"maxRestarts": 3}}
    command = f"trap '' TERM; echo x >> {marks}; echo here; while :; do sleep 0.1; done"
    server.submit(jobset("lost", command, spec=policy))
    running = server.wait("lost", "Running")
    next(server.stream("/jobs/lost/logs?follow=true"))
    server.request("POST", "/jobs/lost/cancel")
    os.kill(agent_pid(running), signal.SIGKILL)
    assert server.wait("lost")["status"]["phase"] == "Cancelled"
    left = [pid for pid in marked(running["metadata"]["id"]) if is_running(pid)]
    assert left == []
    assert marks.read_text() == "x\n"


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


def test_a_gang_that_can_never_fit_is_refused_with_the_numbers(server: RunningServer) -> None:
    large = jobset("large", requests={"cpu": "3", "nvidia.com/gpu": 2}, pods=2)
    status, error = server.error("POST", "/jobs", {"objects": [large]})
    assert (status, error["code"]) == (422, "inadmissible")
    assert error["message"] == (
        "large can never start: it needs 6 CPUs, and there are 4; 4 GPUs, and there are 2"
    )
    server.submit(large, oversubscribe=True)
    assert server.wait("large")["status"]["phase"] == "Succeeded"


def test_pods_get_gpus_of_their_own(server: RunningServer) -> None:
    command = "echo $CUDA_VISIBLE_DEVICES,$HIP_VISIBLE_DEVICES"
    chosen = {"CUDA_VISIBLE_DEVICES": "7", "HIP_VISIBLE_DEVICES": "7", "PATH": os.environ["PATH"]}
    job = jobset("gpus", command, pods=2, requests={"nvidia.com/gpu": 1})
    server.submit(job, environ=chosen)
    server.wait("gpus")
    assert sorted(server.lines("gpus")) == ["0,", "1,"]
    server.submit(jobset("none", command), environ=chosen)
    server.wait("none")
    assert server.lines("none") == ["7,7"]


def test_a_gang_waits_until_all_of_it_fits(server: RunningServer, tmp_path: Path) -> None:
    go = tmp_path / "go"
    first = server.submit(jobset("first", WAIT_FOR_FILE.format(go), requests={"cpu": "3"}))
    server.wait("first", "Running")
    second = server.submit(jobset("second", requests={"cpu": "2"}))["status"]
    assert (second["phase"], second["queuePosition"]) == ("Queued", 1)
    assert second["message"] == (
        "needs 2 CPUs, 1 free; first holds 3 CPUs (to free that: trainway jobs cancel "
        f"{first['metadata']['id']})"
    )
    third = server.submit(jobset("third", requests={"cpu": "1"}))["status"]
    assert (third["phase"], third["queuePosition"]) == ("Queued", 2)
    assert third["message"] == "waits for its turn, after second"
    urgent = server.submit(jobset("urgent", requests={"cpu": "1"}), priority=5)["status"]
    assert urgent["phase"] == "Starting"
    free = server.request("POST", "/backends/check", {}).body["items"][0]["capacity"]
    assert free["total"] == {"cpu": "4", "memory": "8Gi", "gpus": ["0", "1"]}
    go.touch()
    jobs = [server.wait(name) for name in ("first", "second", "third", "urgent")]
    assert {job["status"]["phase"] for job in jobs} == {"Succeeded"}


def test_a_waiting_job_can_be_cancelled_suspended_and_resumed(
    server: RunningServer, tmp_path: Path
) -> None:
    go = tmp_path / "go"
    server.submit(jobset("holder", WAIT_FOR_FILE.format(go), requests={"cpu": "4"}))
    server.submit(jobset("doomed", requests={"cpu": "1"}))
    server.submit(jobset("patient", requests={"cpu": "1"}))
    assert server.request("POST", "/jobs/doomed/cancel").body["status"]["phase"] == "Cancelled"
    assert server.request("POST", "/jobs/patient/suspend").body["status"]["phase"] == "Paused"
    go.touch()
    server.wait("holder")
    assert server.get("patient")["status"]["phase"] == "Paused"
    server.request("POST", "/jobs/patient/resume")
    assert server.wait("patient")["status"]["phase"] == "Succeeded"
    status, error = server.error("POST", "/jobs/doomed/cancel")
    assert (status, error["code"]) == (409, "conflict")


def test_suspend_frees_what_a_job_holds_and_resume_asks_for_it_again(
    server: RunningServer, tmp_path: Path
) -> None:
    go = tmp_path / "go"
    server.submit(jobset("big", WAIT_FOR_FILE.format(go), requests={"cpu": "4"}))
    server.wait("big", "Running")
    server.submit(jobset("other", WAIT_FOR_FILE.format(go), requests={"cpu": "4"}))
    server.request("POST", "/jobs/big/suspend")
    server.wait("big", "Paused")
    server.wait("other", "Running")
    resumed = server.request("POST", "/jobs/big/resume").body["status"]
    assert resumed["phase"] == "Queued"
    assert resumed["message"].startswith("needs 4 CPUs, 0 free; other holds 4 CPUs (to free that: ")
    go.touch()
    for name in ("other", "big"):
        assert server.wait(name)["status"]["phase"] == "Succeeded"


def test_cancel_leaves_no_process(server: RunningServer) -> None:
    server.submit(jobset("stubborn", "trap '' TERM; sleep 1000 & echo $!; wait"))
    started = next(server.stream("/jobs/stubborn/logs?follow=true"))
    assert server.request("POST", "/jobs/stubborn/cancel").body["status"]["phase"] == "Stopping"
    assert server.wait("stubborn")["status"]["phase"] == "Cancelled"
    assert not is_running(int(started.data["text"]))


def test_files_go_when_the_time_is_over_and_history_stays(server: RunningServer) -> None:
    job = server.submit(jobset("brief", "echo hi", spec={"ttlSecondsAfterFinished": 0}))
    reasons = []
    server.wait("brief")
    deadline = time.monotonic() + LIMIT_S
    while "Expired" not in reasons and time.monotonic() < deadline:
        time.sleep(0.05)
        events = server.request("GET", "/jobs/brief/events").body["items"]
        reasons = [event["reason"] for event in events]
    assert "Expired" in reasons
    assert not (server.home / "jobs" / job["metadata"]["id"]).exists()
    status = server.get("brief")["status"]
    assert (status["phase"], status["jobDir"]) == ("Succeeded", None)
    assert "were removed" in server.error("GET", "/jobs/brief/logs")[1]["message"]


def test_a_trainjob_and_its_deadline(server: RunningServer) -> None:
    runtime = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainingRuntime",
        "metadata": {"name": "mine", "namespace": "default"},
        "spec": {
            "mlPolicy": {"numNodes": 1, "torch": {}},
            "template": {"spec": {"replicatedJobs": [trainer_role()]}},
        },
    }
    job: Json = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": "train", "namespace": "default"},
        "spec": {
            "runtimeRef": {"name": "mine", "kind": "TrainingRuntime"},
            "trainer": {
                "numNodes": 2,
                "command": ["sh", "-c", "echo $PET_MASTER_ADDR $PET_NNODES $PET_NODE_RANK"],
            },
        },
    }
    server.submit(runtime, job)
    done = server.wait("train")
    assert (done["spec"]["kind"], done["status"]["phase"]) == ("TrainJob", "Succeeded")
    assert sorted(server.lines("train")) == ["127.0.0.1 2 0", "127.0.0.1 2 1"]
    job["metadata"]["name"] = "late"
    job["spec"] |= {"activeDeadlineSeconds": 1}
    job["spec"]["trainer"]["command"] = ["sleep", "1000"]
    server.submit(runtime, job)
    status = server.wait("late")["status"]
    assert (status["phase"], status["reason"]) == ("Failed", "DeadlineExceeded")


def trainer_role() -> Json:
    label = {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}
    pod = {"restartPolicy": "Never", "containers": [{"name": "node", "image": "torch"}]}
    spec = {"backoffLimit": 0, "template": {"spec": pod}}
    return {"name": "node", "template": {"metadata": {"labels": label}, "spec": spec}}


REPORT = """
import json, os, ssl, urllib.request
status = {"progressPercentage": 45, "estimatedRemainingSeconds": 120,
          "metrics": [{"name": "loss", "value": "0.15"}],
          "lastUpdatedTime": "2026-01-01T00:00:00Z"}
token = open(os.environ["KUBEFLOW_TRAINER_SERVER_TOKEN"]).read()
context = ssl.create_default_context(cafile=os.environ["KUBEFLOW_TRAINER_SERVER_CA_CERT"])
request = urllib.request.Request(
    os.environ["KUBEFLOW_TRAINER_SERVER_URL"],
    json.dumps({"trainerStatus": status}).encode(),
    {"Authorization": "Bearer " + token, "Content-Type": "application/json"})
with urllib.request.urlopen(request, context=context, timeout=120) as answer:
    print(answer.status)
"""


def test_training_code_reports_its_progress_to_its_agent(
    server: RunningServer, tmp_path: Path
) -> None:
    script, go = tmp_path / "report.py", tmp_path / "go"
    script.write_text(REPORT)
    command = f"{sys.executable} {script}; {WAIT_FOR_FILE.format(go)}"
    server.submit(jobset("reports", command))
    job = server.wait("reports", lambda job: bool(job["status"]["progress"]))
    assert job["status"]["progress"]["progressPercentage"] == 45
    assert job["status"]["progress"]["metrics"] == [{"name": "loss", "value": "0.15"}]
    go.touch()
    assert server.wait("reports")["status"]["progress"]["estimatedRemainingSeconds"] == 120
    assert server.lines("reports") == ["200"]
