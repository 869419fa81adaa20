"""Options of `run` that every kind of job takes, in real pods."""

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

import pytest
from cluster.access import Access
from cluster.identities import CONTEXT
from cluster.images import BUSYBOX
from cluster.processes import wait_until
from installation import Installation, installed
from node_operator import NodeOperator, shell_runtime, trainjob
from shell_jobsets import ShellJobSet

from trainway.json_types import Json

PATIENCE_S: Final = 180.0
SECRET: Final = "a-key-of-mine"  # noqa: S105 - of this test
SAY: Final = "trap exit TERM; echo key=$KEY; sleep 600 & wait"
SHELL: Final = ["sh", "-c", SAY]
SCRIPT: Final = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: sys.exit())
print("key=" + os.environ["KEY"], flush=True)
time.sleep(600)
"""


@pytest.fixture
def home(node_cluster: Access, tmp_path: Path) -> Iterator[Installation]:
    variables = {"KUBECONFIG": str(node_cluster.kubeconfig), "KEY": SECRET}
    with installed(tmp_path / "home", variables) as installation:
        yield installation


def mpijob() -> Json:
    pods = {
        role: {"containers": [{"name": "main", "image": BUSYBOX, "command": SHELL}]}
        for role in ("Launcher", "Worker")
    }
    return {
        "apiVersion": "kubeflow.org/v2beta1",
        "kind": "MPIJob",
        "metadata": {"name": "mpijob"},
        "spec": {
            "mpiReplicaSpecs": {
                role: {"replicas": 1, "template": {"spec": pod}} for role, pod in pods.items()
            }
        },
    }


def submissions(folder: Path) -> dict[str, list[str]]:
    """Each kind of job by its name, and the words of `run` that it takes."""
    files = {
        "trainjob.json": json.dumps(trainjob("trainjob", "own", {"command": SHELL})),
        "mpijob.json": json.dumps(mpijob()),
        "jobset.json": json.dumps(ShellJobSet("jobset", SAY).manifest()),
        "task.yaml": f"name: task\nrun: {SAY}\n",
        "script.py": SCRIPT,
    }
    for name, text in files.items():
        (folder / name).write_text(text)
    image = ["--image", "example.com/none:1"]
    words = {Path(name).stem: [str(folder / name)] for name in files}
    words["script"] += ["--name", "script", *image]
    words["command"] = ["--name", "command", *image, "--", *SHELL]
    return words


def test_every_kind_of_job_takes_secrets_and_a_timeout(
    home: Installation,
    node_operator: NodeOperator,
    host_namespace: str,
    tmp_path: Path,
) -> None:
    options = ("--on", f"k8s/{CONTEXT}/{host_namespace}", "--secret", "KEY", "--timeout", "1h")
    node_operator.create(host_namespace, shell_runtime("own"))
    jobs = submissions(tmp_path)
    for words in jobs.values():
        home.submit(*options, *words)

    def has_key(name: str) -> bool:
        return f"key={SECRET}" in home.run("jobs", "logs", "--raw", name)

    for name in jobs:
        assert wait_until(partial(has_key, name), PATIENCE_S), home.job(name)
    cluster = node_operator.cluster
    limits = {
        jobset["metadata"]["name"]: {
            role["template"]["spec"].get("activeDeadlineSeconds")
            for role in jobset["spec"]["replicatedJobs"]
        }
        for jobset in cluster.get("jobsets", "-n", host_namespace)["items"]
    }
    top = {
        "trainjob": cluster.get("trainjob", "trainjob", "-n", host_namespace)["spec"],
        "mpijob": cluster.get("mpijob", "mpijob", "-n", host_namespace)["spec"]["runPolicy"],
    }
    for name, spec in top.items():
        limits[name] = {spec["activeDeadlineSeconds"]}
    assert limits == {name: {3600} for name in jobs}
    pods = json.dumps(cluster.get("pods", "-n", host_namespace)["items"])
    assert SECRET not in pods
    home.run("jobs", "delete", *jobs)
