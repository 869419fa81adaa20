"""The TrainJob controller on a real API server: which objects it makes, and when."""

from typing import Any

from trainjob_world import World, first_container, owner_reference, trainjob

from trainway.api.manifest import parse_manifests
from trainway.compiler.plugins.progress import StatusEndpoint
from trainway.kube.resources import CLUSTER_TRAINING_RUNTIMES, CONFIG_MAPS, JOBSETS, SECRETS
from trainway.operator.trainjobs.testing import Operator, eventually


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


def test_with_an_endpoint_trainers_can_report_progress(world: World) -> None:
    endpoint = StatusEndpoint("trainer.kubeflow-system.svc", "CA 1")

    async def story(operator: Operator) -> None:
        await operator.create(trainjob(world.runtime("torch-distributed")))
        jobset = await operator.jobset("t")
        env = {item["name"]: item.get("value") for item in first_container(jobset)["env"]}
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
