"""Jobs of a backend that queues and places them itself, as a cluster does."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from trainway.backends.base import Absence, Handle
from trainway.backends.testing import FakeBackend, FakeJob
from trainway.engine.database import open_database
from trainway.engine.store import Store
from trainway.engine.testing import Scene, World, act, told
from trainway.errors import NotFoundError, UnavailableError


class FakeCluster(FakeBackend):
    schedules = True

    def __init__(self, **more: Any) -> None:
        super().__init__(**more)
        self.forgotten: list[str] = []

    async def absence(self, handle: Handle) -> Absence | None:
        return Absence(self.mute, f"see {handle['id']}") if self.mute else None

    async def forget(self, handle: Handle) -> None:
        self.forgotten.append(handle["id"])


def play(scene: Scene) -> None:
    async def run() -> None:
        await act(scene, World(FakeCluster(cpus="1")))

    asyncio.run(run())


def suspend_in_queue(job: FakeJob, position: int = 3) -> None:
    """Let a queue hold the job back."""
    job.write("waiting", reason="Queued", message="waits in queue q", queue="q", position=position)
    job.suspend()


def test_it_starts_at_once_however_much_it_needs() -> None:
    async def scene(world: World) -> None:
        first = await world.submit("first", requests={"cpu": "4"})
        second = await world.submit("second", requests={"cpu": "4"})
        for job_id in (first, second):
            job = await world.begun(job_id)
            job.run()
            await world.until(job_id, "Running")
        assert "Starting" in await world.reasons(second)

    play(scene)


def test_a_queue_of_the_cluster_shows() -> None:
    async def scene(world: World) -> None:
        job_id = await world.submit()
        job = await world.begun(job_id)
        suspend_in_queue(job)
        shown = await world.until(job_id, "Queued")
        assert (shown["status"]["message"], shown["status"]["queuePosition"]) == (
            "waits in queue q",
            3,
        )
        suspend_in_queue(job, position=1)
        await world.until(job_id, lambda shown: shown["status"].get("queuePosition") == 1)
        job.write("waiting", reason="")
        job.suspend("False")
        job.run()
        shown = await world.until(job_id, "Running")
        assert (shown["status"]["message"], "queuePosition" in shown["status"]) == ("", False)

    play(scene)


def test_a_job_that_is_preempted_waits_again() -> None:
    async def scene(world: World) -> None:
        job_id = await world.submit()
        job = await world.begun(job_id)
        job.run()
        await world.until(job_id, "Running")
        suspend_in_queue(job)
        await world.until(job_id, "Queued")
        job.end()
        await world.until(job_id, "Succeeded")

    play(scene)


def test_why_no_pod_runs_shows() -> None:
    async def scene(world: World) -> None:
        job_id = await world.submit()
        job = await world.begun(job_id)
        job.write("waiting", reason="Unschedulable", message="no node has room")
        shown = await world.until(job_id, lambda job: bool(job["status"]["message"]))
        assert (shown["status"]["phase"], shown["status"]["reason"]) == (
            "Starting",
            "Unschedulable",
        )
        job.write("waiting", reason="")
        await world.until(job_id, lambda job: not job["status"]["message"])

    play(scene)


def test_it_is_suspended_in_its_queue_and_resumed_by_the_backend() -> None:
    async def scene(world: World) -> None:
        job_id = await world.submit()
        job = await world.begun(job_id)
        suspend_in_queue(job)
        await world.until(job_id, "Queued")
        await world.engine.suspend(job_id)
        await told(job, "suspend")
        job.write("waiting", reason="")
        job.suspend()
        await world.until(job_id, "Paused")
        await world.engine.resume(job_id)
        await told(job, "resume")
        job.suspend("False")
        job.run()
        await world.until(job_id, "Running")

    play(scene)


def test_a_job_that_is_run_again_has_another_name() -> None:
    async def scene(world: World) -> None:
        job = await world.begun(await world.submit())
        job.end()
        await world.until("demo", "Succeeded")
        again = await world.engine.rerun("demo")
        name = again["metadata"]["name"]
        assert name.startswith("demo-")
        assert again["spec"]["objects"][0]["metadata"]["name"] == name

    play(scene)


def test_a_cluster_that_is_away_fails_no_job() -> None:
    async def scene(world: World) -> None:
        world.backend.away = "nobody answers"
        job_id = await world.submit()
        shown = await world.until(job_id, lambda job: bool(job["status"]["message"]))
        assert (shown["status"]["phase"], shown["status"]["message"]) == (
            "Starting",
            "nobody answers",
        )
        world.backend.away = ""
        job = await world.begun(job_id)
        job.run()
        shown = await world.until(job_id, "Running")
        assert shown["status"]["message"] == ""

    play(scene)


def test_what_is_wanted_while_it_is_away_is_done_later() -> None:
    async def scene(world: World) -> None:
        job_id = await world.submit()
        job = await world.begun(job_id)
        job.run()
        await world.until(job_id, "Running")
        world.backend.mute = "nobody answers"
        await world.engine.cancel(job_id)
        await world.until(job_id, "Stopping")
        assert job.asked == []
        world.backend.mute = ""
        await told(job, "cancel")
        job.end(succeeded=False, reason="Cancelled")
        await world.until(job_id, "Cancelled")

    play(scene)


def test_a_job_that_cannot_be_suspended_says_why_and_may_be_resumed() -> None:
    async def scene(world: World) -> None:
        job_id = await world.submit()
        (await world.begun(job_id)).run()
        await world.until(job_id, "Running")
        world.backend.stubborn = "it is not to be requeued"
        await world.engine.suspend(job_id)
        said = "it cannot be told to suspend: it is not to be requeued"
        shown = await world.until(job_id, lambda job: job["status"]["message"] == said)
        assert shown["status"]["phase"] == "Running"
        assert (await world.engine.resume(job_id))["status"]["phase"] == "Running"

    play(scene)


@pytest.mark.parametrize("phase", ["Running", "Succeeded"])
def test_a_job_that_cannot_be_reached_is_forgotten_by_force_only(phase: str) -> None:
    backend = FakeCluster()

    async def scene(world: World) -> None:
        job_id = await world.submit()
        job = await world.begun(job_id)
        job.run()
        if phase == "Succeeded":
            job.end()
        await world.until(job_id, phase)
        backend.mute = "nobody answers"
        with pytest.raises(UnavailableError, match="nobody answers") as caught:
            await world.engine.delete(job_id)
        assert "--force" in str(caught.value.hint)
        assert (await world.engine.reading.get(job_id))["status"]["phase"] == phase
        status = (await world.engine.delete(job_id, force=True))["status"]
        ended = "Cancelled" if phase == "Running" else phase
        assert [status[name] for name in ("phase", "reason", "message")] == [
            *(ended, "Abandoned", f"see {job_id}"),
        ]
        assert (backend.forgotten, backend.deleted, job.asked) == ([job_id], [], [])
        assert world.is_idle()
        with pytest.raises(NotFoundError):
            await world.engine.reading.get(job_id)

    asyncio.run(act(scene, World(backend)))


def test_force_changes_nothing_where_the_cluster_answers() -> None:
    backend = FakeCluster()

    async def scene(world: World) -> None:
        job_id = await world.submit()
        job = await world.begun(job_id)
        deleting = asyncio.create_task(world.engine.delete(job_id, force=True))
        await told(job, "cancel")
        assert not deleting.done()
        job.end(succeeded=False, reason="Cancelled")
        assert (await deleting)["status"]["reason"] == "Cancelled"
        assert (backend.forgotten, backend.deleted) == ([], [job_id])

    asyncio.run(act(scene, World(backend)))


def test_nothing_is_stored_for_a_cluster_that_cannot_be_asked() -> None:
    async def scene(world: World) -> None:
        world.backend.unreachable = "nobody answers"
        with pytest.raises(UnavailableError, match="nobody answers"):
            await world.submit()
        assert await world.engine.reading.counts() == (0, 0)

    play(scene)


def test_the_next_server_goes_on_with_a_job_in_its_queue(tmp_path: Path) -> None:
    backend = FakeCluster()
    url = f"sqlite:///{tmp_path / 'x.db'}"

    async def scene(world: World) -> None:
        job_id = await world.submit()
        job = await world.begun(job_id)
        suspend_in_queue(job)
        await world.until(job_id, "Queued")

    async def next_scene(world: World) -> None:
        ((job_id, job),) = backend.jobs.items()
        assert (await world.engine.reading.get(job_id))["status"]["phase"] == "Queued"
        job.write("waiting", reason="")
        job.suspend("False")
        job.run()
        await world.until(job_id, "Running")

    async def run() -> None:
        await act(scene, World(backend, Store(open_database(url))))
        await act(next_scene, World(backend, Store(open_database(url))))

    asyncio.run(run())
