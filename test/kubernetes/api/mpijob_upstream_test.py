"""The MPIJob controller on a cluster with the CRD of MPI Operator in place of ours."""

import asyncio
import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from cluster.access import Access
from cluster.control_plane import ControlPlane
from cluster.fixtures import running, unavailable

from trainway.kube.resources import JOBSETS, MPIJOBS
from trainway.operator.mpijobs.testing import mpijob
from trainway.operator.mpijobs.testing_cluster import Stage, stage

Json = dict[str, Any]

MODULE: Final = "github.com/kubeflow/mpi-operator@v0.8.2"
CRD: Final = Path("manifests", "base", "kubeflow.org_mpijobs.yaml")


@pytest.fixture(scope="module")
def upstream_cluster() -> Iterator[Access]:
    """A cluster of its own: other tests have our CRDs."""
    if shutil.which("go") is None:
        unavailable("upstream's CRD: Go is not installed")
    command = ["go", "mod", "download", "-json", MODULE]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        unavailable(f"{MODULE}: {done.stdout}{done.stderr}")
    for cluster in running(ControlPlane):
        cluster.install_jobset_crds()
        cluster.install_crds(Path(json.loads(done.stdout)["Dir"]) / CRD)
        yield cluster


def reasons(job: Json) -> dict[str, tuple[str, str]]:
    conditions = job.get("status", {}).get("conditions", [])
    return {each["type"]: (each["status"], each["reason"]) for each in conditions}


def test_a_job_is_suspended_resumed_and_completed(upstream_cluster: Access) -> None:
    async def play(here: Stage) -> None:
        await here.submit(mpijob(run_policy={"suspend": True, "cleanPodPolicy": "Running"}))
        await here.until(MPIJOBS, "pi", lambda job: "Suspended" in reasons(job))
        await here.change(MPIJOBS, "pi", {"spec": {"runPolicy": {"suspend": False}}})
        await here.until(JOBSETS, "pi", lambda jobset: not jobset["spec"]["suspend"])
        jobs = await here.play_jobs()
        await here.play_running(jobs)
        await here.until(MPIJOBS, "pi", lambda job: reasons(job)["Running"][0] == "True")
        await here.play_end(jobs, "Complete")
        told = await here.until(MPIJOBS, "pi", lambda job: "Succeeded" in reasons(job))
        assert reasons(told) == {
            "Created": ("True", "MPIJobCreated"),
            "Suspended": ("False", "MPIJobResumed"),
            "Running": ("False", "MPIJobRunning"),
            "Succeeded": ("True", "MPIJobSucceeded"),
        }
        assert told["status"]["replicaStatuses"] == {"Launcher": {"succeeded": 1}, "Worker": {}}

    asyncio.run(on_stage(upstream_cluster, "whole", play))


@pytest.mark.parametrize(
    ("field", "value"), [("launcherCreationPolicy", "Never"), ("slotsPerWorker", -1)]
)
def test_what_upstreams_crd_lets_through_is_told_of(
    upstream_cluster: Access, field: str, value: Any
) -> None:
    async def play(here: Stage) -> None:
        await here.submit(mpijob(**{field: value}))
        event = await here.event("ValidationError")
        assert event["message"].startswith(f"Found validation errors: spec.{field}:")

    asyncio.run(on_stage(upstream_cluster, field.lower(), play))


async def on_stage(cluster: Access, namespace: str, play: Any) -> None:
    cluster.kubectl("create", "namespace", namespace)
    async with stage(cluster.kubeconfig, namespace) as here:
        await play(here)
