"""The TrainJob controller on a real API server, while processes die and caches are old."""

import asyncio

import pytest
from cluster.access import Access
from cluster.control_plane import ControlPlane
from trainjob_world import World, trainjob

from trainway.jobset.status import timestamp
from trainway.json_types import Json
from trainway.kube.resources import CONFIG_MAPS, EVENTS, JOBSETS, SECRETS, TRAINJOBS
from trainway.operator.trainjobs.testing import Clock, Operator, eventually

COMPLETE = ("Complete", "True", "AllJobsCompleted")


def completed(clock: Clock) -> Json:
    condition = {"type": "Completed", "status": "True", "reason": "AllJobsCompleted"}
    condition |= {"message": "jobset completed successfully"}
    return {"conditions": [{**condition, "lastTransitionTime": timestamp(clock())}]}


def test_two_operators_at_once_do_no_harm(world: World) -> None:
    async def story(first: Operator) -> None:
        runtime = world.runtime("deepspeed-distributed")
        names = [f"t{number}" for number in range(12)]
        async with world.operator() as second:
            await asyncio.gather(
                *(first.create(trainjob(runtime, name, numNodes=2)) for name in names)
            )
            jobsets = [await first.jobset(name) for name in names]
            secrets = [await first.found(SECRETS, f"{name}-mpi-ssh-auth") for name in names]
            for name in names:
                await first.suspend(name, True)
            for name in names:
                await first.has_conditions(name, ("Suspended", "True", "Suspended"))
                await first.suspend(name, False)
            for name in names:
                await first.has_conditions(name, ("Suspended", "False", "Resumed"))

                async def is_resumed(name: str = name) -> bool:
                    return (await first.jobset(name))["spec"]["suspend"] is False

                await eventually(is_resumed)
                await first.report(name, completed(first.clock))
            for name, jobset, secret in zip(names, jobsets, secrets, strict=True):
                await first.has_conditions(name, ("Suspended", "False", "Resumed"), COMPLETE)
                found = await first.jobset(name)
                assert found["metadata"]["uid"] == jobset["metadata"]["uid"]
                assert await first.found(SECRETS, f"{name}-mpi-ssh-auth") == secret
            await first.idle()
            await second.idle()
        children = await first.children()
        assert children["JobSet"] == sorted(names)
        assert len(children["ConfigMap"]) == 2 * len(names)

    world.run(story)


def test_an_end_is_not_lost_when_the_jobset_goes_at_once(world: World) -> None:
    """As with `ttlSecondsAfterFinished: 0`: completed and deleted before anyone looks."""

    async def story(operator: Operator) -> None:
        runtime = world.runtime("torch-distributed")
        names = [f"t{number}" for number in range(8)]
        for name in names:
            await operator.create(trainjob(runtime, name))
        for name in names:
            await operator.jobset(name)
        await operator.idle()
        for name in names:
            await operator.report(name, completed(operator.clock))
            await operator.client.delete(JOBSETS, name, world.namespace)
        for name in names:
            await operator.has_conditions(name, COMPLETE)
        await operator.idle()
        assert (await operator.children())["JobSet"] == []

    world.run(story)


def test_a_job_that_ended_while_no_operator_ran_does_not_run_again(world: World) -> None:
    async def story(operator: Operator) -> None:
        runtime = world.runtime("torch-distributed")
        for name in ("ended", "cut"):
            await operator.create(trainjob(runtime, name))
        jobsets = {name: await operator.jobset(name) for name in ("ended", "cut")}
        await operator.idle()
        await operator.kill()
        await asyncio.sleep(1.1)  # events have seconds, and must be after the creation
        await operator.client.create(EVENTS, _event(jobsets["ended"], operator.clock))
        for name in ("ended", "cut"):
            await operator.client.delete(JOBSETS, name, world.namespace)
        async with world.operator() as second:
            await second.has_conditions("ended", COMPLETE)
            again = await second.jobset("cut")
            assert again["metadata"]["uid"] != jobsets["cut"]["metadata"]["uid"]
            await second.idle()
            assert (await second.children())["JobSet"] == ["cut"]

    world.run(story)


def _event(jobset: Json, clock: Clock) -> Json:
    """What the JobSet controller says when a JobSet is done, in the form of the newer API."""
    metadata = jobset["metadata"]
    involved = {"apiVersion": jobset["apiVersion"], "kind": "JobSet", "uid": metadata["uid"]}
    involved |= {"name": metadata["name"], "namespace": metadata["namespace"]}
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"{metadata['name']}.1", "namespace": metadata["namespace"]},
        "involvedObject": involved,
        "type": "Normal",
        "reason": "AllJobsCompleted",
        "message": "jobset completed successfully",
        "eventTime": clock().strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        "action": "Reconciling",
        "reportingComponent": "jobset",
        "reportingInstance": "jobset-1",
    }


