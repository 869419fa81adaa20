"""What is left of a former moment when the next one is due."""

import asyncio
from collections.abc import Callable

import pytest

from trainway.backends.base import Handle
from trainway.backends.testing import FakeBackend
from trainway.engine.left_job import NOT_TAKEN_UP
from trainway.engine.run.record import RunRecord
from trainway.engine.run.searches_test import active, begun, is_over, search
from trainway.engine.schedule.record import NewSchedule, ScheduleRecord
from trainway.engine.schedule.schedules_test import (
    DAY,
    HOUR,
    THREE,
    at,
    finish,
    jobs_of,
    jobs_once,
    looked,
    nightly,
    played,
)
from trainway.engine.submission import Submission
from trainway.engine.testing import World, act, memory_store
from trainway.jobset import labels
from trainway.json_types import Json
from trainway.schedule.rules import CatchUp, Overlap


def searching(overlap: Overlap) -> NewSchedule:
    return nightly(overlap=overlap, submission=search(9, 1))


async def searches_once(world: World, count: int) -> list[Json]:
    """All runs, oldest first, when there are so many."""
    async with asyncio.timeout(60):
        while len(found := (await world.engine.runs.page(100)).items) < count:
            await looked(world)
    return [await world.engine.runs.get(run["metadata"]["id"]) for run in reversed(found)]


async def until(world: World, run: Json, holds: Callable[[Json], bool]) -> Json:
    async with asyncio.timeout(60):
        while not holds(found := await world.engine.runs.get(run["metadata"]["id"])):
            await asyncio.sleep(0.001)
    return found


def test_a_search_is_replaced_as_a_whole() -> None:
    async def scene(world: World) -> None:
        await world.engine.schedules.create(searching(Overlap.REPLACE))
        await at(world, THREE)
        (run,) = await searches_once(world, 1)
        (trial,) = await begun(world, 1)
        await at(world, THREE + DAY)
        old = await until(world, run, is_over)
        assert old["status"]["phase"] == "Cancelled"
        assert len(await searches_once(world, 1)) == 1  # until nothing is left of it
        trial.end(succeeded=False, reason="Cancelled")
        old, new = await searches_once(world, 2)
        assert len(old["jobs"]) == 1
        assert len(active(new)) == 1
        assert new["status"]["search"] is None

    played(scene)


