"""The life of a job in a real cluster, as its owner sees it from the command line."""

import json
import os
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from cluster.access import REPOSITORY, Access
from cluster.identities import CONTEXT
from cluster.images import BUSYBOX
from cluster.processes import wait_until
from installation import Installation, kill
from node_operator import NodeOperator, shell_runtime, trainjob
from shell_jobsets import FOREVER, GATED, ShellJobSet

from trainway.json_types import Json

PATIENCE_S: Final = 120.0
ALL_KINDS: Final = "jobsets,jobs,pods,services,configmaps,secrets"
JOB_ID: Final = "trainway.dev/job-id"


@pytest.fixture
def gate(tmp_path: Path) -> Path:
    folder = tmp_path / "gate"
    folder.mkdir()
    folder.chmod(0o777)
    return folder


@pytest.fixture(params=["jobset", "jobs"])
def form(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def submitted(
    home: Installation, namespace: str, folder: Path, manifest: Json | list[Json], *words: str
) -> str:
    items = manifest if isinstance(manifest, list) else [manifest]
    file = folder / "job.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    return home.submit(str(file), "--on", f"k8s/{CONTEXT}/{namespace}", *words)


def jobset(name: str, script: str, form: str, **more: Any) -> Json:
    made = ShellJobSet(name, script, **more).manifest()
    made["metadata"]["annotations"] = {"trainway.dev/kubernetes-form": form}
    return made


def comes_to(home: Installation, job: str, phase: str) -> Json:
    def is_there() -> bool:
        return bool(home.look(job)["status"]["phase"] == phase)

    assert wait_until(is_there, PATIENCE_S), home.run("jobs", "show", job, "-o", "yaml")
    return home.job(job)


def uses_memory(home: Installation, job: str) -> bool:
    """Whether its node shows what the kubelet says of its pod."""
    (node,) = home.look(job)["status"]["nodes"]
    return bool((node.get("usage") or {}).get("memory"))


def left(cluster: Access, namespace: str) -> list[str]:
    """What is in the namespace beside what every namespace has."""
    items = cluster.get(ALL_KINDS, "-n", namespace)["items"]
    names = [f"{item['kind']}/{item['metadata']['name']}" for item in items]
    return [name for name in names if name != "ConfigMap/kube-root-ca.crt"]


def test_it_is_suspended_resumed_and_ends(
    home: Installation, node_cluster: Access, namespace: str, tmp_path: Path, gate: Path, form: str
) -> None:
    job = submitted(
        home, namespace, tmp_path, jobset("life", GATED, form, pods=2, gate=gate, suspend=True)
    )
    comes_to(home, job, "Paused")
    home.run("jobs", "resume", job)
    shown = comes_to(home, job, "Running")
    assert [node["role"] for node in shown["status"]["nodes"]] == ["node", "node"]
    home.run("jobs", "suspend", job)
    comes_to(home, job, "Paused")
    assert wait_until(lambda: not node_cluster.get("pods", "-n", namespace)["items"], PATIENCE_S)
    home.run("jobs", "resume", job)
    comes_to(home, job, "Running")
    (gate / "open").touch()
    home.run("jobs", "wait", job)
    status = home.job(job)["status"]
    assert (status["phase"], status["reason"], status["exitCode"]) == (
        "Succeeded",
        "AllJobsCompleted",
        0,
    )
    assert [node["exitCode"] for node in status["nodes"]] == [0, 0]
    if form == "jobset":
        theirs = node_cluster.get("jobset", "life", "-n", namespace)["status"]
        assert status["jobSet"] == theirs
    home.run("jobs", "delete", job)
    assert wait_until(lambda: not left(node_cluster, namespace), PATIENCE_S)


def test_a_failed_pod_tells_its_exit_status(
    home: Installation, namespace: str, tmp_path: Path, gate: Path, form: str
) -> None:
    script = f"[ $JOB_COMPLETION_INDEX = 1 ] && {{ {GATED}; exit 7; }}; {FOREVER}"
    job = submitted(home, namespace, tmp_path, jobset("fails", script, form, pods=2, gate=gate))
    comes_to(home, job, "Running")
    (gate / "open").touch()
    home.run("jobs", "wait", job, code=4)
    status = home.job(job)["status"]
    assert (status["phase"], status["exitCode"]) == ("Failed", 7)
    assert {node["rank"]: node["exitCode"] for node in status["nodes"]}[1] == 7
    told = {"Created", "Starting", "Running", "Failed", "SuccessfulCreate"}

    def reasons() -> set[str]:
        return {str(event["reason"]) for event in home.json("jobs", "events", job)["items"]}

    assert wait_until(lambda: told <= reasons(), PATIENCE_S), reasons()


def test_a_cancelled_job_leaves_no_pod(
    home: Installation, node_cluster: Access, namespace: str, tmp_path: Path, gate: Path, form: str
) -> None:
    settings = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "settings"},
        "data": {"A": "1"},
    }
    job = submitted(
        home, namespace, tmp_path, [settings, jobset("long", GATED, form, pods=2, gate=gate)]
    )
    comes_to(home, job, "Running")
    home.run("jobs", "cancel", job)
    status = comes_to(home, job, "Cancelled")["status"]
    assert status["reason"] == "Cancelled"
    assert node_cluster.get("pods", "-n", namespace)["items"] == []
    assert wait_until(lambda: not left(node_cluster, namespace), PATIENCE_S)
    home.run("jobs", "delete", job)


