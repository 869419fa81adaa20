import signal
import subprocess
import sys
from typing import Any

from trainway.agent.kubelet import process_tree
from trainway.agent.kubelet.container_tool import ContainerTool
from trainway.agent.supervisor.recovery import LostPod, Remembered, purge
from trainway.json_types import Json


def pod(uid: str, phase: str, **more: Any) -> Json:
    containers = more.pop("containers", [])
    fields = {"pod": f"node-0-{uid}", "job": "js-node-0", "slot": 3, "uid": uid, "phase": phase}
    return {"type": "pod", **fields, "containers": containers, **more}


def job(**state: Any) -> Json:
    return {"type": "job", "job": "js-node-0", "state": {"role": "node", **state}}


def test_pods_that_a_job_has_counted_are_forgotten() -> None:
    remembered = Remembered(
        [
            pod("1", "Pending"),
            pod("2", "Running"),
            pod("1", "Succeeded"),
            job(succeeded=1),
            pod("3", "Pending"),
            pod("2", "Failed"),
        ]
    )
    assert remembered.jobs == {"js-node-0": {"role": "node", "succeeded": 1}}
    phases = {uid: record["phase"] for uid, record in remembered.pods["js-node-0"].items()}
    assert phases == {"2": "Failed", "3": "Pending"}


def test_deleted_jobs_are_forgotten_with_their_pods() -> None:
    gone = {"type": "job", "job": "js-node-0", "gone": True}
    remembered = Remembered([job(), pod("1", "Running"), gone])
    assert (remembered.jobs, remembered.pods) == ({}, {})


def test_the_last_status_counts() -> None:
    first = {"type": "status", "jobset": {"restarts": 0}, "suspend": True}
    second = {"type": "status", "jobset": {"restarts": 1}, "suspend": False}
    remembered = Remembered([first, second])
    assert remembered.status == {"restarts": 1}
    assert (remembered.suspend, remembered.ended) == (False, False)
    assert Remembered([{"type": "end"}]).ended


def test_a_pod_that_ran_is_lost() -> None:
    running = {"name": "main", "state": "running", "pid": 5, "ready": True, "restarts": 0}
    lost = LostPod(pod("1", "Running", containers=[running]), indexed=True, now=7.0)
    status = lost.status()
    assert (status.phase, status.disrupted, status.index) == ("Failed", True, 3)
    assert (status.exit_codes, status.finished_at) == ([], 7.0)
    assert lost.record["reason"] == "AgentLost"
    assert lost.record["containers"] == [
        {
            "name": "main",
            "state": "terminated",
            "restarts": 0,
            "exitCode": 137,
            "reason": "AgentLost",
        }
    ]


def test_a_pod_that_had_ended_is_what_it_was() -> None:
    ended = {"name": "main", "state": "terminated", "exitCode": 3}
    lost = LostPod(pod("1", "Failed", containers=[ended]), indexed=False, now=7.0)
    status = lost.status()
    assert (status.phase, status.disrupted, status.index) == ("Failed", False, None)
    assert status.exit_codes == [("main", 3)]


def test_a_pod_that_its_agent_stopped_did_not_succeed() -> None:
    ended = {"name": "main", "state": "terminated", "exitCode": 0}
    record = pod("1", "Failed", containers=[ended], reason="AgentLost")
    assert LostPod(record, indexed=True, now=7.0).status().disrupted


def test_what_looks_after_a_container_is_found_by_its_name() -> None:
    script = "print(flush=True); input()"
    words = [sys.executable, "-c", script, "conmon", "-n", "trainway-job1-node-0-0-main-x"]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe) as monitor:
        assert monitor.stdout is not None
        monitor.stdout.readline()  # by now the kernel shows its words
        assert process_tree.container_monitors("job1") == [monitor.pid]
        assert process_tree.container_monitors("job") == []
        tool = ContainerTool({"program": "/nowhere/podman"})
        assert "/nowhere/podman" in purge(tool, "job1", {})
        assert monitor.wait(60) == -signal.SIGKILL


def test_pods_of_kubernetes_are_nobodys_to_look_after() -> None:
    remembered = Remembered([{"type": "pod", "pod": "node-0-0", "phase": "Running"}])
    assert remembered.pods == {}
