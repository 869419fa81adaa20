import pytest

from trainway.backends.testing import FakeJob
from trainway.engine.moving.testing import THERE, MovingWorld, goes_on, play, suspended
from trainway.engine.testing import told
from trainway.json_types import Json


def test_a_job_that_waits_to_go_on_moves_at_once() -> None:
    async def scene(world: MovingWorld) -> None:
        job = await world.begun(await world.submit("demo", requests={"cpu": "4"}))
        job.run()
        await world.until("demo", "Running")
        await world.engine.suspend("demo")
        await suspended(job)
        await world.until("demo", "Paused")
        await world.begun(await world.submit("first", requests={"cpu": "4"}))
        await world.engine.resume("demo")
        await world.until("demo", "Queued")
        shown = await world.engine.moves.move("demo", THERE)
        assert shown["status"]["move"]["step"] == "leaving"
        await goes_on(world, world.stored().id)
        await world.until("demo", "Running")
        assert job.asked == ["suspend"]

    play(scene)


PREEMPTING: Json = {
    "apiVersion": "trainway.dev/v1",
    "kind": "Queue",
    "metadata": {"name": "default"},
    "spec": {"preemption": "Any"},
}


async def preempted(world: MovingWorld) -> FakeJob:
    """A job that is told to make room for another."""
    await world.engine.queues.apply(PREEMPTING)
    job_id = await world.submit("demo", requests={"cpu": "4"}, priority=-1)
    job = await world.begun(job_id)
    job.run()
    await world.until("demo", "Running")
    await world.submit("high", requests={"cpu": "4"})
    await told(job, "suspend")
    return job


@pytest.mark.parametrize("has_left", [False, True])
def test_a_job_that_makes_room_moves_and_goes_on_by_itself(*, has_left: bool) -> None:
    async def scene(world: MovingWorld) -> None:
        job = await preempted(world)
        if has_left:
            job.suspend()
            job.write("pod", pod="node-0-0", attempt=0, phase="Failed", deleted=True)
            await world.until("demo", "Queued")
        await world.engine.moves.move("demo", THERE)
        if not has_left:
            job.suspend()
        await goes_on(world, world.stored().id)
        await world.until("demo", "Running")
        record = world.stored()
        assert (record.backend, record.making_room, record.move) == (THERE, None, None)
        world.backend = world.here
        await world.begun(world.stored("high").id)

    play(scene)