@pytest.mark.parametrize(("overlap", "count"), [(Overlap.FORBID, 1), (Overlap.REPLACE, 2)])
def test_a_search_between_two_trials_goes_on(
    overlap: Overlap, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scene(world: World) -> None:
        await world.engine.schedules.create(searching(overlap))
        await at(world, THREE)
        (run,) = await searches_once(world, 1)
        (trial,) = await begun(world, 1)
        monkeypatch.setattr(world.engine.runs.searches, "look", lambda: None)  # no other trial
        trial.end()
        await world.until(run["jobs"][0]["metadata"]["id"], "Succeeded")
        await at(world, THREE + DAY)
        former, *_ = found = await searches_once(world, count)
        assert len(found) == count
        assert (former["status"]["search"] is None) == (overlap == Overlap.FORBID)
        last = (await world.engine.schedules.get("nightly"))["status"]["last"]
        skipped = f"demo ({former['metadata']['id']}) had not ended"
        wanted = ("Skipped", skipped) if count == 1 else ("Submitted", "")
        assert (last["result"], last["message"]) == wanted

    played(scene)


def test_the_search_of_another_is_left_alone() -> None:
    async def scene(world: World) -> None:
        await world.engine.runs.search(search(9, 1))
        await world.engine.schedules.create(nightly(overlap=Overlap.REPLACE))
        await at(world, THREE)
        run = await world.engine.runs.get("demo")
        assert run["status"]["search"] is None
        assert len(await jobs_of(world)) == 2

    played(scene)


@pytest.mark.parametrize("overlap", [Overlap.FORBID, Overlap.REPLACE])
def test_a_job_that_the_next_server_could_not_take_up_has_not_ended(
    overlap: Overlap, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = memory_store()
    monkeypatch.setattr(store, "close", lambda: None)  # the next server has it too

    async def before(world: World) -> None:
        await world.engine.schedules.create(nightly(overlap=overlap))
        await at(world, THREE)
        await jobs_once(world, 1)

    played(before, store)

    class Forgetful(FakeBackend):
        async def adopt(self, handle: Handle) -> None:
            raise KeyError(handle["id"])

    async def after(world: World) -> None:
        await at(world, THREE + DAY)
        (job,) = await jobs_of(world)
        assert job["status"]["reason"] == NOT_TAKEN_UP
        status = (await world.engine.schedules.get("nightly"))["status"]
        said = status["waiting" if overlap == Overlap.REPLACE else "last"]
        assert f"train ({job['metadata']['id']})" in str(said)
        assert len(status["due"]) == (overlap == Overlap.REPLACE)

    asyncio.run(act(after, World(Forgetful(), store)))


@pytest.mark.parametrize("is_paused", [False, True])
def test_a_moment_waits_for_the_answer_to_the_former_one(
    is_paused: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or both would be submitted at once when the place answers, whatever the overlap says."""

    async def scene(world: World) -> None:
        schedules = world.engine.schedules
        await schedules.create(nightly(catch_up=CatchUp.ONCE))
        submits, answers, asked = world.engine.submit, asyncio.Event(), 0

        async def slow(submission: Submission) -> tuple[Json, list[str]]:
            nonlocal asked
            asked += 1
            await answers.wait()
            return await submits(submission)

        monkeypatch.setattr(world.engine, "submit", slow)  # what schedules submit with
        schedules._submitting._patience_s = 0.05
        await at(world, THREE)
        if is_paused:
            await schedules.pause("nightly")
            await schedules.resume("nightly")
        await at(world, THREE + DAY)
        shown = await schedules.get("nightly")
        assert shown["status"]["due"] == ["2026-11-17T03:00:00.000000Z"]
        assert shown["status"]["waiting"] == "local has not answered yet"
        answers.set()
        (job,) = await jobs_once(world, 1)
        while (last := (await schedules.get("nightly"))["status"]["last"]) is None:
            await looked(world)
        assert last["result"] == "Skipped"
        assert job["metadata"]["id"] in last["message"]
        assert (len(await jobs_of(world)), asked) == (1, 1)

    played(scene)


def test_a_former_moment_that_fails_late_holds_up_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def scene(world: World) -> None:
        schedules = world.engine.schedules
        await schedules.create(nightly())
        submits, answers, asked = world.engine.submit, asyncio.Event(), 0

        async def failing(submission: Submission) -> tuple[Json, list[str]]:
            nonlocal asked
            asked += 1
            if asked > 1:
                return await submits(submission)
            await answers.wait()
            raise OSError("the place is broken")

        monkeypatch.setattr(world.engine, "submit", failing)  # what schedules submit with
        schedules._submitting._patience_s = 0.05
        await at(world, THREE)
        await at(world, THREE + DAY)
        answers.set()
        (job,) = await jobs_once(world, 1)
        assert job["metadata"]["labels"]["trainway.dev/scheduled-at"] == "20261117T030000Z"

    played(scene)


@pytest.mark.parametrize("overlap", [Overlap.FORBID, Overlap.REPLACE])
def test_a_job_that_comes_late_is_not_taken_for_one_of_a_former_moment(
    overlap: Overlap, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scene(world: World) -> None:
        await world.engine.schedules.create(nightly(overlap=overlap))
        submits, answers = world.engine.submit, asyncio.Event()
        firing = world.engine.schedules._firing
        searches = firing._open_searches

        async def slow(submission: Submission) -> tuple[Json, list[str]]:
            await answers.wait()
            return await submits(submission)

        async def stored_meanwhile(record: ScheduleRecord) -> list[RunRecord]:
            answers.set()
            while not await jobs_of(world):
                await asyncio.sleep(0.001)
            return await searches(record)

        monkeypatch.setattr(world.engine, "submit", slow)  # what schedules submit with
        world.engine.schedules._submitting._patience_s = 0.01
        await at(world, THREE)
        monkeypatch.setattr(firing, "_open_searches", stored_meanwhile)
        await looked(world)
        (job,) = await jobs_of(world)
        last = (await world.engine.schedules.get("nightly"))["status"]["last"]
        assert (last["result"], last["job"]) == ("Submitted", job["metadata"]["id"])
        assert (await world.begun(job["metadata"]["id"])).asked == []

    played(scene)


def test_what_was_missed_is_made_up_for_one_after_the_other() -> None:
    async def scene(world: World) -> None:
        await world.engine.schedules.create(nightly(catch_up=CatchUp.ALL))
        await at(world, THREE + 2 * DAY + HOUR)
        for number in range(1, 4):
            await at(world, THREE + 2 * DAY + (number + 1) * HOUR)
            job, *before = await jobs_once(world, number)
            assert len(before) == number - 1
            due = (await world.engine.schedules.get("nightly"))["status"]["due"]
            assert len(due) == 3 - number
            await finish(world, job)
        times = [job["metadata"]["labels"][labels.SCHEDULED_AT] for job in await jobs_of(world)]
        assert times == ["20261118T030000Z", "20261117T030000Z", "20261116T030000Z"]
        await at(world, THREE + 3 * DAY)
        await jobs_once(world, 4)
        await at(world, THREE + 4 * DAY)  # in time, and so it is left out
        last = (await world.engine.schedules.get("nightly"))["status"]["last"]
        assert last["result"] == "Skipped"

    played(scene)
