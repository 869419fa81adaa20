"""The runtimes of TrainJobs on a real API server: read fresh, once, and kept as they were."""

import pytest
from trainjob_world import World, first_container, trainjob

from trainway.kube.resources import CLUSTER_TRAINING_RUNTIMES, JOBSETS
from trainway.operator.runtimes import FINALIZER
from trainway.operator.trainjobs import runtime_source
from trainway.operator.trainjobs.testing import Operator, eventually
from trainway.runtimes import builtin_runtime


def test_a_changed_and_a_deleted_runtime_do_not_change_the_trainjob(world: World) -> None:
    async def story(operator: Operator) -> None:
        runtime = world.runtime("torch-distributed")
        await operator.create(trainjob(runtime, spec={"suspend": True}))
        image = first_container(await operator.jobset("t"))["image"]
        await operator.has_conditions("t", ("Suspended", "True", "Suspended"))
        changed = builtin_runtime("torch-distributed")
        assert changed is not None
        changed["metadata"]["name"] = runtime
        first_container(changed["spec"]["template"])["image"] = "changed:1"
        world.add_runtime(changed)
        await operator.suspend("t", False)
        await operator.has_conditions("t", ("Suspended", "False", "Resumed"))
        assert first_container(await operator.jobset("t"))["image"] == image
        await operator.client.delete(CLUSTER_TRAINING_RUNTIMES, runtime)
        world.forget(runtime)
        await operator.kill()
        async with world.operator() as second:
            await second.suspend("t", True)
            await second.has_conditions("t", ("Suspended", "True", "Suspended"))
            jobset = await second.jobset("t")
            assert (jobset["spec"]["suspend"], first_container(jobset)["image"]) == (True, image)

    world.run(story)


def test_a_trainjob_gets_the_runtime_as_it_was_just_written(world: World) -> None:
    """Even if the watch is behind, for what it gets first it keeps."""

    async def story(operator: Operator) -> None:
        runtime = world.runtime("torch-distributed")
        resource = CLUSTER_TRAINING_RUNTIMES
        for number in range(8):
            live = await operator.client.get(resource, runtime)
            first_container(live["spec"]["template"])["image"] = f"image:{number}"
            await operator.client.replace(resource, live)
            await operator.create(trainjob(runtime, f"t{number}"))
            jobset = await operator.jobset(f"t{number}")
            assert first_container(jobset)["image"] == f"image:{number}"

    world.run(story)


def test_trainjobs_that_come_together_share_the_read_of_their_runtime(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    # So that they come together however slow this machine is.
    monkeypatch.setattr(runtime_source, "_APART_S", 0.5)

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
