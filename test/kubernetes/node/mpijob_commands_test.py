"""`kubectl odh mpijob`, `oc odh mpijob` and `trainway.training` on a real cluster with real pods.

oc runs plugins as kubectl does, so a kubectl under its name stands for it.
"""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from cluster.access import Access
from environments import require_mpirun
from node_operator import NodeOperator
from plugin_shell import Shell, shell_in

from trainway.jobset.labels import JOBSET_UID, MPI_JOB_ROLE
from trainway.json_types import Json
from trainway.sdk import JobFailedError
from trainway.training import MPIJob, ResourceRequirements, State

IMAGE = "team/train:v1"
WAITS = "until test -e /tmp/go; do sleep 0.2; done; echo done"
WORDS = ("--image", IMAGE, "--command", "python train.py", "--workers", "4", "--cpu", "1m")


@pytest.fixture
def shell(
    node_cluster: Access, node_operator: NodeOperator, host_namespace: str, tmp_path: Path
) -> Shell:
    require_mpirun()
    return shell_in(node_cluster, host_namespace, tmp_path)


def test_an_mpijob_through_its_life(
    shell: Shell, node_operator: NodeOperator, host_namespace: str
) -> None:
    command = (
        f"if test $OMPI_COMM_WORLD_RANK = 0; then {WAITS}; fi; echo rank $OMPI_COMM_WORLD_RANK"
    )
    made = shell.run("create", "train", "--image", IMAGE, "--command", command, "--workers", "2")
    assert made.stdout == "mpijob.kubeflow.org/train created\n"
    assert made.stderr.startswith("hint: 2 processes train on 2 times as many samples")
    taken = shell.run("create", "train", *WORDS[:4], program="oc", check=False)
    assert taken.returncode == 1
    assert "there is already an MPIJob" in taken.stderr

    pods = node_operator.wait_running(host_namespace, 3)
    node_operator.wait_condition("mpijob", host_namespace, "train", "Running")
    head, row = shell.run("get").stdout.splitlines()
    assert head.split() == ["NAME", "STATE", "WORKERS", "AGE"]
    assert row.split()[:3] == ["train", "Running", "2/2"]
    assert shell.run("get", "train", "-o", "name").stdout == "mpijob.kubeflow.org/train\n"

    assert shell.run("suspend", "train").stdout == "mpijob.kubeflow.org/train suspended\n"
    node_operator.wait_gone(host_namespace)  # until then the log of the launcher can be read
    refused = shell.run("logs", "train", check=False)
    assert (refused.returncode, refused.stderr.splitlines()[-1]) == (1, "hint: resume the job")
    assert shell.run("resume", "train").stdout == "mpijob.kubeflow.org/train resumed\n"
    follower = shell.start("logs", "train", "--follow", program="oc")
    pods = node_operator.wait_running(host_namespace, 3)
    (launcher,) = [pod for pod in pods if "launcher" in pod["metadata"]["name"]]
    worker = next(p for p in pods if p["metadata"]["name"].startswith("train-worker-0-0"))
    node_operator.cluster.open_gate(worker, "/tmp/go")
    node_operator.wait_condition("mpijob", host_namespace, "train", "Succeeded")

    told = shell.run("describe", "train").stdout
    assert "State:        Succeeded (MPIJobSucceeded: " in told
    assert f"launcher  {launcher['metadata']['name']}  Succeeded" in told
    assert "MPIJobResumed" in told
    assert "Last lines of the launcher" in told
    log = shell.run("logs", "train", "--launcher").stdout
    assert sorted(log.splitlines()) == ["done", "rank 0", "rank 1"]
    assert shell.run("logs", "train", "--tail", "1").stdout == log.splitlines()[-1] + "\n"
    followed, said = follower.communicate(timeout=180)
    assert (follower.returncode, followed) == (0, log), said
    gone = shell.run("delete", "train", program="oc").stdout
    assert gone == 'mpijob.kubeflow.org "train" deleted\n'
    missing = shell.run("get", "train", check=False)
    assert (missing.returncode, missing.stdout) == (1, "")


def test_command_sdk_and_manifest_give_the_same_objects(
    shell: Shell, node_operator: NodeOperator, host_namespace: str, tmp_path: Path
) -> None:
    resources = ResourceRequirements(cpu="1m")
    job = MPIJob(
        "train",
        workers=4,
        image=IMAGE,
        command="python train.py",
        resources=resources,
        kubeconfig=shell.kubeconfig,
    )
    manifest = tmp_path / "train.yaml"
    manifest.write_text(shell.run("create", "train", *WORDS, "--dry-run=client", "-oyaml").stdout)
    seen: list[Sequence[Json]] = []
    for create in (
        lambda: shell.run("create", "train", *WORDS),
        job.create,
        lambda: shell.run("create", "-f", str(manifest), program="oc"),
    ):
        create()
        seen.append(objects(node_operator, host_namespace))
        job.delete()
    assert len(seen[0]) == 1 + 1 + 4  # the MPIJob, its JobSet and its workers
    assert seen[1] == seen[0]
    assert seen[2] == seen[0]


def test_a_failure_says_who_failed_and_why(shell: Shell) -> None:
    words = ("--image", IMAGE, "--command", "echo out of data; exit 3", "--retries", "0")
    failed = shell.run("create", "broken", *words, "--wait", check=False)
    assert failed.returncode == 1  # as kubectl has it; trainway mpijob says 4
    assert "broken: Failed: the launcher exited with status" in failed.stderr
    told = shell.run("describe", "broken").stdout
    assert "Culprit:      the launcher: exited with status" in told
    job = MPIJob("broken", kubeconfig=shell.kubeconfig)
    with pytest.raises(JobFailedError, match="broken has failed: the launcher exited with status"):
        job.wait_for_completion(timeout=180)
    assert job.get_status().state is State.FAILED
    assert "out of data\n" in job.get_logs()


def objects(operator: NodeOperator, namespace: str) -> Sequence[Json]:
    """The job, its JobSet and its worker pods, without what differs each time."""
    job: Json = operator.cluster.get("mpijob", "train", "-n", namespace)
    found: list[Json] = []

    def are_created() -> bool:
        jobset = operator.job("jobset", namespace, "train")
        owners = jobset["metadata"].get("ownerReferences") if jobset else []
        if jobset is None or [owner["uid"] for owner in owners] != [job["metadata"]["uid"]]:
            return False
        selector = f"{JOBSET_UID}={jobset['metadata']['uid']},{MPI_JOB_ROLE}=worker"
        pods = operator.cluster.get("pods", "-n", namespace, "-l", selector)["items"]
        found[:] = [jobset, *sorted(pods, key=lambda pod: str(pod["spec"]["hostname"]))]
        return len(pods) == 4

    operator.wait(namespace, are_created, "4 workers are created")
    return [same(obj) for obj in (job, *found)]


def same(obj: Json) -> Json:
    """Labels, annotations and spec, with nothing that another creation would have otherwise."""
    uid = obj["metadata"]["uid"]
    metadata = {key: obj["metadata"].get(key) for key in ("labels", "annotations")}
    spec = {key: value for key, value in obj["spec"].items() if key != "nodeName"}
    text = json.dumps({"metadata": metadata, "spec": spec}, sort_keys=True)
    for owner in obj["metadata"].get("ownerReferences") or ():
        text = text.replace(owner["uid"], "OWNER")
    result: Json = json.loads(text.replace(uid, "UID"))
    for part in ("labels", "annotations"):
        kept = {k: v for k, v in (result["metadata"][part] or {}).items() if not k.endswith("-uid")}
        result["metadata"][part] = kept
    return result
