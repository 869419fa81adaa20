"""The TrainJob controller on a real API server: which objects it makes, and when."""

from dataclasses import dataclass
from typing import Any

import pytest
from trainjob_world import World, trainjob

from trainway.api.manifest import parse_manifests
from trainway.compiler.plugins.progress import StatusEndpoint
from trainway.kube.resources import (
    CLUSTER_TRAINING_RUNTIMES,
    CONFIG_MAPS,
    COSCHEDULING_POD_GROUPS,
    JOBSETS,
    RESOURCE_QUOTAS,
    SECRETS,
    TRAINING_RUNTIMES,
    TRAINJOBS,
)
from trainway.operator.runtimes import FINALIZER
from trainway.operator.trainjobs.annotations import BUILD_ERROR
from trainway.operator.trainjobs.testing import Operator, eventually
from trainway.runtimes import builtin_runtime

Json = dict[str, Any]
FAILED = "TrainJobResourcesCreationFailed"


def owner_reference(job: Json) -> Json:
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "name": job["metadata"]["name"],
        "uid": job["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def test_a_trainjob_becomes_a_snapshot_and_a_jobset(world: World) -> None:
    async def story(operator: Operator) -> None:
        runtime = world.runtime("torch-distributed")
        job = await operator.create(trainjob(runtime, numNodes=2))
        jobset = await operator.jobset("t")
        assert jobset["metadata"]["ownerReferences"] == [owner_reference(job)]
        managers = [
            (entry["manager"], entry["operation"]) for entry in jobset["metadata"]["managedFields"]
        ]
        assert managers == [("trainer", "Apply")]
        role = jobset["spec"]["replicatedJobs"][0]["template"]["spec"]
        assert (role["parallelism"], role["completions"]) == (2, 2)
        snapshot = await operator.found(CONFIG_MAPS, "t-runtime-snapshot")
        assert snapshot["metadata"]["ownerReferences"] == [owner_reference(job)]
        (stored,) = parse_manifests(snapshot["data"]["runtime"])
        live = await operator.client.get(CLUSTER_TRAINING_RUNTIMES, runtime)
        del live["metadata"]["managedFields"]
        assert stored == live
        await operator.idle()
        assert await operator.conditions("t") == []
        assert await operator.children() == {
            "JobSet": ["t"],
            "ConfigMap": ["t-runtime-snapshot"],
            "Secret": [],
        }

    world.run(story)


def test_a_plain_trainjob_costs_three_requests(world: World) -> None:
    async def story(operator: Operator) -> None:
        runtime = world.runtime("torch-distributed")
        await operator.create(trainjob(runtime, "first"))
        await operator.jobset("first")
        await operator.idle()
        before = operator.client.requests
        await operator.create(trainjob(runtime, "second"))
        watch = operator.informers.of(JOBSETS)
        await eventually(lambda: _has(watch.store, f"{world.namespace}/second"))
        await operator.idle()
        await operator.told()
        # our own create; then the runtime, the snapshot and the JobSet
        assert operator.client.requests - before == 4

    world.run(story)


async def _has(store: Any, key: str) -> bool:
    return key in store


def test_an_mpi_trainjob_keeps_its_keys(world: World) -> None:
    async def story(operator: Operator) -> None:
        await operator.create(trainjob(world.runtime("deepspeed-distributed"), numNodes=3))
        await operator.jobset("t")
        secret = await operator.found(SECRETS, "t-mpi-ssh-auth")
        assert (secret["type"], secret["immutable"]) == ("kubernetes.io/ssh-auth", True)
        hostfile = await operator.found(CONFIG_MAPS, "t-mpi-hostfile")
        text = "t-node-0-0.t slots=1\nt-node-0-1.t slots=1\nt-launcher-0-0.t slots=1\n"
        assert hostfile["data"] == {"hostfile": text}
        await operator.suspend("t", True)
        await operator.has_conditions("t", ("Suspended", "True", "Suspended"))
        await operator.suspend("t", False)
        await operator.has_conditions("t", ("Suspended", "False", "Resumed"))
        assert await operator.found(SECRETS, "t-mpi-ssh-auth") == secret

    world.run(story)


def test_children_that_are_deleted_come_back(world: World) -> None:
    async def story(operator: Operator) -> None:
        await operator.create(trainjob(world.runtime("deepspeed-distributed"), numNodes=2))
        await operator.jobset("t")
        await operator.idle()
        for resource, name in (
            (CONFIG_MAPS, "t-mpi-hostfile"),
            (CONFIG_MAPS, "t-runtime-snapshot"),
            (SECRETS, "t-mpi-ssh-auth"),
            (JOBSETS, "t"),
        ):
            old = await operator.found(resource, name)
            await operator.client.delete(resource, name, world.namespace)

            async def came_back(
                kind: Any = resource, name: str = name, uid: str = old["metadata"]["uid"]
            ) -> bool:
                found = await operator.lookup(kind, name)
                return found is not None and found["metadata"]["uid"] != uid

            await eventually(came_back)
        assert await operator.conditions("t") == []

    world.run(story)


def test_a_child_that_somebody_changes_is_set_right(world: World) -> None:
    async def story(operator: Operator) -> None:
        await operator.create(trainjob(world.runtime("deepspeed-distributed"), numNodes=2))
        await operator.jobset("t")
        await operator.idle()
        hostfile = (await operator.found(CONFIG_MAPS, "t-mpi-hostfile"))["data"]
        broken = {"data": {"hostfile": "nowhere slots=1\n"}}
        await operator.client.patch(CONFIG_MAPS, "t-mpi-hostfile", world.namespace, broken)

        async def is_right() -> bool:
            found = await operator.found(CONFIG_MAPS, "t-mpi-hostfile")
            return bool(found["data"] == hostfile)

        await eventually(is_right)

    world.run(story)


def test_a_trainjob_that_another_controller_manages_is_left_alone(world: World) -> None:
    async def story(operator: Operator) -> None:
        runtime = world.runtime("torch-distributed")
        other = trainjob(runtime, "other", {"managedBy": "kueue.x-k8s.io/multikueue"})
        other["spec"]["suspend"] = True
        await operator.create(other)
        await operator.create(trainjob(runtime))
        await operator.jobset("t")
        await operator.idle()
        assert (await operator.children())["JobSet"] == ["t"]
        assert "status" not in await operator.trainjob("other")
        assert await operator.reasons("other") == []

    world.run(story)


def test_a_running_jobset_is_not_rebuilt(world: World) -> None:
    async def story(operator: Operator) -> None:
        runtime = world.runtime("torch-distributed")
        await operator.create(trainjob(runtime))
        jobset = await operator.jobset("t")
        await operator.idle()
        async with world.operator() as second:
            await second.idle()
            second.look("t")
            await second.idle()
        found = await operator.jobset("t")
        assert found["metadata"]["resourceVersion"] == jobset["metadata"]["resourceVersion"]

    world.run(story)


def test_a_changed_and_a_deleted_runtime_do_not_change_the_trainjob(world: World) -> None:
    async def story(operator: Operator) -> None:
        runtime = world.runtime("torch-distributed")
        await operator.create(trainjob(runtime, spec={"suspend": True}))
        image = _image(await operator.jobset("t"))
        await operator.has_conditions("t", ("Suspended", "True", "Suspended"))
        changed = builtin_runtime("torch-distributed")
        assert changed is not None
        changed["metadata"]["name"] = runtime
        _node(changed["spec"]["template"])["image"] = "changed:1"
        world.add_runtime(changed)
        await operator.suspend("t", False)
        await operator.has_conditions("t", ("Suspended", "False", "Resumed"))
        assert _image(await operator.jobset("t")) == image
        await operator.client.delete(CLUSTER_TRAINING_RUNTIMES, runtime)
        world.forget(runtime)
        await operator.kill()
        async with world.operator() as second:
            await second.suspend("t", True)
            await second.has_conditions("t", ("Suspended", "True", "Suspended"))
            jobset = await second.jobset("t")
            assert (jobset["spec"]["suspend"], _image(jobset)) == (True, image)

    world.run(story)


def _node(jobset: Json) -> Json:
    pod = jobset["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]
    container: Json = pod["spec"]["containers"][0]
    return container


def _image(jobset: Json) -> str:
    return str(_node(jobset)["image"])


def test_a_runtime_that_comes_late_is_waited_for(world: World) -> None:
    async def story(operator: Operator) -> None:
        name = f"{world.namespace}-torch-distributed"
        await operator.create(trainjob(name))
        event = await operator.event("t", FAILED)
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
        event = await operator.event("t", FAILED)
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
            event = await second.event("t", FAILED)
            message = case.message.replace('"R"', f'"{runtime}"')
            assert f"TrainJob resources reconciliation failed: {message}" in event["message"]
            assert await second.lookup(JOBSETS, "t") is None
            assert await second.found(CONFIG_MAPS, "t-runtime-snapshot") == created

    world.run(story)


def test_what_the_compiler_refuses_is_shown(world: World) -> None:
    async def story(operator: Operator) -> None:
        env = [{"name": "PET_NNODES", "value": "7"}]
        await operator.create(trainjob(world.runtime("torch-distributed"), env=env))
        event = await operator.event("t", FAILED)
        assert "must not have reserved envs, invalid envs configured: [PET_NNODES]" in str(event)
        await operator.idle()
        assert (await operator.event("t", FAILED))["count"] == 1
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
        event = await operator.event("t", FAILED)
        assert "failed: JobSet t: jobsets.jobset.x-k8s.io" in event["message"]
        assert "exceeded quota" in event["message"]
        assert "exceeded quota" in await eventually(lambda: build_error(operator))
        await client.delete(RESOURCE_QUOTAS, "none", namespace)
        await operator.jobset("t")
        await eventually(lambda: has_no_build_error(operator))

    world.run(story)


def test_a_jobset_that_is_not_ours_is_left_alone(world: World) -> None:
    async def story(operator: Operator) -> None:
        jobset: Json = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet"}
        jobset |= {"metadata": {"name": "t"}, "spec": {"replicatedJobs": []}}
        created = await operator.client.create(JOBSETS, jobset, world.namespace)
        await operator.report("t", {"conditions": [_completed()]})
        await operator.create(trainjob(world.runtime("torch-distributed")))
        event = await operator.event("t", FAILED)
        assert 'JobSet "t" exists and does not belong to the TrainJob' in event["message"]
        assert (await operator.jobset("t"))["spec"] == created["spec"]
        assert await operator.conditions("t") == []

    world.run(story)


def test_a_trainjob_gets_the_runtime_as_it_was_just_written(world: World) -> None:
    """Even if the watch is behind, for what it gets first it keeps."""

    async def story(operator: Operator) -> None:
        runtime = world.runtime("torch-distributed")
        resource = CLUSTER_TRAINING_RUNTIMES
        for number in range(8):
            live = await operator.client.get(resource, runtime)
            _node(live["spec"]["template"])["image"] = f"image:{number}"
            await operator.client.replace(resource, live)
            await operator.create(trainjob(runtime, f"t{number}"))
            assert _image(await operator.jobset(f"t{number}")) == f"image:{number}"

    world.run(story)


def test_trainjobs_that_come_together_share_the_read_of_their_runtime(world: World) -> None:
    async def story(operator: Operator) -> None:
        runtime = world.runtime("torch-distributed")
        await operator.kill()
        for number in range(30):
            await operator.create(trainjob(runtime, f"t{number}"))
        async with world.operator() as second:
            await eventually(lambda: _count(second, 30))
            await second.idle()
            await second.told()
            lists = 3 * len(list(second.informers))
            # a snapshot, a JobSet and an event each; informers; and some reads
            assert second.client.requests < 30 * 3 + lists + 15

    world.run(story)


async def _count(operator: Operator, expected: int) -> bool:
    return len(operator.informers.of(JOBSETS).store) == expected


def test_a_trainjob_of_the_same_name_waits_for_the_children_of_the_former(world: World) -> None:
    async def story(operator: Operator) -> None:
        runtime = world.runtime("torch-distributed")
        await operator.create(trainjob(runtime))
        first = await operator.jobset("t")
        await operator.report("t", {"conditions": [_completed()]})
        await operator.has_conditions("t", ("Complete", "True", "AllJobsCompleted"))
        await operator.client.delete(TRAINJOBS, "t", world.namespace)
        await operator.create(trainjob(runtime))
        await operator.idle()
        assert await operator.conditions("t") == []
        assert await operator.lookup(JOBSETS, "t") is not None
        # what the garbage collector does, which is not here
        await operator.client.delete(JOBSETS, "t", world.namespace)
        await operator.client.delete(CONFIG_MAPS, "t-runtime-snapshot", world.namespace)
        second = await operator.jobset("t")
        assert second["metadata"]["uid"] != first["metadata"]["uid"]
        assert await operator.conditions("t") == []
        assert FAILED not in await operator.reasons("t")

    world.run(story)


def _completed() -> Json:
    return {
        "type": "Completed",
        "status": "True",
        "reason": "AllJobsCompleted",
        "message": "jobset completed successfully",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }


def test_nothing_is_made_for_a_trainjob_that_is_being_deleted(world: World) -> None:
    async def story(operator: Operator) -> None:
        runtime = world.runtime("torch-distributed")
        await operator.create(trainjob(runtime))
        await operator.jobset("t")
        await operator.client.delete(TRAINJOBS, "t", world.namespace, propagation="Foreground")
        await operator.client.delete(JOBSETS, "t", world.namespace)
        await operator.create(trainjob(runtime, "later"))
        await operator.jobset("later")
        await operator.idle()
        assert (await operator.trainjob("t"))["metadata"]["deletionTimestamp"]
        assert await operator.lookup(JOBSETS, "t") is None

    world.run(story)


def test_d16_a_pod_group_follows_while_the_job_is_inactive(world: World) -> None:
    runtime = builtin_runtime("torch-distributed")
    assert runtime is not None
    runtime["metadata"]["name"] = f"{world.namespace}-gang"
    runtime["spec"]["podGroupPolicy"] = {"coscheduling": {"scheduleTimeoutSeconds": 9}}
    runtime["spec"]["template"]["spec"]["replicatedJobs"][0]["template"]["spec"] |= {
        "parallelism": 1
    }
    _node(runtime["spec"]["template"])["resources"] = {"requests": {"cpu": "2"}}
    world.add_runtime(runtime)

    async def story(operator: Operator) -> None:
        name = runtime["metadata"]["name"]
        await operator.create(trainjob(name, spec={"suspend": True}, numNodes=3))
        group = await operator.found(COSCHEDULING_POD_GROUPS, "t")
        assert group["spec"] == {
            "minMember": 3,
            "minResources": {"cpu": "6"},
            "scheduleTimeoutSeconds": 9,
        }
        patch = {"spec": {"minMember": 1}}
        resource = COSCHEDULING_POD_GROUPS
        await operator.client.patch(resource, "t", world.namespace, patch)
        await operator.suspend("t", False)

        async def is_right() -> bool:
            found = await operator.found(resource, "t")
            return bool(found["spec"]["minMember"] == 3)

        await eventually(is_right)
        await operator.has_conditions("t", ("Suspended", "False", "Resumed"))
        assert (await operator.jobset("t"))["spec"]["suspend"] is False
        await operator.idle()
        await operator.client.patch(resource, "t", world.namespace, patch)
        await operator.idle()
        assert (await operator.found(resource, "t"))["spec"]["minMember"] == 1

    world.run(story)


def test_with_an_endpoint_trainers_can_report_progress(world: World) -> None:
    endpoint = StatusEndpoint("trainer.kubeflow-system.svc", "CA 1")

    async def story(operator: Operator) -> None:
        await operator.create(trainjob(world.runtime("torch-distributed")))
        jobset = await operator.jobset("t")
        env = {item["name"]: item.get("value") for item in _node(jobset)["env"]}
        assert env["KUBEFLOW_TRAINER_SERVER_URL"] == (
            "https://trainer.kubeflow-system.svc:10443/apis/trainer.kubeflow.org/v1alpha1"
            f"/namespaces/{world.namespace}/trainjobs/t/status"
        )
        authority = await operator.found(CONFIG_MAPS, "t-tls-config")
        assert authority["data"] == {"ca.crt": "CA 1"}
        operator.endpoint = StatusEndpoint("trainer.kubeflow-system.svc", "CA 2")
        operator.look("t")

        async def is_new() -> bool:
            found = await operator.found(CONFIG_MAPS, "t-tls-config")
            return bool(found["data"] == {"ca.crt": "CA 2"})

        await eventually(is_new)

    world.run(story, endpoint=endpoint)


def test_the_finalizer_of_earlier_versions_is_removed(world: World) -> None:
    async def story(operator: Operator) -> None:
        runtime = world.runtime("torch-distributed")
        patch = {"metadata": {"finalizers": [FINALIZER, "example.com/other"]}}
        await operator.client.patch(CLUSTER_TRAINING_RUNTIMES, runtime, "", patch)

        async def is_free() -> bool:
            found = await operator.client.get(CLUSTER_TRAINING_RUNTIMES, runtime)
            return bool(found["metadata"].get("finalizers") == ["example.com/other"])

        await eventually(is_free)
        nothing = {"metadata": {"finalizers": None}}
        await operator.client.patch(CLUSTER_TRAINING_RUNTIMES, runtime, "", nothing)

    world.run(story)