def test_a_name_that_is_taken_is_refused_before_anything_is_made(
    home: Installation, node_cluster: Access, namespace: str, tmp_path: Path
) -> None:
    node_cluster.apply(ShellJobSet("taken", "true", suspend=True).manifest(), namespace=namespace)
    file = tmp_path / "job.json"
    file.write_text(json.dumps(ShellJobSet("taken", "true").manifest()))
    on = f"k8s/{CONTEXT}/{namespace}"
    home.run("run", "-d", str(file), "--on", on, code=1)
    assert not [
        job for job in home.json("jobs", "list")["items"] if job["metadata"]["name"] == "taken"
    ]
    job = home.submit(str(file), "--on", on, "--name", "free")
    home.run("jobs", "wait", job)
    home.run("jobs", "delete", job)
    assert node_cluster.get("jobset", "taken", "-n", namespace)["metadata"]["name"] == "taken"


def test_what_would_be_sent_is_shown_and_not_sent(
    home: Installation, node_cluster: Access, namespace: str, tmp_path: Path
) -> None:
    file = tmp_path / "job.json"
    file.write_text(json.dumps(jobset("shown", "true", "jobs", pods=2, max_restarts=1)))
    on = f"k8s/{CONTEXT}/{namespace}"
    shown = json.loads(home.run("explain", "--on", on, "-f", str(file), "-o", "json"))
    assert [item["kind"] for item in shown["items"]] == ["Service", "Job"]
    assert left(node_cluster, namespace) == []


def test_plain_jobs_that_failed_without_a_server_are_restarted_by_the_next_one(
    home: Installation, namespace: str, tmp_path: Path, gate: Path
) -> None:
    script = f"[ $ATTEMPT = 0 ] && {{ {GATED}; exit 3; }}; echo attempt $ATTEMPT"
    gang = jobset("again", script, "jobs", pods=2, gate=gate, max_restarts=1)
    job = submitted(home, namespace, tmp_path, gang)
    comes_to(home, job, "Running")
    kill(home.server_pid())
    (gate / "open").touch()  # nobody sees it fail
    home.run("jobs", "wait", job)
    status = home.job(job)["status"]
    assert (status["phase"], status["jobSet"]["restarts"]) == ("Succeeded", 1)
    said = home.run("jobs", "logs", job).splitlines()
    assert sorted(said) == ["node-0 | attempt 1", "node-1 | attempt 1"]


