"""A job that its place took something away from, and whose programs ended well all the same."""

from trainway.backends.base import INTERRUPTED
from trainway.backends.testing import FakeJob
from trainway.engine.moving.recovered_job_test import FAR, RecoveryWorld, play
from trainway.engine.submission import Submission
from trainway.engine.testing import jobset
from trainway.json_types import Json


def interrupt(job: FakeJob) -> None:
    """Let a pod of the job be evicted, and its program end with 0."""
    lost: Json = {"pod": "node-0-0", "attempt": 0, "phase": "Failed", "disrupted": True}
    job.write("pod", **lost, reason="EvictionByEvictionAPI", containers=[])
    job.end(succeeded=False, reason=INTERRUPTED)


async def begun(world: RecoveryWorld) -> str:
    made, _ = await world.engine.submit(Submission([jobset("demo")], backend=FAR))
    job_id = str(made["metadata"]["id"])
    (await world.begun_at(FAR, job_id)).run()
    await world.until("demo", "Running")
    return job_id


def test_it_begins_again_where_it_is_and_keeps_its_attempts() -> None:
    async def scene(world: RecoveryWorld) -> None:
        job_id = await begun(world)
        first = world.far.jobs[job_id]
        interrupt(first)

        await world.until("demo", lambda _: world.far.jobs.get(job_id, first) is not first)
        again = world.far.jobs[job_id]
        assert "cancel" in first.asked  # so that its names are free
        again.write("status", jobset={"restarts": 1}, before=True)
        again.run(attempt=1)
        shown = await world.until("demo", "Running")
        (ended,) = shown["status"]["endedAttempts"]
        assert (ended["attempt"], ended["reason"]) == (0, "NodeLost")
        why = "node-0 failed: EvictionByEvictionAPI (attempt 1 of 1)"
        assert await world.messages("Recovering") == [f"it begins again: {why}"]
        again.end()
        await world.until("demo", "Succeeded")

    play(scene)


def test_one_that_is_cancelled_ends() -> None:
    async def scene(world: RecoveryWorld) -> None:
        job_id = await begun(world)
        first = world.far.jobs[job_id]
        await world.engine.cancel("demo")
        interrupt(first)
        await world.until("demo", lambda job: job["status"]["phase"] in ("Failed", "Cancelled"))
        assert world.far.jobs[job_id] is first

    play(scene)


def test_the_next_server_has_it_begin_again() -> None:
    async def scene(world: RecoveryWorld) -> None:
        job_id = await begun(world)
        first = world.far.jobs[job_id]
        world.far.mute = "the cluster is away"
        interrupt(first)
        await world.until("demo", lambda job: "move" in job["status"])
        await world.engine.close()

        world.far.mute = ""
        after = RecoveryWorld(world)
        await after.engine.start()
        await after.until("demo", lambda _: after.far.jobs.get(job_id, first) is not first)
        await after.engine.close()

    play(scene)
