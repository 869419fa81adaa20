import asyncio
from datetime import timedelta
from typing import Any

import pytest

from trainway.backends.base import ArrayPlace, LogQuery
from trainway.engine.errors import UnfittingJobError
from trainway.engine.submission import Submission
from trainway.engine.testing import NOW, World, jobset, play, told
from trainway.errors import ConflictError, InvalidError, NotFoundError, UsageError
from trainway.json_types import Json


def test_a_job_from_its_submission_to_its_end() -> None:
    async def scene(world: World) -> None:
        job_id = await world.submit()
        job = await world.begun(job_id)
        assert (job.workload.name, job.workload.environ) == ("demo", {"A": "b"})
        await world.until(job_id, "Starting")
        job.run()
        running = await world.until("demo", "Running")
        assert running["status"]["startTime"] == "2026-11-15T05:00:00Z"
        assert not world.is_idle()
        job.write("progress", trainerStatus={"progressPercentage": 5})
        await world.until("demo", lambda seen: bool(seen["status"]["progress"]))
        job.end()
        ended = await world.until("demo", "Succeeded")
        assert (ended["status"]["exitCode"], ended["status"]["message"]) == (0, "it ended")
        assert await world.reasons("demo") == ["Created", "Starting", "Running", "Succeeded"]
        assert world.is_idle()
        assert world.backend.ports == set()

    play(scene)


@pytest.mark.parametrize(
    ("reason", "phase"), [("FailedJobs", "Failed"), ("Cancelled", "Cancelled")]
)
def test_other_ends(reason: str, phase: str) -> None:
    async def scene(world: World) -> None:
        job = await world.begun(await world.submit())
        job.end(succeeded=False, reason=reason)
        assert (await world.until("demo", phase))["status"]["reason"] == reason

    play(scene)


def test_a_request_that_is_repeated_with_its_key_makes_one_job() -> None:
    async def scene(world: World) -> None:
        submission = Submission([jobset()], key="k")
        made = await asyncio.gather(*(world.engine.submit(submission) for _ in range(3)))
        made.append(await world.engine.submit(submission))
        (job_id,) = {job["metadata"]["id"] for job, _ in made}
        assert await world.engine.reading.counts() == (1, 1)
        record = await world.engine.reading.record(job_id)
        assert world.backend.ports == {record.handle_data["port"]}
        other, _ = await world.engine.submit(Submission([jobset()], key="l"))
        assert other["metadata"]["id"] != job_id

    play(scene)


def test_a_key_that_was_used_for_another_request_is_refused() -> None:
    async def scene(world: World) -> None:
        first, _ = await world.engine.submit(Submission([jobset()], key="k"))
        others = [
            Submission([jobset("other")], key="k"),
            Submission([jobset()], key="k", priority=1),
            Submission([jobset()], key="k", environ={"A": "b"}),
        ]
        for other in others:
            with pytest.raises(ConflictError, match="the idempotency key 'k' was already used"):
                await world.engine.submit(other)
        with pytest.raises(ConflictError, match="for another request"):
            await world.engine.submit_array(array(2, key="k"))
        assert await world.engine.reading.counts() == (1, 1)
        assert len(world.backend.ports) == 1
        job_id = first["metadata"]["id"]
        world.store.update(job_id, {"request_digest": None})  # as an older program left it
        again, _ = await world.engine.submit(others[0])
        assert again["metadata"]["id"] == job_id

    play(scene)


def test_the_order_of_keys_makes_no_other_request() -> None:
    async def scene(world: World) -> None:
        made = jobset()
        turned = dict(reversed(made.items()))
        labels = {"a": "1", "b": "2"}
        first, _ = await world.engine.submit(Submission([made], key="k", labels=labels))
        labels = dict(reversed(labels.items()))
        again, _ = await world.engine.submit(Submission((turned,), key="k", labels=labels))
        assert first["metadata"]["id"] == again["metadata"]["id"]

    play(scene)


def test_what_is_refused_leaves_nothing_behind() -> None:
    async def scene(world: World) -> None:
        with pytest.raises(InvalidError):
            await world.submit("Bad_Name")
        with pytest.raises(UnfittingJobError, match="5 CPUs, and there are 4"):
            await world.submit(requests={"cpu": "5"})
        with pytest.raises(UsageError, match="not an absolute path"):
            await world.engine.submit(Submission([jobset()], workdir="here"))
        with pytest.raises(NotFoundError):
            await world.engine.submit(Submission([jobset()], backend="moon"))
        assert await world.engine.reading.counts() == (0, 0)
        assert world.backend.ports == set()

    play(scene)


