"""A worker pool where something fails once: its job runs once, on one worker."""

import asyncio
from unittest import mock

import pytest

from trainway.engine import queue_round
from trainway.engine.faulty_store import Faults, faulty_store
from trainway.engine.testing import memory_database
from trainway.engine.worker_pool.testing import PoolWorld
from trainway.errors import DatabaseError


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("number", range(0, 20, 2))
def test_a_pool_comes_to_its_workers(number: int, after: bool) -> None:
    faults = Faults(after=after)
    world = PoolWorld(store=faulty_store(memory_database(), faults))

    async def applied() -> None:
        try:
            await world.apply(workers=1)
        except DatabaseError:
            await world.apply(workers=1)  # a client asks again

    async def scene() -> None:
        await world.engine.start()
        try:
            faults.arm()
            faults.first = number
            await applied()
            async with asyncio.timeout(60):
                while not (ready := [w for w, b in world.setups.items() if b.jobs]):
                    await asyncio.sleep(0.001)
            await world.set_up(ready[0])
            faults.heal()
            begun, worker = await world.begun_on(job_id := await world.job())
            assert worker == ready[0]
            begun.end()
            await world.until(job_id, "Succeeded")
            assert list(world.states()) == [worker]
            assert [len(backend.jobs) for backend in world.setups.values() if backend.jobs] == [1]
        finally:
            await world.engine.close()

    asyncio.run(scene())


def test_a_round_of_the_queue_that_fails_releases_no_worker() -> None:
    world = PoolWorld()

    async def scene() -> None:
        await world.engine.start()
        try:
            await world.apply(min_workers=0, max_workers=1, downscale_delay_seconds=0)
            job_id = await world.job()
            await world.setup("p-1")
            with mock.patch.object(queue_round, "ManagedPolicy", side_effect=ZeroDivisionError):
                with pytest.raises(ZeroDivisionError):
                    await world.engine._round.play()
                await world.engine.worker_pools._play()
            await world.set_up("p-1")
            _, worker = await world.begun_on(job_id)
            assert worker == "p-1"
        finally:
            await world.engine.close()

    asyncio.run(scene())
