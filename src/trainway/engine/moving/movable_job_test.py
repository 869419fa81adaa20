from typing import cast
from unittest import mock

from trainway.backends.base import Update
from trainway.engine.live import LiveJob
from trainway.engine.moving.movable_job import MovableJob
from trainway.engine.moving.testing import MovingWorld, play


def test_a_job_is_watched_again_if_what_its_journal_said_cannot_be_noted() -> None:
    async def scene(world: MovingWorld) -> None:
        job_id = await world.submit("demo", requests={"cpu": "4"})
        job = await world.begun(job_id)
        job.run()
        await world.until("demo", "Running")
        live = cast("MovableJob", world.engine._live[job_id])
        await live.let_go()
        job.end()
        with mock.patch.object(LiveJob, "_note", side_effect=RuntimeError("the recorder fails")):
            await live.take_in([Update(tuple(job.records))])
        await world.until("demo", "Succeeded")

    play(scene)