def test_the_next_one_starts_when_the_first_is_over() -> None:
    async def scene(world: World) -> None:
        first = await world.submit("first", requests={"cpu": "3"})
        second = await world.submit("second", requests={"cpu": "3"})
        waiting = await world.until("second", "Queued")
        assert waiting["status"]["queuePosition"] == 1
        assert second not in world.backend.jobs
        (await world.begun(first)).end()
        await world.begun(second)
        assert "queuePosition" not in (await world.until("second", "Starting"))["status"]

    play(scene)


def test_a_waiting_job_that_is_cancelled_never_reaches_its_backend() -> None:
    async def scene(world: World) -> None:
        await world.submit("first", requests={"cpu": "3"})
        await world.submit("second", requests={"cpu": "3"})
        third = await world.submit("third", requests={"cpu": "1"})
        cancelled = await world.engine.cancel("second")
        assert cancelled["status"]["phase"] == "Cancelled"
        await world.begun(third)
        with pytest.raises(ConflictError, match="second has already ended"):
            await world.engine.cancel("second")

    play(scene)


def test_suspend_and_resume() -> None:
    async def scene(world: World) -> None:
        job = await world.begun(await world.submit(requests={"cpu": "4"}))
        job.run()
        await world.until("demo", "Running")
        await world.engine.suspend("demo")
        with pytest.raises(ConflictError, match="still being suspended"):
            await world.engine.resume("demo")
        job.suspend()
        await world.until("demo", "Paused")
        other = await world.begun(await world.submit("other", requests={"cpu": "4"}))
        assert (await world.engine.resume("demo"))["status"]["phase"] == "Queued"
        other.end()
        await world.until("demo", "Starting")
        job.suspend("False")
        await world.until("demo", "Running")
        assert job.asked == ["suspend", "resume"]
        assert job.submits == 1

    play(scene)


def test_a_job_may_be_submitted_suspended() -> None:
    async def scene(world: World) -> None:
        spec = {"suspend": True}
        job = await world.begun(await world.submit(requests={"cpu": "4"}, spec=spec))
        other = await world.begun(await world.submit("other", requests={"cpu": "4"}))
        job.suspend()
        await world.until("demo", "Paused")
        await world.engine.resume("demo")
        await world.until("demo", "Queued")
        other.end()
        await world.until("demo", "Starting")
        await told(job, "resume")

    play(scene)


def test_delete_waits_for_the_end_and_forgets_the_job() -> None:
    async def scene(world: World) -> None:
        job_id = await world.submit()
        job = await world.begun(job_id)
        deleting = asyncio.create_task(world.engine.delete("demo"))
        await told(job, "cancel")
        assert not deleting.done()
        job.end(succeeded=False, reason="Cancelled")
        assert (await deleting)["status"]["phase"] == "Cancelled"
        assert world.backend.deleted == [job_id]
        with pytest.raises(NotFoundError):
            await world.engine.reading.get("demo")

    play(scene)


def test_a_deadline_ends_the_job_as_failed() -> None:
    async def scene(world: World) -> None:
        job_id = await world.submit()
        job = await world.begun(job_id)
        live = world.engine._live[job_id]
        await live.change(deadline_seconds=60)
        world.now = NOW + timedelta(seconds=60)
        job.run()
        await world.until("demo", "Stopping")
        await told(job, "cancel")
        job.end(succeeded=False, reason="Cancelled")
        status = (await world.until("demo", "Failed"))["status"]
        assert status["reason"] == "DeadlineExceeded"

    play(scene)


def test_files_expire_and_history_stays() -> None:
    async def scene(world: World) -> None:
        job_id = await world.submit(spec={"ttlSecondsAfterFinished": 0})
        (await world.begun(job_id)).end()
        await world.until("demo", "Succeeded")
        async with asyncio.timeout(60):
            while "Expired" not in await world.reasons("demo"):
                await asyncio.sleep(0.001)
        assert world.backend.deleted == [job_id]
        with pytest.raises(NotFoundError, match="were removed"):
            await world.engine.reading.check_logs("demo", LogQuery())

    play(scene)


