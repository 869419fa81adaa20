"""A server that cannot take up one of the jobs that are stored, and takes up the others."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from trainway.backends.base import Handle
from trainway.backends.testing import FakeBackend
from trainway.engine.database import open_database
from trainway.engine.left_job import NOT_TAKEN_UP
from trainway.engine.store import Store
from trainway.engine.submission import Submission
from trainway.engine.testing import Scene, World, act, jobset
from trainway.engine.wishes import BUDGET
from trainway.errors import ConflictError, UnavailableError
from trainway.json_types import Json


class _Moon(FakeBackend):
    """A backend that another package brings, until it is gone."""

    name = "moon/base"
    schedules = True


class _Forgetful(FakeBackend):
    """One that cannot find one of its jobs again."""

    lost = ""

    async def adopt(self, handle: Handle) -> None:
        if handle["id"] == self.lost:
            raise KeyError("directory")
        await super().adopt(handle)


def _in_turn(tmp_path: Path, first: World, *scenes: Scene) -> None:
    """Let each scene happen with a server of its own, on one database; the first has one more."""
    url = f"sqlite:///{tmp_path / 'state.db'}"

    async def run() -> None:
        backend = first.backend
        for number, scene in enumerate(scenes):
            world = World(backend, Store(open_database(url)))
            if not number:
                world.engine.registry.put(_Moon())
            await act(scene, world)

    asyncio.run(run())


def test_jobs_of_a_missing_backend_say_so_and_the_server_starts(tmp_path: Path) -> None:
    async def before(world: World) -> None:
        await world.submit("runs", backend="moon/base")
        await world.until("runs", "Starting")
        await world.submit("waits", requests={"cpu": "5"}, oversubscribe=True)
        await world.submit("here")

    async def after(world: World) -> None:
        await world.until("here", "Starting")
        shown = await world.until("runs", lambda job: job["status"]["reason"] == "Unavailable")
        assert "no package brings the backend 'moon/base'" in shown["status"]["message"]
        assert shown["status"]["phase"] == "Starting"
        with pytest.raises(UnavailableError, match="no package brings"):
            await world.engine.delete("runs")
        gone = await world.engine.delete("runs", force=True)
        assert gone["status"]["message"] == "what it has left at moon/base stays there"

    _in_turn(tmp_path, World(), before, after)


def test_one_of_a_missing_backend_is_not_told_to_make_room(tmp_path: Path) -> None:
    limited = {"preemption": "Any", "quota": {"jobs": 1}}

    async def before(world: World) -> None:
        queue = {"apiVersion": "trainway.dev/v1", "kind": "Queue", "spec": limited}
        await world.engine.queues.apply({**queue, "metadata": {"name": "default"}})
        await world.submit("runs", backend="moon/base", priority=-1)
        await world.until("runs", "Starting")

    async def after(world: World) -> None:
        await world.submit("high", requests={"cpu": "1"})
        shown = await world.until("high", lambda job: job["status"]["reason"] != "")
        assert shown["status"]["reason"] == "QuotaReached"
        assert (await world.engine.reading.record("runs")).making_room is None

    _in_turn(tmp_path, World(), before, after)


def test_one_that_has_not_begun_waits_for_its_backend_and_can_be_cancelled(
    tmp_path: Path,
) -> None:
    async def before(world: World) -> None:
        job_id = await world.submit("waits", requests={"cpu": "4"})
        await world.begun(job_id)
        job_id = await world.submit("next", requests={"cpu": "4"})
        await world.until("next", "Queued")
        world.store.update(job_id, {"backend": "moon/base"})

    async def after(world: World) -> None:
        shown = await world.until("next", lambda job: job["status"]["reason"] == "Unavailable")
        assert shown["status"]["phase"] == "Queued"
        assert "no package brings the backend 'moon/base'" in shown["status"]["message"]
        await world.engine.cancel("next")
        await world.until("next", "Cancelled")

    _in_turn(tmp_path, World(), before, after)


@pytest.mark.parametrize("damage", [{"observed": 7}, {"demand": {"cpus": []}}, {}])
def test_a_job_that_cannot_be_taken_up_holds_up_no_other(
    damage: dict[str, Any], tmp_path: Path
) -> None:
    backend = _Forgetful()

    async def before(world: World) -> None:
        for name in ("bad", "good"):
            job = await world.begun(await world.submit(name, requests={"cpu": "1"}))
            job.run()
            await world.until(name, "Running")
        job_id = (await world.engine.reading.record("bad")).id
        world.store.update(job_id, damage) if damage else setattr(backend, "lost", job_id)

    async def after(world: World) -> None:
        await world.submit("next", requests={"cpu": "1"})
        await world.until("next", "Starting")
        (good,) = [job for job in backend.jobs.values() if job.workload.name == "good"]
        good.end()
        await world.until("good", "Succeeded")
        bad = await world.engine.reading.record("bad")
        assert (bad.phase, bad.reason) == ("Running", NOT_TAKEN_UP)
        assert "could not take it up" in bad.message
        assert NOT_TAKEN_UP in await world.reasons("bad")
        with pytest.raises(ConflictError, match="cannot be cancelled: this server could not"):
            await world.engine.cancel(bad.id)

    _in_turn(tmp_path, World(backend), before, after)


def _limited(quota: dict[str, Any]) -> Json:
    metadata, spec = {"name": "team"}, {"quota": quota}
    return {
        "apiVersion": "trainway.dev/v1", "kind": "Queue", "metadata": metadata, "spec": spec,
    }  # fmt: skip


@pytest.mark.parametrize("damage", [{"observed": 7}, {"labels": 7}, {}])
def test_what_a_job_that_was_left_holds_nobody_else_gets(
    damage: dict[str, Any], tmp_path: Path
) -> None:
    backend = _Forgetful()

    async def before(world: World) -> None:
        await world.engine.queues.apply(_limited({"jobs": 1}))
        bad = await world.submit("bad", queue="team", requests={"cpu": "3"})
        (await world.begun(bad)).run()
        await world.until("bad", "Running")
        world.store.update(bad, damage) if damage else setattr(backend, "lost", bad)

    async def after(world: World) -> None:
        queues = world.engine.queues
        await world.submit("large", requests={"cpu": "2"})
        large = await world.until("large", "Queued")
        assert "needs 2 CPUs, 1 free; bad holds 3 CPUs" in large["status"]["message"]
        await world.submit("other", queue="team")
        other = await world.until("other", "Queued")
        assert other["status"]["reason"] == "QuotaReached"
        assert queues.get("team")["status"]["running"] == 1
        await world.engine.cancel("other")
        with pytest.raises(ConflictError, match="team still has 1 job, such as bad"):
            await queues.delete("team")
        shown = await world.engine.reading.page(5)
        assert [job["metadata"]["name"] for job in shown.items] == ["other", "large", "bad"]
        assert await world.engine.reading.usage(None, "", "")  # which adds up all jobs
        with pytest.raises(UnavailableError, match="this server could not take it up"):
            await world.engine.delete("bad")
        gone = await world.engine.delete("bad", force=True)
        assert gone["status"]["reason"] == "Abandoned"
        await world.until("large", "Starting")
        await queues.delete("team")

    _in_turn(tmp_path, World(backend), before, after)


def test_a_job_that_was_left_counts_for_the_limit_of_its_run(tmp_path: Path) -> None:
    backend = _Forgetful()

    async def before(world: World) -> None:
        array = Submission([jobset("trial")], environ={}, num_jobs=2, parallel=1)
        jobs, _ = await world.engine.submit_array(array)
        backend.lost = jobs[0]["metadata"]["id"]
        (await world.begun(backend.lost)).run()
        await world.until(backend.lost, "Running")

    async def after(world: World) -> None:
        (next_one,) = [job for job in world.store.ids() if job != backend.lost]
        await world.engine._rounds.request()
        assert (await world.engine.reading.record(next_one)).phase == "Queued"
        await world.engine.delete(backend.lost, force=True)
        await world.until(next_one, "Starting")

    _in_turn(tmp_path, World(backend), before, after)


def test_the_reason_that_an_end_is_to_have_outlives_a_server_that_cannot_take_the_job_up(
    tmp_path: Path,
) -> None:
    backend, why = _Forgetful(), {"reason": "BudgetSpent", "message": "all of its budget is spent"}

    async def before(world: World) -> None:
        backend.lost = await world.submit("dear")
        (await world.begun(backend.lost)).run()
        await world.until("dear", "Running")
        world.store.update(backend.lost, {"wanted": BUDGET, "phase": "Stopping", **why})

    async def between(world: World) -> None:
        assert NOT_TAKEN_UP in await world.reasons("dear")
        with pytest.raises(ConflictError, match="or this server could not take it up"):
            await world.engine.cancel("dear")
        with pytest.raises(UnavailableError, match="this server could not take it up: KeyError"):
            await world.engine.delete("dear")
        backend.jobs[backend.lost].end(succeeded=False, reason="Cancelled")
        backend.lost = ""

    async def after(world: World) -> None:
        ended = await world.until("dear", "Failed")
        assert {name: ended["status"][name] for name in why} == why

    _in_turn(tmp_path, World(backend), before, between, after)


def test_the_next_server_takes_up_a_job_that_was_left(tmp_path: Path) -> None:
    backend = _Forgetful()

    async def before(world: World) -> None:
        job = await world.begun(await world.submit("bad", requests={"cpu": "1"}))
        job.run()
        await world.until("bad", "Running")
        await world.engine.suspend("bad")
        job.suspend()
        await world.until("bad", "Paused")
        backend.lost = (await world.engine.reading.record("bad")).id

    async def between(world: World) -> None:
        assert (await world.engine.reading.record("bad")).reason == NOT_TAKEN_UP
        backend.lost = ""

    async def after(world: World) -> None:
        record = await world.engine.reading.record("bad")
        assert (record.phase, record.reason, record.message) == ("Paused", "", "")

    _in_turn(tmp_path, World(backend), before, between, after)
