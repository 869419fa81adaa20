"""Workers of jobs that the next server cannot take up: what runs there goes on."""

from dataclasses import replace

import pytest

from trainway.engine.moving.testing import KeptStore
from trainway.engine.testing import memory_database
from trainway.engine.worker_pool.pools_test import play
from trainway.engine.worker_pool.testing import PoolWorld, new_pool
from trainway.errors import ConflictError


@pytest.mark.parametrize("goes_with_jobs", [False, True])
def test_a_worker_stays_as_it_is_until_a_job_that_was_left_is_deleted(
    *, goes_with_jobs: bool
) -> None:
    first, ids = PoolWorld(store=KeptStore(memory_database())), []

    async def before(world: PoolWorld) -> None:
        pools = world.engine.worker_pools
        new = new_pool(min_workers=0, max_workers=1, downscale_delay_seconds=0)
        pools.hold("p")
        await pools.apply(replace(new, goes_with_jobs=goes_with_jobs))
        ids.append(await world.job("left"))
        pools.settle("p")
        await world.set_up("p-1")
        (await world.begun_on(ids[0]))[0].run()
        await world.until(ids[0], "Running")
        world.store.update(ids[0], {"demand": {"cpus": []}})

    async def after(world: PoolWorld) -> None:
        for _ in range(2):
            await world.engine.worker_pools._rounds.request()
        assert world.states() == {"p-1": "READY"}
        other = await world.job("other")
        await world.until(other, "Queued")
        assert other not in world.workers.jobs
        await world.engine.cancel(other)
        with pytest.raises(ConflictError, match="has 1 job that has not ended, such as left"):
            await world.engine.worker_pools.down("p")
        other = await world.job("another")
        await world.engine.delete(ids[0], force=True)
        assert (await world.begun_on(other))[1] == "p-1"

    play(before, first)
    play(after, first.successor())
