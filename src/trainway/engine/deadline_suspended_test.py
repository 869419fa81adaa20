"""The time of a job does not count while it is suspended, whoever looks at it first."""

import asyncio
from dataclasses import replace
from datetime import timedelta

from trainway.engine.deadline import Deadline
from trainway.engine.testing import NOW, World, act
from trainway.engine.times import time_text
from trainway.json_types import Json


def suspended(status: str, minutes: float) -> list[Json]:
    time = time_text(NOW + timedelta(minutes=minutes))
    return [{"type": "Suspended", "status": status, "lastTransitionTime": time}]


def test_a_server_that_finds_it_suspended_counts_from_its_resumption() -> None:
    async def scene(world: World) -> None:
        job_id = await world.submit()
        record = replace(world.store.get(job_id), started=time_text(NOW), deadline_seconds=60 * 60)
        now, missed = NOW + timedelta(minutes=59), asyncio.Event()
        deadline = Deadline(lambda: now, missed.set)
        deadline.set(record, suspended("True", 30))
        now = NOW + timedelta(minutes=120)
        deadline.set(record, suspended("False", 60))
        async with asyncio.timeout(60):
            await missed.wait()

    async def run() -> None:
        world = World()
        await act(scene, world)

    asyncio.run(run())
