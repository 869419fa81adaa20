import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from trainway.engine.phases import Phase
from trainway.engine.schedule.record import NewSchedule
from trainway.engine.schedule.schedules import Schedules
from trainway.engine.store import Store
from trainway.engine.submission import Submission
from trainway.engine.testing import World, act, jobset, memory_store
from trainway.errors import ConflictError, DatabaseError, NotFoundError, UsageError
from trainway.jobset import labels
from trainway.json_types import Json
from trainway.schedule.rules import CatchUp, Overlap

THREE = datetime(2026, 11, 16, 3, tzinfo=UTC)
"""The first three o'clock after the beginning of a world."""
DAY, HOUR = timedelta(days=1), timedelta(hours=1)
Acts = Callable[[World], Awaitable[None]]


class Killed(BaseException):
    """The server ends here."""


def nightly(**more: Any) -> NewSchedule:
    new = NewSchedule(
        name="nightly",
        cron="0 3 * * *",
        zone="UTC",
        catch_up=CatchUp.ONCE,
        overlap=Overlap.FORBID,
        is_paused=False,
        submission=Submission([jobset("train")], environ={"A": "b"}),
    )
    return replace(new, **more)


async def looked(world: World) -> None:
    """Have what is due done; there must be schedules."""
    looking = world.engine.schedules.look()
    assert looking is not None
    await looking


async def at(world: World, now: datetime) -> None:
    """Let it be that late, and what is due be done."""
    world.now = now
    await looked(world)


async def jobs_of(world: World) -> list[Json]:
    page = await world.engine.reading.page(100)
    return page.items


async def jobs_once(world: World, count: int) -> list[Json]:
    """The jobs, when there are so many: a busy machine submits them later than at once."""
    while len(found := await jobs_of(world)) < count:
        await looked(world)
    return found


async def finish(world: World, job: Json) -> None:
    fake = await world.begun(job["metadata"]["id"])
    fake.end()
    await world.until(job["metadata"]["id"], "Succeeded")


def played(scene: Acts, store: Store | None = None) -> None:
    asyncio.run(act(scene, World(store=store)))


def test_it_fires_once_at_its_time_and_the_job_knows_it() -> None:
    async def scene(world: World) -> None:
        made, _ = await world.engine.schedules.create(nightly())
        assert made["status"]["next"] == "2026-11-16T03:00:00.000000Z"
        assert not world.is_idle()
        await at(world, THREE - timedelta(seconds=1))
        assert await jobs_of(world) == []
        for _ in range(3):
            await at(world, THREE)
        (job,) = await jobs_of(world)
        assert job["metadata"]["name"] == "train"
        assert job["metadata"]["labels"][labels.SCHEDULE] == "nightly"
        assert job["metadata"]["labels"][labels.SCHEDULED_AT] == "20261116T030000Z"
        shown = await world.engine.schedules.get("nightly")
        assert shown["status"]["last"]["job"] == job["metadata"]["id"]
        assert shown["status"]["activeJobs"] == [job["metadata"]["id"]]
        assert shown["status"]["next"] == "2026-11-17T03:00:00.000000Z"

    played(scene)


def test_runs_know_it_too() -> None:
    async def scene(world: World) -> None:
        several = replace(nightly().submission, num_jobs=2)
        await world.engine.schedules.create(nightly(submission=several))
        await at(world, THREE)
        jobs = await jobs_of(world)
        assert [job["metadata"]["labels"][labels.SCHEDULE] for job in jobs] == ["nightly"] * 2
        shown = await world.engine.schedules.get("nightly")
        assert shown["status"]["last"]["run"] == jobs[0]["spec"]["run"]

    played(scene)


