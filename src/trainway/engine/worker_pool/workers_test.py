"""Workers, and clusters of others that have their names."""

import pytest

from trainway.engine.cluster.request import Launch
from trainway.engine.worker_pool import workers
from trainway.engine.worker_pool.pools_test import play
from trainway.engine.worker_pool.testing import PoolWorld
from trainway.errors import UnavailableError
from trainway.json_types import Json


def test_a_cluster_with_the_name_of_a_worker_that_failed_stays() -> None:
    async def scene(world: PoolWorld) -> None:
        await world.apply(workers=1)
        (await world.setup("p-1")).end(succeeded=False, reason="FailedJobs")
        await world.setup("p-2")
        await world.until_cluster(lambda: world.clusters.find("p-1") is None)
        await world.launch("p-1")
        assert world.pool["status"]["workers"][0]["nodes"] == []
        await world.set_up("p-2")
        await world.until_states(_2="READY")
        found = world.clusters.find("p-1")
        assert found is not None
        assert found.worker_pool == ""

    play(scene)


def test_a_cluster_that_was_launched_before_a_worker_of_its_name_is_not_taken_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def scene(world: PoolWorld) -> None:
        launch, is_away = world.clusters.launch, True

        async def launched(request: Launch) -> Json:
            if request.worker_pool and is_away:
                raise UnavailableError("nobody answers")
            return await launch(request)

        monkeypatch.setattr(world.clusters, "launch", launched)
        monkeypatch.setattr(workers, "_AGAIN_S", 0.01)
        await world.apply(workers=1)
        await world.until_states(_1="STARTING")
        await world.launch("p-1")
        is_away = False
        await world.set_up("p-2")
        await world.until_states(_2="READY")
        assert world.setups["p-1"].jobs == {}
        found = world.clusters.find("p-1")
        assert found is not None
        assert found.worker_pool == ""

    play(scene)