def test_objects_that_someone_else_removes_end_the_job(
    home: Installation, node_cluster: Access, namespace: str, tmp_path: Path, gate: Path
) -> None:
    job = submitted(home, namespace, tmp_path, jobset("gone", GATED, "jobset", gate=gate))
    comes_to(home, job, "Running")
    assert wait_until(lambda: uses_memory(home, job), 300), home.look(job)
    (shown,) = [line for line in home.run("jobs", "show", job).splitlines() if "PEAK" in line]
    assert shown.split()[-3:] == ["CPU", "MEMORY", "PEAK"]
    assert "system/memory@node-0" in home.json("jobs", "metrics", job, "--system")["series"]
    node_cluster.kubectl("delete", "jobset", "gone", "-n", namespace)
    assert comes_to(home, job, "Failed")["status"]["reason"] == "Deleted"


def test_the_result_outlives_the_objects(
    home: Installation, node_cluster: Access, namespace: str, tmp_path: Path
) -> None:
    manifest = ShellJobSet("brief", "echo hello").manifest()
    manifest["spec"]["ttlSecondsAfterFinished"] = 0
    job = submitted(home, namespace, tmp_path, manifest)
    home.run("jobs", "wait", job)
    assert wait_until(lambda: not left(node_cluster, namespace), PATIENCE_S)
    status = home.job(job)["status"]
    assert (status["phase"], status["reason"]) == ("Succeeded", "AllJobsCompleted")


def test_the_next_server_goes_on_and_tells_nothing_twice(
    home: Installation, namespace: str, tmp_path: Path, gate: Path, form: str
) -> None:
    job = submitted(home, namespace, tmp_path, jobset("adopted", GATED, form, pods=2, gate=gate))
    comes_to(home, job, "Running")
    for _ in range(2):
        kill(home.server_pid())
        assert home.phase(job) == "Running"
    (gate / "open").touch()
    kill(home.server_pid())
    home.run("jobs", "wait", job)
    items = home.json("jobs", "events", job)["items"]
    told = [(each["reason"], each["object"], each["message"], each["time"]) for each in items]
    assert len(told) == len(set(told))
    assert [each["reason"] for each in items].count("Running") == 1
    assert home.job(job)["status"]["phase"] == "Succeeded"


def test_the_kubeconfig_of_whoever_submits_counts(
    home: Installation, node_cluster: Access, namespace: str, tmp_path: Path
) -> None:
    """The server was started by another, who knows no context of that name."""
    home.run("jobs", "list")
    config = yaml.safe_load(node_cluster.kubeconfig.read_text())
    config["contexts"][0]["name"] = config["current-context"] = "arn:of/mine"
    config["contexts"][0]["context"]["namespace"] = namespace
    (tmp_path / "mine").write_text(yaml.safe_dump(config))
    mine = Installation(home.home, {"KUBECONFIG": os.path.relpath(tmp_path / "mine", REPOSITORY)})
    file = tmp_path / "job.json"
    file.write_text(json.dumps(ShellJobSet("mine", "true").manifest()))
    job = mine.submit(str(file), "--on", "k8s/arn:of/mine")
    home.run("jobs", "wait", job)
    assert node_cluster.get("jobset", "mine", "-n", namespace)["metadata"]["labels"][JOB_ID] == job
    assert "k8s/arn:of/mine" in mine.run("doctor", "--any")


