"""The TrainJob controller on a cluster with the CRDs of Kubeflow Trainer in place of ours."""

import json
import shutil
import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from cluster.access import Access
from cluster.control_plane import ControlPlane
from cluster.fixtures import running, unavailable
from trainjob_world import World, trainjob

from trainway.operator.trainjobs.testing import Operator

Json = dict[str, Any]

MODULE: Final = "github.com/kubeflow/trainer/v2@v2.3.0"
CRDS: Final = Path("manifests", "base", "crds")


@pytest.fixture(scope="module")
def upstream_cluster() -> Iterator[Access]:
    """A cluster of its own: other tests have our CRDs."""
    if shutil.which("go") is None:
        unavailable("upstream's CRDs: Go is not installed")
    command = ["go", "mod", "download", "-json", MODULE]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        unavailable(f"{MODULE}: {done.stdout}{done.stderr}")
    folder = Path(json.loads(done.stdout)["Dir"]) / CRDS
    for cluster in running(ControlPlane):
        cluster.install_jobset_crds()
        for file in sorted(folder.glob("trainer*.yaml")):
            cluster.install_crds(file)
        yield cluster


@pytest.fixture
def upstream_world(upstream_cluster: Access) -> Iterator[World]:
    """A namespace for TrainJobs."""
    name = f"test-{uuid.uuid4().hex[:10]}"
    upstream_cluster.kubectl("create", "namespace", name)
    world = World(upstream_cluster, name)
    yield world
    world.close()


def test_a_trainjob_is_suspended_resumed_and_completed(upstream_world: World) -> None:
    async def story(operator: Operator) -> None:
        runtime = upstream_world.runtime("deepspeed-distributed")
        await operator.create(trainjob(runtime, spec={"suspend": True}, numNodes=2))
        assert (await operator.jobset("t"))["spec"]["suspend"] is True
        await operator.has_conditions("t", ("Suspended", "True", "Suspended"))
        await operator.suspend("t", False)
        await operator.has_conditions("t", ("Suspended", "False", "Resumed"))
        assert (await operator.jobset("t"))["spec"]["suspend"] is False
        end = {"type": "Completed", "status": "True", "reason": "AllJobsCompleted"}
        end |= {"message": "done", "lastTransitionTime": "2026-01-01T00:00:00Z"}
        counts = {"ready": 0, "succeeded": 1, "failed": 0, "active": 0, "suspended": 0}
        listed = [{"name": "launcher", **counts}]
        await operator.report("t", {"conditions": [end], "replicatedJobsStatus": listed})
        await operator.has_conditions(
            "t", ("Suspended", "False", "Resumed"), ("Complete", "True", "AllJobsCompleted")
        )
        assert (await operator.trainjob("t"))["status"]["jobsStatus"] == listed

    upstream_world.run(story)


def test_an_object_that_our_crds_would_refuse_is_told_of(upstream_world: World) -> None:
    async def story(operator: Operator) -> None:
        runtime = upstream_world.runtime("torch-distributed")
        await operator.create(trainjob(runtime, "odd", numNodes=-1))
        event = await operator.event("odd", "TrainJobResourcesCreationFailed")
        problem = "TrainJob cannot be read: spec.trainer.numNodes: Invalid value: -1: "
        assert problem in event["message"]
        await operator.create(trainjob(runtime))
        await operator.jobset("t")

    upstream_world.run(story)
