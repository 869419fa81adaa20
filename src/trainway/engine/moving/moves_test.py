import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from datetime import timedelta
from typing import cast
from unittest.mock import patch

import pytest

from trainway.engine.faulty_store import locked
from trainway.engine.moving import patience
from trainway.engine.moving.move import Candidate
from trainway.engine.moving.recovered_job import RecoveredJob
from trainway.engine.moving.testing import HERE, THERE, MovingWorld, goes_on, play, suspended
from trainway.engine.store import JobChange
from trainway.engine.submission import Submission
from trainway.engine.testing import jobset, told
from trainway.errors import ConflictError, DatabaseError
from trainway.json_types import Json
from trainway.queueing.queue_policy import QueueState


def test_a_job_moves_and_stays_the_same_job() -> None:
    async def scene(world: MovingWorld) -> None:
        job = await world.running()
        before = world.stored()
        shown = await world.engine.moves.move("demo", THERE)
        assert shown["status"]["move"] == {"step": "stopping", "from": HERE, "to": THERE}
        await suspended(job)
        there = await goes_on(world, before.id)
        await world.until("demo", lambda each: "move" not in each["status"])
        await world.until("demo", "Running")
        there.end()
        await world.until("demo", "Succeeded")
        after = world.stored()
        assert (after.id, after.backend, after.attempt) == (before.id, THERE, before.attempt)
        assert after.journal_seq == len(there.records) - 1
        assert world.here.left == [before.id]
        assert world.here.ports == set()
        reasons = await world.reasons("demo")
        moves = [reason for reason in reasons if reason in ("Moving", "Arriving", "Moved")]
        assert moves == ["Moving", "Arriving", "Moved"]
        assert "AgentLost" not in reasons

    play(scene)


def test_a_job_that_waits_here_is_only_made_for_the_other_place() -> None:
    async def scene(world: MovingWorld) -> None:
        await world.begun(await world.submit("first", requests={"cpu": "4"}))
        waiting = await world.submit("demo", requests={"cpu": "4"})
        await world.engine.moves.move("demo", THERE)
        there = await world.begun_there(waiting)
        there.run()
        await world.until("demo", "Running")
        assert there.asked == []
        assert world.here.left == []

    play(scene)


def test_a_job_that_was_suspended_stays_so() -> None:
    async def scene(world: MovingWorld) -> None:
        job = await world.running()
        await world.engine.suspend("demo")
        await suspended(job)
        await world.until("demo", "Paused")
        await world.engine.moves.move("demo", THERE)
        shown = await world.until("demo", lambda each: each["spec"]["backend"] == THERE)
        assert (shown["status"]["phase"], world.there.jobs) == ("Paused", {})
        await world.engine.resume("demo")
        await goes_on(world, world.stored().id)
        await world.until("demo", "Running")

    play(scene)


def test_a_place_that_refuses_the_job_costs_nothing() -> None:
    async def scene(world: MovingWorld) -> None:
        job = await world.running()
        world.there.refuses = "it has no room for such jobs"
        await world.engine.moves.move("demo", THERE)
        await suspended(job)
        back = world.stored().id
        await world.until(
            "demo", lambda each: each["spec"]["backend"] == HERE and "move" not in each["status"]
        )
        world.backend = world.here
        again = await world.begun(back)
        await told(again, "resume")
        again.suspend("False")
        again.run()
        await world.until("demo", "Running")
        assert world.there.left == [back]
        assert world.there.ports == set()
        assert "MoveRefused" in await world.reasons("demo")

    play(scene)


def test_what_is_refused_at_once_changes_nothing() -> None:
    async def scene(world: MovingWorld) -> None:
        await world.running()
        before = world.stored()
        with pytest.raises(ConflictError, match="demo is at local already"):
            await world.engine.moves.move("demo", HERE)
        world.here.stays = "its output stays there"
        with pytest.raises(ConflictError, match="cannot leave local: its output stays there"):
            await world.engine.moves.move("demo", THERE)
        assert world.stored() == before
        assert world.there.ports == set()

    play(scene)


def test_a_job_on_its_way_is_told_nothing_but_to_end() -> None:
    async def scene(world: MovingWorld) -> None:
        job = await world.running()
        await world.engine.moves.move("demo", THERE)
        for wish in (world.engine.suspend, world.engine.resume):
            with pytest.raises(ConflictError, match="on its way"):
                await wish("demo")
        with pytest.raises(ConflictError, match="already on its way from local to ssh/lab"):
            await world.engine.moves.move("demo", THERE)
        await world.engine.cancel("demo")
        await told(job, "cancel")
        job.end(succeeded=False, reason="Cancelled")
        await world.until("demo", "Cancelled")
        assert world.there.jobs == {}

    play(scene)


