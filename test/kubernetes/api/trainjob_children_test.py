"""The objects of TrainJobs on a real API server: they are kept, and only what is ours is."""

from typing import Any, Final

import pytest
from trainjob_world import COMPLETED, CREATION_FAILED, World, first_container, trainjob

from trainway.json_types import Json
from trainway.kube.resources import (
    CONFIG_MAPS,
    COSCHEDULING_POD_GROUPS,
    JOBSETS,
    SECRETS,
    TRAINJOBS,
)
from trainway.operator import caches
from trainway.operator.trainjobs.testing import Operator, eventually
from trainway.runtimes import builtin_runtime


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


def test_a_jobset_that_is_not_ours_is_left_alone(world: World) -> None:
    async def story(operator: Operator) -> None:
        jobset: Json = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet"}
        jobset |= {"metadata": {"name": "t"}, "spec": {"replicatedJobs": []}}
        created = await operator.client.create(JOBSETS, jobset, world.namespace)
        await operator.report("t", {"conditions": [COMPLETED]})
        await operator.create(trainjob(world.runtime("torch-distributed")))
        event = await operator.event("t", CREATION_FAILED)
        assert 'JobSet "t" exists but does not belong to the TrainJob' in event["message"]
        assert (await operator.jobset("t"))["spec"] == created["spec"]
        assert await operator.conditions("t") == []

    world.run(story)


def test_a_trainjob_of_the_same_name_waits_for_the_children_of_the_former(world: World) -> None:
    async def story(operator: Operator) -> None:
        runtime = world.runtime("torch-distributed")
        await operator.create(trainjob(runtime))
        first = await operator.jobset("t")
        await operator.report("t", {"conditions": [COMPLETED]})
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
        assert CREATION_FAILED not in await operator.reasons("t")

    world.run(story)


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


def gang_runtime(world: World) -> str:
    """A runtime whose jobs have a PodGroup; its name."""
    runtime = builtin_runtime("torch-distributed")
    assert runtime is not None
    runtime["metadata"]["name"] = f"{world.namespace}-gang"
    runtime["spec"]["podGroupPolicy"] = {"coscheduling": {"scheduleTimeoutSeconds": 9}}
    runtime["spec"]["template"]["spec"]["replicatedJobs"][0]["template"]["spec"] |= {
        "parallelism": 1
    }
    first_container(runtime["spec"]["template"])["resources"] = {"requests": {"cpu": "2"}}
    world.add_runtime(runtime)
    return str(runtime["metadata"]["name"])


SMALLER: Final = {"spec": {"minMember": 1}}


async def has_all_members(operator: Operator) -> bool:
    group = await operator.found(COSCHEDULING_POD_GROUPS, "t")
    return bool(group["spec"]["minMember"] == 3)


def test_d16_a_pod_group_follows_while_the_job_is_inactive(world: World) -> None:
    name, resource = gang_runtime(world), COSCHEDULING_POD_GROUPS

    async def story(operator: Operator) -> None:
        await operator.create(trainjob(name, spec={"suspend": True}, numNodes=3))
        await operator.has_conditions("t", ("Suspended", "True", "Suspended"))
        group = await operator.found(resource, "t")
        assert group["spec"] == {
            "minMember": 3,
            "minResources": {"cpu": "6"},
            "scheduleTimeoutSeconds": 9,
        }
        await operator.client.patch(resource, "t", world.namespace, SMALLER)
        await operator.suspend("t", False)
        await eventually(lambda: has_all_members(operator))
        await operator.has_conditions("t", ("Suspended", "False", "Resumed"))
        assert (await operator.jobset("t"))["spec"]["suspend"] is False
        await operator.idle()
        await operator.client.patch(resource, "t", world.namespace, SMALLER)
        await operator.idle()
        assert (await operator.found(resource, "t"))["spec"]["minMember"] == 1

    world.run(story)


def test_d16_a_pod_group_is_right_before_the_job_starts_also_where_the_cache_is_behind(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = gang_runtime(world)

    async def story(operator: Operator) -> None:
        await operator.create(trainjob(name, spec={"suspend": True}, numNodes=3))
        await operator.has_conditions("t", ("Suspended", "True", "Suspended"))
        await operator.idle()
        cached = caches.pod_groups(operator.informers, COSCHEDULING_POD_GROUPS).store
        monkeypatch.setattr(cached, "put", lambda key, _: (cached.text(key), False))
        await operator.client.patch(COSCHEDULING_POD_GROUPS, "t", world.namespace, SMALLER)
        await operator.suspend("t", False)
        await operator.has_conditions("t", ("Suspended", "False", "Resumed"))
        assert await has_all_members(operator)

    world.run(story)
