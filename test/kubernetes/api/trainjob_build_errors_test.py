"""TrainJobs that cannot be built, on a real API server: they say why, and wait for better times."""

from dataclasses import dataclass

import pytest
from trainjob_world import CREATION_FAILED, World, owner_reference, trainjob

from trainway.jobset.labels import BUILD_ERROR
from trainway.json_types import Json
from trainway.kube.resources import CONFIG_MAPS, JOBSETS, RESOURCE_QUOTAS, TRAINING_RUNTIMES
from trainway.operator.trainjobs.testing import Operator, eventually
from trainway.runtimes import builtin_runtime


def test_a_runtime_that_comes_late_is_waited_for(world: World) -> None:
    async def story(operator: Operator) -> None:
        name = f"{world.namespace}-torch-distributed"
        await operator.create(trainjob(name))
        event = await operator.event("t", CREATION_FAILED)
        assert event["type"] == "Warning"
        assert event["message"] == (
            "TrainJob resources reconciliation failed:"
            " not found ClusterTrainingRuntime specified in TrainJob:"
            f' clustertrainingruntimes.trainer.kubeflow.org "{name}" not found'
        )

        assert f'"{name}" not found' in await eventually(lambda: build_error(operator))
        assert world.runtime("torch-distributed") == name
        await operator.jobset("t")
        await eventually(lambda: has_no_build_error(operator))

    world.run(story)


async def build_error(operator: Operator) -> str | None:
    """The annotation that tells why there are no objects."""
    annotations = (await operator.trainjob("t"))["metadata"].get("annotations") or {}
    return annotations.get(BUILD_ERROR)


async def has_no_build_error(operator: Operator) -> bool:
    return await build_error(operator) is None


def test_a_namespaced_runtime_is_found_in_the_namespace_of_the_job(world: World) -> None:
    async def story(operator: Operator) -> None:
        runtime = builtin_runtime("torch-distributed")
        assert runtime is not None
        runtime["kind"] = "TrainingRuntime"
        runtime["metadata"] = {"name": "own", "namespace": world.namespace}
        job = trainjob("own")
        job["spec"]["runtimeRef"]["kind"] = "TrainingRuntime"
        await operator.create(job)
        event = await operator.event("t", CREATION_FAILED)
        assert "TrainingRuntime specified in TrainJob is not found: " in event["message"]
        await operator.client.create(TRAINING_RUNTIMES, runtime, world.namespace)
        await operator.jobset("t")

    world.run(story)


@dataclass(frozen=True)
class BadSnapshot:
    name: str
    message: str
    data: Json
    is_own: bool = True


BAD_SNAPSHOTS = [
    BadSnapshot(
        "owned by something else",
        "invalid runtime snapshot: a snapshot configmap exists but is owned by another object",
        {"runtime": "{}"},
        is_own=False,
    ),
    BadSnapshot(
        "without the key",
        'invalid runtime snapshot: snapshot ConfigMap missing "runtime" data key',
        {"other": "x"},
    ),
    BadSnapshot(
        "unreadable",
        "invalid runtime snapshot: unable to unmarshal the snapshot: line 1, column 5",
        {"runtime": "a: b: c"},
    ),
    BadSnapshot(
        "of another runtime",
        "invalid runtime snapshot: the snapshot refers to the wrong runtime: expecting a runtime"
        ' with name, api group and kind of "R", "trainer.kubeflow.org", "ClusterTrainingRuntime"'
        " but found runtime with name, api group and kind of"
        ' "other", "trainer.kubeflow.org", "TrainingRuntime"',
        {
            "runtime": '{"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainingRuntime",'
            ' "metadata": {"name": "other"}, "spec": {}}'
        },
    ),
]


@pytest.mark.parametrize("case", BAD_SNAPSHOTS, ids=lambda case: case.name)
def test_a_snapshot_that_cannot_be_used_is_an_error(world: World, case: BadSnapshot) -> None:
    async def story(operator: Operator) -> None:
        await operator.kill()
        runtime = world.runtime("torch-distributed")
        job = await operator.create(trainjob(runtime))
        metadata: Json = {"name": "t-runtime-snapshot"}
        if case.is_own:
            metadata["ownerReferences"] = [owner_reference(job)]
        snapshot = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
        created = await operator.client.create(
            CONFIG_MAPS, {**snapshot, "data": case.data}, world.namespace
        )
        async with world.operator() as second:
            event = await second.event("t", CREATION_FAILED)
            message = case.message.replace('"R"', f'"{runtime}"')
            assert f"TrainJob resources reconciliation failed: {message}" in event["message"]
            assert await second.lookup(JOBSETS, "t") is None
            assert await second.found(CONFIG_MAPS, "t-runtime-snapshot") == created

    world.run(story)


def test_what_the_compiler_refuses_is_shown(world: World) -> None:
    async def story(operator: Operator) -> None:
        env = [{"name": "PET_NNODES", "value": "7"}]
        await operator.create(trainjob(world.runtime("torch-distributed"), env=env))
        event = await operator.event("t", CREATION_FAILED)
        assert "must not have reserved envs, invalid envs configured: [PET_NNODES]" in str(event)
        await operator.idle()
        assert (await operator.event("t", CREATION_FAILED))["count"] == 1
        assert await operator.lookup(JOBSETS, "t") is None
        assert await operator.conditions("t") == []

    world.run(story)


def test_what_the_api_server_refuses_is_shown_until_it_is_accepted(world: World) -> None:
    async def story(operator: Operator) -> None:
        hard = {"count/jobsets.jobset.x-k8s.io": "0"}
        quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "none"}}
        namespace, client = world.namespace, operator.client
        await client.create(RESOURCE_QUOTAS, {**quota, "spec": {"hard": hard}}, namespace)
        status = {"status": {"hard": hard, "used": hard}}
        await client.patch(RESOURCE_QUOTAS, "none", namespace, status, subresource="status")
        await operator.create(trainjob(world.runtime("torch-distributed")))
        event = await operator.event("t", CREATION_FAILED)
        assert "failed: JobSet t: jobsets.jobset.x-k8s.io" in event["message"]
        assert "exceeded quota" in event["message"]
        assert "exceeded quota" in await eventually(lambda: build_error(operator))
        await client.delete(RESOURCE_QUOTAS, "none", namespace)
        await operator.jobset("t")
        await eventually(lambda: has_no_build_error(operator))

    world.run(story)