def test_what_an_operator_left_half_done_is_finished_by_the_next(world: World) -> None:
    async def story(operator: Operator) -> None:
        await operator.kill()
        runtime = world.runtime("deepspeed-distributed")
        names = [f"t{number}" for number in range(10)]
        for name in names:
            await operator.create(trainjob(runtime, name, numNodes=2))
        for moment in range(6):
            async with world.operator() as short:
                await asyncio.sleep(0.03 * moment)
                await short.kill()
        async with world.operator() as last:
            for name in names:
                await last.jobset(name)
            await last.idle()
            children = await last.children()
            assert children["JobSet"] == sorted(names)
            assert children["Secret"] == sorted(f"{name}-mpi-ssh-auth" for name in names)
            secrets = {name: await last.found(SECRETS, f"{name}-mpi-ssh-auth") for name in names}
            for name in names:
                await last.report(name, completed(last.clock))
            for name in names:
                await last.has_conditions(name, COMPLETE)
                assert await last.found(SECRETS, f"{name}-mpi-ssh-auth") == secrets[name]

    world.run(story)


def test_a_restart_of_the_api_server_loses_nothing(trainjob_cluster: Access, world: World) -> None:
    if not isinstance(trainjob_cluster, ControlPlane):
        pytest.skip("the API server of an existing cluster is not ours to kill")

    async def story(operator: Operator) -> None:
        runtime = world.runtime("torch-distributed")
        for name in ("before", "gone"):
            await operator.create(trainjob(runtime, name))
        jobset = await operator.jobset("before")
        await operator.jobset("gone")
        await operator.idle()
        trainjob_cluster.kill_api_server()
        operator.look("before")
        await asyncio.sleep(0.2)  # long enough for the watches to notice
        trainjob_cluster.start_api_server()
        # written before the watches are back, so they start from a version that is forgotten
        trainjob_cluster.kubectl("delete", "jobset", "gone", "-n", world.namespace)
        await operator.create(trainjob(runtime, "after"))
        await operator.jobset("after")
        await operator.jobset("gone")
        await operator.report("before", completed(operator.clock))
        await operator.has_conditions("before", COMPLETE)
        found = await operator.jobset("before")
        assert found["metadata"]["uid"] == jobset["metadata"]["uid"]
        assert await operator.conditions("after") == []
        assert operator.informers.of(JOBSETS).lists > 1  # the watch was answered with 410

    world.run(story)


def test_a_cache_that_is_behind_sends_nothing_twice(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The JobSet watch stands still while the TrainJob changes again and again."""

    async def story(operator: Operator) -> None:
        store = operator.informers.of(JOBSETS).store
        monkeypatch.setattr(store, "put", lambda _key, _obj: (None, False))
        await operator.create(trainjob(world.runtime("torch-distributed")))
        await operator.jobset("t")
        await operator.idle()
        before = operator.client.requests
        for number in range(5):
            await operator.change("t", {"metadata": {"annotations": {"n": str(number)}}})
            operator.look("t")
            await operator.idle()
        assert operator.client.requests - before == 5  # the changes themselves
        await operator.suspend("t", True)
        await operator.has_conditions("t", ("Suspended", "True", "Suspended"))
        assert (await operator.jobset("t"))["spec"]["suspend"] is True
        assert (await operator.children())["JobSet"] == ["t"]

    world.run(story)


def test_a_deleted_trainjob_is_forgotten(world: World) -> None:
    async def story(operator: Operator) -> None:
        await operator.create(trainjob(world.runtime("torch-distributed")))
        await operator.jobset("t")
        await operator.client.delete(TRAINJOBS, "t", world.namespace)
        await eventually(lambda: _is_unknown(operator, "t"))
        await operator.client.delete(JOBSETS, "t", world.namespace)
        await operator.client.delete(CONFIG_MAPS, "t-runtime-snapshot", world.namespace)
        await operator.idle()
        assert (await operator.children()) == {"JobSet": [], "ConfigMap": [], "Secret": []}

    world.run(story)


async def _is_unknown(operator: Operator, name: str) -> bool:
    return f"{operator.namespace}/{name}" not in operator.informers.of(TRAINJOBS).store
