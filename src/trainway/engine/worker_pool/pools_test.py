"""Worker pools: their workers, who gets one, and what becomes of both."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from trainway.engine.cluster.testing import FakeAgents
from trainway.engine.moving.testing import KeptStore
from trainway.engine.queues.queues_test import queue
from trainway.engine.run.pipeline_testing import pipeline, submitted
from trainway.engine.testing import memory_database
from trainway.engine.worker_pool.testing import MOST, PoolWorld, new_pool
from trainway.errors import ConflictError, InvalidError, NotFoundError, TrainwayError
from trainway.queueing.queue_policy import QueueState

Scene = Callable[[PoolWorld], Awaitable[None]]


def play(scene: Scene, world: PoolWorld | None = None) -> None:
    """Let a scene happen with an engine that runs."""

    async def run() -> None:
        played = world or PoolWorld()
        await played.engine.start()
        try:
            await scene(played)
        finally:
            await played.engine.close()

    asyncio.run(run())


def test_jobs_run_on_workers_that_are_set_up_in_their_order() -> None:
    async def scene(world: PoolWorld) -> None:
        await world.apply()
        early = await world.job("early")
        assert "none is ready yet" in (await world.engine.reading.get(early))["status"]["message"]
        await world.until_states(_1="SETTING_UP", _2="SETTING_UP")
        await world.set_up("p-1", "p-2")
        job, worker = await world.begun_on(early)
        assert worker == "p-1"
        second, _ = await world.begun_on(await world.job("second"))
        third, fourth = await world.job("third"), await world.job("fourth")
        shown = await world.until(third, lambda job: "busy" in job["status"]["message"])
        assert shown["status"]["queuePosition"] == 1
        assert shown["status"].get("worker") is None
        assert world.pool["status"]["waitingJobs"] == 2
        second.end()
        _, worker = await world.begun_on(third)
        assert (worker, fourth in world.workers.jobs) == ("p-2", False)
        assert (await world.engine.reading.get(third))["status"]["worker"] == "p-2"
        job.end()
        await world.begun_on(fourth)

    play(scene)


def test_the_job_with_the_higher_priority_gets_the_next_worker() -> None:
    async def scene(world: PoolWorld) -> None:
        await world.apply(workers=1)
        await world.set_up("p-1")
        first, _ = await world.begun_on(await world.job("first"))
        low, high = await world.job("low"), await world.job("high", priority=5)
        first.end()
        begun, _ = await world.begun_on(high)
        assert low not in world.workers.jobs
        begun.end()
        await world.begun_on(low)

    play(scene)


def test_the_number_of_workers_follows_the_queue() -> None:
    async def scene(world: PoolWorld) -> None:
        await world.apply(min_workers=0, max_workers=2, downscale_delay_seconds=0.05)
        assert world.pool["status"]["phase"] == "NO_WORKERS"
        ids = [await world.job(f"job-{number}") for number in range(3)]
        await world.set_up("p-1", "p-2")
        for job_id in ids:
            begun, _ = await world.begun_on(job_id)
            if job_id != ids[1]:
                begun.end()
        await world.until_shown(lambda pool: len(pool["status"]["workers"]) == 1)
        world.workers.jobs[ids[1]].end()
        await world.until_shown(lambda pool: not pool["status"]["workers"])
        assert world.agents.clusters == {}

    play(scene)


@pytest.mark.parametrize("delay", [0, 0.01])
def test_a_clock_that_is_put_back_delays_no_worker(delay: float) -> None:
    async def scene(world: PoolWorld) -> None:
        await world.apply(min_workers=0, max_workers=1, upscale_delay_seconds=delay)
        await world.engine.queues.apply(queue("team"))
        await world.engine.queues.set_state("team", QueueState.PAUSED)
        job_id = await world.job(queue="team")
        world.now -= timedelta(hours=1)
        await world.engine.queues.set_state("team", QueueState.OPEN)
        await world.set_up("p-1")
        await world.begun_on(job_id)

    play(scene)


def test_no_workers_are_made_for_jobs_that_would_not_start_on_them() -> None:
    async def scene(world: PoolWorld) -> None:
        queues = world.engine.queues
        for name, quota in (("idle", {}), ("small", {"jobs": 1}), ("none", {"cpu": 0})):
            await queues.apply(queue(name, quota=quota))
        await queues.set_state("idle", QueueState.PAUSED)
        await world.apply(min_workers=0, max_workers=MOST)
        paused = await world.job("paused", queue="idle")
        await world.job("refused", queue="none", requests={"cpu": "1"})
        small = [await world.job(f"small-{number}", queue="small") for number in range(3)]
        tasks = await submitted(world, pipeline(backend="worker-pool/p", workdir="/"))
        await world.set_up("p-1", "p-2")
        await world.begun_on(small[0])
        await world.begun_on(tasks["one"])
        assert set(world.states()) == {"p-1", "p-2"}
        await queues.set_state("idle", QueueState.OPEN)
        await world.set_up("p-3")
        await world.begun_on(paused)
        assert set(world.states()) == {"p-1", "p-2", "p-3"}
        assert world.pool["status"]["waitingJobs"] == 5

    play(scene)


def test_workers_are_set_up_though_their_queue_is_drained() -> None:
    async def scene(world: PoolWorld) -> None:
        await world.engine.queues.apply(queue("team"))
        wanted = new_pool(min_workers=0, max_workers=1)
        setup = replace(wanted.submission, queue="team")
        await world.engine.worker_pools.apply(replace(wanted, submission=setup))
        await world.engine.queues.set_state("team", QueueState.DRAINING)
        with pytest.raises(ConflictError, match="takes in no more jobs"):
            await world.job(queue="team")
        job_id = await world.job()
        await world.set_up("p-1")
        await world.begun_on(job_id)

    play(scene)


def test_workers_are_set_up_though_their_queue_is_gone() -> None:
    async def scene(world: PoolWorld) -> None:
        await world.engine.queues.apply(queue("team"))
        wanted = new_pool(min_workers=0, max_workers=1)
        setup = replace(wanted.submission, queue="team")
        await world.engine.worker_pools.apply(replace(wanted, submission=setup))
        await world.engine.queues.delete("team")
        job_id = await world.job()
        await world.set_up("p-1")
        await world.begun_on(job_id)

    play(scene)


def test_setups_of_workers_use_no_quota_and_start_though_their_queue_is_paused() -> None:
    async def scene(world: PoolWorld) -> None:
        await world.engine.queues.apply(queue("default", quota={"jobs": 1}))
        await world.apply(min_workers=0, max_workers=2, downscale_delay_seconds=0)
        first = await world.job("first", requests={"cpu": "1"})
        await world.set_up("p-1")
        begun, _ = await world.begun_on(first)
        begun.end()
        await world.until_shown(lambda pool: not pool["status"]["workers"])
        await world.engine.queues.set_state("default", QueueState.PAUSED)
        await world.apply(min_workers=1, max_workers=2)
        await world.set_up("p-2")

    play(scene)


def test_a_worker_that_is_lost_is_replaced_and_its_job_begins_anew() -> None:
    async def scene(world: PoolWorld) -> None:
        await world.apply(workers=1)
        await world.set_up("p-1")
        job_id = await world.job()
        begun, _ = await world.begun_on(job_id)
        begun.run()
        await world.until(job_id, "Running")
        world.agents.say("p-1", state="gone")
        await world.until(job_id, "Queued")
        assert job_id in world.workers.deleted
        del world.workers.jobs[job_id]
        await world.set_up("p-2")
        again, worker = await world.begun_on(job_id)
        assert worker == "p-2"
        again.end()
        await world.until(job_id, "Succeeded")
        assert "Recovering" in await world.reasons(job_id)
        assert set(world.states()) == {"p-2"}

    play(scene)


def test_a_job_that_fails_because_its_host_is_lost_begins_anew() -> None:
    async def scene(world: PoolWorld) -> None:
        await world.apply(workers=2)
        await world.set_up("p-1", "p-2")
        job_id = await world.job()
        begun, _ = await world.begun_on(job_id)
        begun.run()
        await world.until(job_id, "Running")
        begun.end(succeeded=False, reason="HostLost")
        async with asyncio.timeout(60):
            while job_id not in world.workers.deleted:
                await asyncio.sleep(0.001)
        assert not (await world.engine.reading.get(job_id))["status"]["completionTime"]
        other = await world.job("other")
        failing, _ = await world.begun_on(other)
        failing.end(succeeded=False, reason="FailedJobs")
        await world.until(other, "Failed")

    play(scene)


def test_a_setup_that_fails_three_times_is_told_until_the_pool_is_applied_again() -> None:
    async def scene(world: PoolWorld) -> None:
        await world.apply(workers=1)
        job_id = await world.job()
        for worker in ("p-1", "p-2", "p-3"):
            (await world.setup(worker)).end(succeeded=False, reason="FailedJobs")
        await world.until_shown(lambda pool: pool["status"]["phase"] == "FAILED")
        assert "3 workers in a row could not be made" in world.pool["status"]["message"]
        assert "its setup failed: it ended (trainway jobs logs " in world.pool["status"]["message"]
        told = await world.until(job_id, lambda job: "no workers" in job["status"]["message"])
        assert "trainway jobs pool apply tries again" in told["status"]["message"]
        await world.until_cluster(lambda: not world.agents.clusters)
        await world.apply("echo better", workers=1)
        await world.set_up("p-4")
        await world.begun_on(job_id)
        await world.until_shown(lambda pool: len(pool["status"]["workers"]) == 1)

    play(scene)


def test_another_setup_makes_other_workers_and_jobs_end_on_the_old_ones() -> None:
    async def scene(world: PoolWorld) -> None:
        await world.apply(workers=1)
        await world.set_up("p-1")
        old, _ = await world.begun_on(await world.job("old"))
        assert (await world.apply(workers=2))["spec"]["version"] == 1
        await world.set_up("p-2")
        assert (await world.apply("other", workers=1))["spec"]["version"] == 2
        await world.set_up("p-3")
        _, worker = await world.begun_on(await world.job("new"))
        assert worker == "p-3"
        await world.until_states(_1="READY", _3="READY")
        old.end()
        await world.until_states(_3="READY")

    play(scene)


def test_a_pool_with_jobs_goes_down_only_when_told() -> None:
    async def scene(world: PoolWorld) -> None:
        await world.apply(workers=1)
        await world.set_up("p-1")
        begun, _ = await world.begun_on(await world.job("runs"))
        waiting = await world.job("waits")
        with pytest.raises(ConflictError, match="has 2 jobs that have not ended") as refused:
            await world.engine.worker_pools.down("p")
        assert "--cancel-jobs" in str(refused.value.hint)
        gone = await world.engine.worker_pools.down("p", cancel_jobs=True)
        assert gone["status"]["phase"] == "SHUTTING_DOWN"
        with pytest.raises(ConflictError, match="being taken down"):
            await world.job("late")
        with pytest.raises(ConflictError, match="being taken down"):
            await world.apply()
        with pytest.raises(ConflictError, match="being taken down"):
            await world.engine.worker_pools.resize("p", 4)
        await world.until(waiting, "Cancelled")
        begun.write("end", succeeded=False, cancelled=True, reason="Cancelled", message="")
        await world.until_cluster(lambda: not world.engine.worker_pools.all())
        assert (world.agents.clusters, world.agents.pools) == ({}, {})
        with pytest.raises(NotFoundError, match="there is no worker pool 'p'"):
            await world.engine.worker_pools.down("p")

    play(scene)


def test_workers_hold_their_share_and_belong_to_their_pool() -> None:
    async def scene(world: PoolWorld) -> None:
        await world.apply(workers=3)
        await world.set_up("p-1", "p-2", "p-3")
        job_id = await world.submit("local", requests={"cpu": "2"})
        told = await world.until(job_id, "Queued")
        assert "worker p-1 of the worker pool p holds 1 CPU" in told["status"]["message"]
        assert "trainway jobs pool down p" in told["status"]["message"]
        assert await world.clusters.all() == []
        for forbidden in (world.clusters.down("p-1"), world.clusters.autostop("p-1", 5)):
            with pytest.raises(ConflictError, match="is a worker of the worker pool p"):
                await forbidden
        await world.launch("p-4")
        await world.engine.worker_pools.resize("p", 1)
        await world.until_shown(lambda pool: len(pool["status"]["workers"]) == 1)
        await world.until(job_id, lambda job: job["status"]["phase"] != "Queued")

    play(scene)


def test_a_killed_server_finds_its_workers_again() -> None:
    agents = FakeAgents()
    first = PoolWorld(agents)

    async def before(world: PoolWorld) -> None:
        await world.apply()
        await world.set_up("p-1")
        await world.until_states(_1="READY", _2="SETTING_UP")

    async def run() -> None:
        await first.engine.start()
        await before(first)
        await first.begun_on(job_id := await first.job())
        store = first.store
        for live_id in list(first.engine._live):
            first.engine._live.remove(live_id)
        second = PoolWorld(agents, store)
        second.workers, second.setups = first.workers, first.setups
        for backend in (second.workers, *second.setups.values()):
            second.engine.registry.put(backend)
        await second.engine.start()
        try:
            await second.set_up("p-2")
            assert second.states() == {"p-1": "READY", "p-2": "READY"}
            assert second.pool["status"]["workers"][0]["usedBy"] == job_id
            assert len(second.setups["p-1"].jobs) == 1
            _, worker = await second.begun_on(await second.job("next"))
            assert worker == "p-2"
        finally:
            await second.engine.close()

    asyncio.run(run())


def test_a_new_server_keeps_workers_in_the_making_for_jobs_that_wait() -> None:
    first = PoolWorld(store=KeptStore(memory_database()))
    job_ids = []

    async def before(world: PoolWorld) -> None:
        await world.apply(min_workers=0, max_workers=1, downscale_delay_seconds=0)
        job_ids.append(await world.job())
        await world.setup("p-1")

    async def after(world: PoolWorld) -> None:
        await world.set_up("p-1")
        await world.begun_on(job_ids[0])

    play(before, first)
    play(after, first.successor())


@pytest.mark.parametrize(
    ("workers", "said"),
    [
        ({"workers": 0}, "needs at least one worker"),
        ({"workers": 5000}, "1000 workers at most"),
        ({"workers": "two"}, "pool.workers"),
        ({"min_workers": 3, "max_workers": 1}, "must not be less than min_workers"),
        ({"min_workers": 3}, "max_workers"),
        ({"worker": 1}, "worker"),
    ],
)
def test_wrong_numbers_of_workers_are_refused(workers: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidError, match=said):
        new_pool(**workers).size()


def test_a_run_and_a_share_that_never_fits_are_refused() -> None:
    async def scene(world: PoolWorld) -> None:
        wanted = new_pool()
        objects = [dict(obj) for obj in wanted.submission.objects]
        objects[0]["spec"] = {"tasks": [{"task": {"run": "true"}, "secrets": []}]}
        running = replace(wanted, submission=replace(wanted.submission, objects=objects))
        with pytest.raises(InvalidError, match="has only a setup"):
            await world.engine.worker_pools.apply(running)
        with pytest.raises(TrainwayError, match="can never start: it needs 99 CPUs"):
            await world.engine.worker_pools.apply(replace(wanted, resources={"cpus": 99}))
        assert world.engine.worker_pools.all() == []

    play(scene)