def test_a_trainjob_is_left_to_the_operator(
    home: Installation, node_operator: NodeOperator, namespace: str, tmp_path: Path, gate: Path
) -> None:
    cluster = node_operator.cluster
    cluster.apply(shell_runtime("shell"), namespace=namespace)
    manifest = trainjob("own", "shell", {"command": ["sh", "-c", "sleep 1"], "image": BUSYBOX})
    job = submitted(home, namespace, tmp_path, manifest)
    home.run("jobs", "wait", job)
    made = cluster.get("trainjob", "own", "-n", namespace)
    assert made["metadata"]["labels"][JOB_ID] == job
    status = home.job(job)["status"]
    assert (status["phase"], status["reason"]) == ("Succeeded", "AllJobsCompleted")
    assert status["jobSet"] == cluster.get("jobset", "own", "-n", namespace)["status"]
    late = trainjob(
        "late",
        "shell",
        {"command": ["sh", "-c", GATED], "image": BUSYBOX},
        activeDeadlineSeconds=3,
    )
    job = submitted(home, namespace, tmp_path, late)
    home.run("jobs", "wait", job, code=4)
    assert home.job(job)["status"]["reason"] == "DeadlineExceeded"
    home.run("jobs", "delete", job)


def test_an_mpijob_is_left_to_the_operator(
    home: Installation, node_operator: NodeOperator, namespace: str, tmp_path: Path
) -> None:
    def replica(script: str) -> Json:
        container = {"name": "main", "image": BUSYBOX, "command": ["sh", "-c", script]}
        pod = {"containers": [container], "terminationGracePeriodSeconds": 1}
        return {"replicas": 1, "restartPolicy": "Never", "template": {"spec": pod}}

    manifest = {
        "apiVersion": "kubeflow.org/v2beta1",
        "kind": "MPIJob",
        "metadata": {"name": "mpi"},
        "spec": {
            "mpiReplicaSpecs": {
                "Launcher": replica("echo launched; exit 5"),
                "Worker": replica(FOREVER),
            },
            "runPolicy": {"backoffLimit": 0},
        },
    }
    job = submitted(home, namespace, tmp_path, manifest)
    home.run("jobs", "wait", job, code=4)
    made = node_operator.cluster.get("mpijob", "mpi", "-n", namespace)
    assert made["metadata"]["labels"][JOB_ID] == job
    status = home.job(job)["status"]
    assert (status["phase"], status["exitCode"]) == ("Failed", 5)
    assert "launched" in home.run("jobs", "logs", job)
    home.run("jobs", "delete", job)
    assert wait_until(lambda: not left(node_operator.cluster, namespace), PATIENCE_S)


def test_a_sweep_is_read_mended_cancelled_and_deleted_as_one(
    home: Installation, node_cluster: Access, namespace: str, tmp_path: Path
) -> None:
    script = "echo rate {lr} $TRAINWAY_PARAM_LR; case {lr} in 1) ;; 2) exit 7;; *) %s;; esac"
    file = tmp_path / "sweep.json"
    file.write_text(json.dumps(jobset("sweep", script % FOREVER, "jobs")))
    words = ("--on", f"k8s/{CONTEXT}/{namespace}", "--grid", "lr=1,2,3", "--parallel", "2")
    _, first, _, second, _, third = home.run("run", "-d", str(file), *words).split()
    comes_to(home, first, "Succeeded")
    comes_to(home, second, "Failed")
    comes_to(home, third, "Running")
    lines = home.run("runs", "logs", "sweep").splitlines()
    assert [line for line in lines if "rate" in line] == [
        f"node-0 | rate {rate} {rate}" for rate in (1, 2, 3)
    ]
    _, again = home.run("runs", "rerun", "--failed", "sweep").split()
    comes_to(home, again, "Failed")
    said = home.run("runs", "cancel", "sweep")
    assert "sweep: 3 jobs, at most 2 at a time: 1 succeeded, 1 failed, 1 cancelled" in said
    shown = json.loads(home.run("runs", "show", "sweep", "-o", "json"))["jobs"]
    assert [job["metadata"]["id"] for job in shown] == [first, again, third]
    assert len(home.run("runs", "delete", "sweep").splitlines()) == 4
    assert wait_until(lambda: not left(node_cluster, namespace), PATIENCE_S)