def test_a_job_that_ends_before_it_could_leave_has_ended() -> None:
    async def scene(world: MovingWorld) -> None:
        job = await world.running()
        world.here.clings = "it does not answer"
        await world.engine.moves.move("demo", THERE)
        await suspended(job)
        await world.until("demo", lambda each: each["status"]["move"]["step"] == "leaving")
        job.end()
        world.here.clings = ""
        await world.until("demo", "Succeeded")
        assert world.there.jobs == {}

    play(scene)


def test_a_job_that_is_cancelled_between_two_places_ends() -> None:
    async def scene(world: MovingWorld) -> None:
        job = await world.running()
        world.here.clings = "it does not answer"
        await world.engine.moves.move("demo", THERE)
        await suspended(job)
        await world.until("demo", lambda each: each["status"]["move"]["step"] == "leaving")
        await world.engine.cancel("demo")
        await told(job, "cancel")
        job.end(succeeded=False, reason="Cancelled")
        await world.until("demo", "Cancelled")
        assert (world.here.left, world.there.jobs) == ([], {})

    play(scene)


@pytest.mark.parametrize("writes", range(8))
@pytest.mark.parametrize("refuses", ["", "it has no room for such jobs"])
def test_the_next_server_goes_on_after_any_write(writes: int, refuses: str) -> None:
    """The first server can write so often and is then killed; the next one finds what is stored."""

    async def run() -> None:
        world = MovingWorld()
        world.here.obeys = world.there.obeys = True
        world.there.refuses = refuses
        await world.engine.start()
        await world.running()
        left, update = [writes], world.store.update_all
        acknowledged: list[bool] = []

        def limited(changes: Sequence[JobChange], *, is_durable: bool = True) -> None:
            if not left[0]:
                raise locked()
            left[0] -= 1
            update(changes, is_durable=is_durable)

        with patch.object(world.store, "update_all", limited):
            with suppress(DatabaseError):
                await world.engine.moves.move("demo", THERE)
                acknowledged.append(True)
            async with asyncio.timeout(60):
                while left[0] and not has_settled(world, refuses):
                    await asyncio.sleep(0.005)
            await world.engine.close()

        world = MovingWorld(world)
        await world.engine.start()
        if not acknowledged:
            await world.engine.moves.move("demo", THERE)
        async with asyncio.timeout(60):
            while not has_settled(world, refuses):
                await asyncio.sleep(0.005)
        assert len(world.here.jobs) + len(world.there.jobs) == 1
        assert (await world.reasons("demo")).count("MoveRefused") == bool(refuses)
        await world.engine.close()

    asyncio.run(run())


def has_settled(world: MovingWorld, refuses: str) -> bool:
    """Whether the job has moved and runs, or runs again where it was."""
    record = world.stored()
    where = HERE if refuses else THERE
    is_there = (record.phase, record.backend, record.move) == ("Running", where, None)
    has_moved = bool(world.here.left) if refuses else True
    return is_there and has_moved and not record.wanted


def elsewhere(place: str = THERE) -> Json:
    return asdict(Candidate(place, [jobset("demo")]))


async def waiting(world: MovingWorld, max_wait: float | None) -> str:
    """A job that waits here behind another one, and may go elsewhere."""
    await world.begun(await world.submit("first", requests={"cpu": "4"}))
    objects = [jobset("demo", requests={"cpu": "4"})]
    wanted = Submission(objects, candidates=[elsewhere()], max_wait=max_wait)
    job, _ = await world.engine.submit(wanted)
    return str(job["metadata"]["id"])


def test_a_job_that_has_waited_too_long_goes_to_the_next_place() -> None:
    async def scene(world: MovingWorld) -> None:
        job_id = await waiting(world, 0.0)
        there = await world.begun_there(job_id)
        there.run()
        shown = await world.until("demo", "Running")
        assert shown["spec"]["backend"] == THERE
        assert "candidates" not in shown["status"]
        assert "MovingOn" in await world.reasons("demo")
        assert world.stored().candidates is None

    play(scene)


def test_each_job_of_a_run_that_has_waited_too_long_goes_to_the_next_place() -> None:
    async def scene(world: MovingWorld) -> None:
        await world.begun(await world.submit("first", requests={"cpu": "4"}))
        objects = [jobset("demo", requests={"cpu": "4"})]
        wanted = Submission(objects, candidates=[elsewhere()], max_wait=0.0, num_jobs=2)
        jobs, _ = await world.engine.submit_array(wanted)
        for job in jobs:
            await world.begun_there(str(job["metadata"]["id"]))

    play(scene)