@pytest.mark.parametrize(
    ("catch_up", "count"), [(CatchUp.SKIP, 0), (CatchUp.ONCE, 1), (CatchUp.ALL, 3)]
)
def test_what_was_missed_while_no_server_was_there(
    catch_up: CatchUp, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = memory_store()
    monkeypatch.setattr(store, "close", lambda: None)  # the next server has it too

    async def create(world: World) -> None:
        await world.engine.schedules.create(nightly(catch_up=catch_up, overlap=Overlap.ALLOW))

    async def later(world: World) -> None:
        await looked(world)
        assert len(await jobs_of(world)) == count

    async def both() -> None:
        await act(create, World(store=store))
        world = World(store=store)
        world.now = THREE + 2 * DAY + HOUR
        await act(later, world)

    asyncio.run(both())


def test_a_clock_that_is_put_forward_and_back() -> None:
    async def scene(world: World) -> None:
        await world.engine.schedules.create(nightly(overlap=Overlap.ALLOW))
        await at(world, THREE)
        await at(world, THREE - HOUR)
        await at(world, THREE)
        assert len(await jobs_of(world)) == 1
        await at(world, THREE + DAY + HOUR)  # forward by a day
        assert len(await jobs_of(world)) == 2
        await at(world, THREE + HOUR)  # and back again
        [shown] = world.engine.schedules.all()
        assert shown["status"]["next"].startswith("2026-11-18T03:00")  # as it comes to be
        await at(world, THREE + DAY + HOUR)
        assert len(await jobs_of(world)) == 2
        await at(world, THREE + 400 * DAY)  # wrong by a year
        assert len(await jobs_of(world)) == 3
        await at(world, THREE + DAY + 2 * HOUR)
        await at(world, THREE + 2 * DAY)
        assert len(await jobs_of(world)) == 4

    played(scene)


def test_overlap_forbidden() -> None:
    async def scene(world: World) -> None:
        await world.engine.schedules.create(nightly())
        await at(world, THREE)
        (job,) = await jobs_of(world)
        await at(world, THREE + DAY)
        assert len(await jobs_of(world)) == 1
        last = (await world.engine.schedules.get("nightly"))["status"]["last"]
        assert last["result"] == "Skipped"
        assert job["metadata"]["id"] in last["message"]
        await finish(world, job)
        await at(world, THREE + 2 * DAY)
        assert len(await jobs_of(world)) == 2

    played(scene)


def test_overlap_replaced_when_nothing_is_left_of_the_old_job() -> None:
    async def scene(world: World) -> None:
        await world.engine.schedules.create(nightly(overlap=Overlap.REPLACE))
        await at(world, THREE)
        (job,) = await jobs_of(world)
        fake = await world.begun(job["metadata"]["id"])
        await at(world, THREE + DAY)
        shown = await world.engine.schedules.get("nightly")
        assert shown["status"]["due"] == ["2026-11-17T03:00:00.000000Z"]
        assert len(await jobs_of(world)) == 1
        fake.end(succeeded=False, reason="Cancelled")
        await world.until(job["metadata"]["id"], "Cancelled")
        await looked(world)
        new, old = await jobs_of(world)
        assert old["status"]["phase"] == Phase.CANCELLED
        assert new["status"]["phase"] != Phase.CANCELLED

    played(scene)


def test_pause_resume_delete() -> None:
    async def scene(world: World) -> None:
        schedules = world.engine.schedules
        await schedules.create(nightly())
        paused = await schedules.pause("nightly")
        assert paused["spec"]["paused"]
        assert paused["status"]["next"] is None
        assert world.is_idle()
        await at(world, THREE + HOUR)
        await schedules.resume("nightly")
        await at(world, THREE + 2 * HOUR)
        assert await jobs_of(world) == []  # what comes while it is paused is not missed
        assert not world.is_idle()
        await at(world, THREE + DAY)
        assert len(await jobs_of(world)) == 1
        await schedules.delete("nightly")
        assert schedules.all() == []
        assert len(await jobs_of(world)) == 1
        with pytest.raises(NotFoundError, match="there is no schedule 'nightly'"):
            await schedules.pause("nightly")

    played(scene)


def test_names_and_requests() -> None:
    async def scene(world: World) -> None:
        schedules = world.engine.schedules
        first, _ = await schedules.create(nightly(name=""), "key")
        assert first["metadata"]["name"] == "train"
        again, _ = await schedules.create(nightly(name="train"), "key")
        assert again["metadata"] == first["metadata"]
        with pytest.raises(ConflictError, match="there is a schedule train already"):
            await schedules.create(nightly(name="train"), "other")
        with pytest.raises(UsageError, match="cannot be called"):
            await schedules.create(nightly(name="a b"))
        with pytest.raises(UsageError, match="the hour '25'"):
            await schedules.create(nightly(cron="0 25 * * *"))
        with pytest.raises(UsageError, match="there is no time zone"):
            await schedules.create(nightly(zone="Mars"))
        assert len(schedules.all()) == 1

    played(scene)


def test_what_cannot_be_submitted_is_told_and_the_next_moment_comes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def scene(world: World) -> None:
        await world.engine.schedules.create(nightly())
        submits, tries = world.engine.submit, 0

        async def failing(submission: Submission) -> tuple[Json, list[str]]:
            nonlocal tries
            tries += 1
            if tries == 1:
                raise UsageError("the workdir is gone", hint="make it")
            return await submits(submission)

        monkeypatch.setattr(world.engine, "submit", failing)  # what schedules submit with
        await at(world, THREE)
        last = (await world.engine.schedules.get("nightly"))["status"]["last"]
        assert (last["result"], last["message"]) == ("Failed", "the workdir is gone; make it")
        await at(world, THREE + DAY)
        assert len(await jobs_of(world)) == 1

    played(scene)


def test_a_disk_that_is_full_for_a_while_loses_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def scene(world: World) -> None:
        await world.engine.schedules.create(nightly(catch_up=CatchUp.SKIP))
        submits, is_full = world.engine.submit, True

        async def failing(submission: Submission) -> tuple[Json, list[str]]:
            if is_full:
                raise DatabaseError("the disk is full")
            return await submits(submission)

        monkeypatch.setattr(world.engine, "submit", failing)  # what schedules submit with
        await at(world, THREE)
        shown = await world.engine.schedules.get("nightly")
        assert shown["status"]["waiting"] == "the disk is full"
        is_full = False
        await at(world, THREE + HOUR)
        (job,) = await jobs_of(world)
        assert job["metadata"]["labels"][labels.SCHEDULED_AT] == "20261116T030000Z"

    played(scene)


def test_a_submission_that_hangs_delays_no_other_and_comes_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def scene(world: World) -> None:
        await world.engine.schedules.create(nightly())
        await world.engine.schedules.create(nightly(name="other", cron="0 * * * *"))
        submits, answers, asked = world.engine.submit, asyncio.Event(), 0

        async def slow(submission: Submission) -> tuple[Json, list[str]]:
            nonlocal asked
            if submission.labels[labels.SCHEDULE] == "nightly":
                asked += 1
                await answers.wait()
            return await submits(submission)

        monkeypatch.setattr(world.engine, "submit", slow)  # what schedules submit with
        world.engine.schedules._submitting._patience_s = 0.05
        await at(world, THREE)
        (job,) = await jobs_once(world, 1)
        assert job["metadata"]["labels"][labels.SCHEDULE] == "other"
        shown = await world.engine.schedules.get("nightly")
        assert shown["status"]["waiting"] == "local has not answered yet"
        await finish(world, job)
        await at(world, THREE + HOUR)
        assert len(await jobs_once(world, 2)) == 2
        answers.set()
        found = await jobs_once(world, 3)
        for _ in range(3):
            await looked(world)
        names = [job["metadata"]["labels"][labels.SCHEDULE] for job in found]
        assert sorted(names) == ["nightly", "other", "other"]
        last = (await world.engine.schedules.get("nightly"))["status"]["last"]
        assert (last["result"], asked) == ("Submitted", 1)

    played(scene)


def test_a_schedule_whose_submission_hangs_can_be_paused_and_deleted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def scene(world: World) -> None:
        await world.engine.schedules.create(nightly())

        async def never(submission: Submission) -> tuple[Json, list[str]]:
            await asyncio.Event().wait()
            raise AssertionError(submission)

        monkeypatch.setattr(world.engine, "submit", never)  # what schedules submit with
        world.engine.schedules._submitting._patience_s = 0.05
        await at(world, THREE)
        assert (await world.engine.schedules.pause("nightly"))["status"]["due"] == []
        await world.engine.schedules.delete("nightly")
        assert world.engine.schedules.all() == []

    played(scene)


@pytest.mark.parametrize("overlap", list(Overlap))
@pytest.mark.parametrize("written", range(4))
def test_killed_between_any_two_writes_it_fires_once(
    written: int, overlap: Overlap, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server ends before its n-th write for a moment; the next one goes on."""
    store = memory_store()
    monkeypatch.setattr(store, "close", lambda: None)  # the next server has it too
    left = [1_000]

    def counted(write: Callable[..., Any]) -> Callable[..., Any]:
        def writing(*args: Any, **kwargs: Any) -> Any:
            if left[0] == 0:
                raise Killed
            left[0] -= 1
            return write(*args, **kwargs)

        return writing

    monkeypatch.setattr(store.schedules, "change", counted(store.schedules.change))
    monkeypatch.setattr(store, "add_all", counted(store.add_all))

    async def first(world: World) -> None:
        await world.engine.schedules.create(nightly(overlap=overlap))
        left[0] = written
        world.now = THREE
        await _until_killed(world.engine.schedules)

    async def second(world: World) -> None:
        await at(world, THREE + timedelta(seconds=30))
        (job,) = await jobs_of(world)
        last = (await world.engine.schedules.get("nightly"))["status"]["last"]
        assert (last["result"], last["job"]) == ("Submitted", job["metadata"]["id"])

    async def both() -> None:
        world = World(store=store)
        await act(first, world)
        left[0] = 1_000
        again = World(world.backend, store)
        again.now = THREE + timedelta(seconds=20)
        await act(second, again)

    asyncio.run(both())


async def _until_killed(schedules: Schedules) -> None:
    with suppress(Killed):
        await schedules._play()
