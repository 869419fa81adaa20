"""The TrainJob controller on a cluster with the CRDs of Kubeflow Trainer in place of ours."""

from collections.abc import Iterator

import pytest
from cluster.access import Access
from cluster.fixtures import fresh_namespace
from trainjob_world import World, trainjob

from trainway.operator.trainjobs.testing import Operator


@pytest.fixture
def upstream_world(upstream_cluster: Access) -> Iterator[World]:
    """A namespace for TrainJobs."""
    with fresh_namespace(upstream_cluster) as name:
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