def test_a_job_that_may_still_wait_stays() -> None:
    async def scene(world: MovingWorld) -> None:
        await waiting(world, 3600.0)
        shown = await world.until("demo", "Queued")
        assert shown["status"]["candidates"]["places"] == [THERE]
        assert (world.there.jobs, shown["spec"]["backend"]) == ({}, HERE)

    play(scene)


def test_a_job_whose_queue_is_paused_stays_and_goes_on_when_it_is_resumed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Or it would have left the best of its places while none could start it."""
    monkeypatch.setattr(patience, "_HELD_S", 0.01)

    async def scene(world: MovingWorld) -> None:
        await world.begun(await world.submit("first", requests={"cpu": "4"}))
        await world.engine.queues.set_state("default", QueueState.PAUSED)
        objects = [jobset("demo", requests={"cpu": "4"})]
        wanted = Submission(objects, candidates=[elsewhere()], max_wait=60.0)
        job, _ = await world.engine.submit(wanted)
        await world.until("demo", lambda job: job["status"]["reason"] == "QueuePaused")
        world.now += timedelta(seconds=61)
        live = cast("RecoveredJob", world.engine._live[job["metadata"]["id"]])
        for _ in range(3):
            await world.engine.moves._patience._go_on(live)
        assert (world.stored().backend, world.stored().move) == (HERE, None)
        await world.engine.queues.set_state("default", QueueState.OPEN)
        await world.begun_there(job["metadata"]["id"])

    play(scene)


def test_a_job_that_waits_in_the_queue_of_a_place_is_withdrawn_there() -> None:
    async def scene(world: MovingWorld) -> None:
        wanted = Submission(
            [jobset("demo")], backend=THERE, candidates=[elsewhere(HERE)], max_wait=0.05
        )
        world.there.obeys = True
        job, _ = await world.engine.submit(wanted)
        job_id = job["metadata"]["id"]
        world.now += timedelta(seconds=1)
        here = await world.begun(job_id)
        assert world.there.deleted == [job_id]
        here.run()
        shown = await world.until("demo", "Running")
        assert (shown["spec"]["backend"], shown["metadata"]["id"]) == (HERE, job_id)
        assert world.there.ports == set()

    play(scene)


def test_a_job_that_has_not_started_leaves_also_where_its_output_would_stay() -> None:
    async def scene(world: MovingWorld) -> None:
        world.there.stays = "its output stays there"
        world.there.obeys = True
        job, _ = await world.engine.submit(Submission([jobset("demo")], backend=THERE))
        job_id = job["metadata"]["id"]
        await world.begun_there(job_id)
        await world.engine.moves.move("demo", HERE)
        world.backend = world.here
        await world.begun(job_id)
        assert (world.there.deleted, world.there.left) == ([job_id], [])

    play(scene)


def test_a_job_that_its_place_refuses_goes_to_the_next_one() -> None:
    async def scene(world: MovingWorld) -> None:
        world.here.refuses = "no such jobs"
        wanted = Submission([jobset("demo")], candidates=[elsewhere()])
        job, _ = await world.engine.submit(wanted)
        there = await world.begun_there(job["metadata"]["id"])
        there.run()
        await world.until("demo", "Running")

    play(scene)


def test_a_job_that_every_place_refuses_fails() -> None:
    async def scene(world: MovingWorld) -> None:
        world.here.refuses = world.there.refuses = "no such jobs"
        wanted = Submission([jobset("demo")], candidates=[elsewhere()])
        await world.engine.submit(wanted)
        shown = await world.until("demo", "Failed")
        assert shown["status"]["message"] == "no such jobs"
        assert (world.here.ports, world.there.ports) == (set(), set())

    play(scene)


@pytest.mark.parametrize("writes", range(6))
def test_candidates_survive_a_kill_after_any_write(writes: int) -> None:
    async def run() -> None:
        world = MovingWorld()
        await world.engine.start()
        job_id = await waiting(world, 3600.0)
        await world.until("demo", "Queued")
        left, update = [writes], world.store.update_all

        def limited(changes: Sequence[JobChange], *, is_durable: bool = True) -> None:
            if not left[0]:
                raise locked()
            left[0] -= 1
            update(changes, is_durable=is_durable)

        world.now += timedelta(hours=2)
        with patch.object(world.store, "update_all", limited):
            world.engine.moves.look(world.engine._live[job_id])
            async with asyncio.timeout(60):
                while left[0] and job_id not in world.there.jobs:
                    await asyncio.sleep(0.005)
            await world.engine.close()

        later = MovingWorld(world)
        later.now = world.now
        await later.engine.start()
        (await later.begun_there(job_id)).run()
        await later.until("demo", "Running")
        assert later.stored().backend == THERE
        assert (await later.reasons("demo")).count("MovingOn") == 1
        await later.engine.close()

    asyncio.run(run())