def test_followers_of_logs_wait_for_the_beginning_and_stop_at_the_end() -> None:
    async def scene(world: World) -> None:
        job_id = await world.submit()

        async def follow() -> list[bytes]:
            query = LogQuery(follow=True)
            return [
                line.text
                async for lines in world.engine.reading.logs("demo", query)
                for line in lines
            ]

        following = asyncio.create_task(follow())
        job = await world.begun(job_id)
        job.run()
        await world.until("demo", "Running")
        assert not following.done()
        job.end()
        assert await asyncio.wait_for(following, 60) == [b"first", job_id.encode()]

    play(scene)


def test_events_are_streamed_until_the_end() -> None:
    async def scene(world: World) -> None:
        job = await world.begun(await world.submit())
        job.run()
        await world.until("demo", "Running")
        job.end()
        stream = world.engine.reading.event_stream("demo", after=1)
        reasons = [event.reason async for event in stream]
        assert reasons == ["Starting", "Running", "Succeeded"]

    play(scene)


def test_progress_of_a_job_that_is_over_is_refused() -> None:
    async def scene(world: World) -> None:
        job = await world.begun(await world.submit())
        await world.engine.report_progress("demo", {"progressPercentage": 1})
        assert (await world.engine.reading.get("demo"))["status"]["progress"] == {
            "progressPercentage": 1
        }
        job.end()
        await world.until("demo", "Succeeded")
        with pytest.raises(ConflictError, match="demo has already ended"):
            await world.engine.report_progress("demo", {})

    play(scene)


def array(count: int, *, key: str = "", name: str = "", **more: Any) -> Submission:
    """So many jobs of one submission."""
    return Submission([jobset(**more)], num_jobs=count, key=key, name=name)


def names(jobs: list[Json]) -> list[str]:
    return [job["metadata"]["name"] for job in jobs]


def test_several_jobs_of_one_submission() -> None:
    async def scene(world: World) -> None:
        jobs, _ = await world.engine.submit_array(array(3))
        assert names(jobs) == ["demo-0", "demo-1", "demo-2"]
        first = jobs[0]["metadata"]["id"]
        for rank, job in enumerate(jobs):
            begun = await world.begun(job["metadata"]["id"])
            assert begun.workload.place == ArrayPlace(first, rank, 3)
            (role,) = begun.workload.jobset["spec"]["replicatedJobs"]
            (container,) = role["template"]["spec"]["template"]["spec"]["containers"]
            assert {"name": "TRAINWAY_JOB_RANK", "value": str(rank)} in container["env"]
            begun.end()
            await world.until(f"demo-{rank}", "Succeeded")
        again = await world.engine.rerun("demo-1")
        begun = await world.begun(again["metadata"]["id"])
        assert begun.workload.place is None
        assert begun.workload.name == "demo-1"

    play(scene)


def test_several_jobs_are_taken_all_or_none_and_once() -> None:
    async def scene(world: World) -> None:
        with pytest.raises(UnfittingJobError, match="demo-0 can never start"):
            await world.engine.submit_array(array(3, requests={"cpu": "5"}))
        with pytest.raises(InvalidError):
            await world.engine.submit_array(array(3, name="Bad_Name"))
        with pytest.raises(UsageError, match="1001 jobs are too many"):
            await world.engine.submit_array(array(1001))
        assert await world.engine.reading.counts() == (0, 0)
        assert world.backend.ports == set()
        made = await asyncio.gather(
            *(world.engine.submit_array(array(3, key="k" * 128)) for _ in range(3))
        )
        ids = {tuple(job["metadata"]["id"] for job in jobs) for jobs, _ in made}
        assert len(ids) == 1
        assert await world.engine.reading.counts() == (3, 3)
        assert len(world.backend.ports) == 3

    play(scene)


def test_names_of_several_that_are_to_be_generated_begin_alike() -> None:
    async def scene(world: World) -> None:
        objects = [jobset()]
        objects[0]["metadata"] = {"generateName": "fresh-"}
        jobs, _ = await world.engine.submit_array(Submission(objects, num_jobs=2))
        first, second = names(jobs)
        assert first.startswith("fresh-")
        assert (first[-2:], second) == ("-0", f"{first[:-2]}-1")

    play(scene)


def test_the_plan_of_several_is_that_of_the_first() -> None:
    async def scene(world: World) -> None:
        await world.engine.plan(array(3))
        assert world.backend.ports == set()
        assert await world.engine.reading.counts() == (0, 0)

    play(scene)
