"""Jobs that may go elsewhere by themselves, and that somebody moves to yet another place."""

import asyncio
from dataclasses import asdict
from unittest.mock import patch

from trainway.backends.base import Update
from trainway.engine.moving.candidates import candidates_of
from trainway.engine.moving.failover import failover_of
from trainway.engine.moving.move import Candidate, Move, Step
from trainway.engine.moving.moves import Moves
from trainway.engine.moving.recovered_job import RecoveredJob
from trainway.engine.moving.recovered_job_test import FAR, RecoveryWorld, handed_over, play
from trainway.engine.moving.testing import HERE, THERE
from trainway.engine.moving.withdrawal import WorkDoneError
from trainway.engine.submission import Submission
from trainway.engine.testing import jobset, told


async def moved(world: RecoveryWorld, job_id: str) -> None:
    """Let somebody move a job that runs here."""
    here = world.here.jobs[job_id]
    await world.engine.moves.move("demo", THERE)
    await told(here, "suspend")
    here.suspend()
    await handed_over(world, job_id, THERE, attempt=0)


def test_a_job_whose_new_place_ends_it_for_a_loss_begins_again_there() -> None:
    async def scene(world: RecoveryWorld) -> None:
        job_id = await world.recovered("failover", HERE)
        await moved(world, job_id)
        there = world.there.jobs[job_id]
        there.end(succeeded=False, reason="NodeFail")
        async with asyncio.timeout(60):
            while world.there.deleted != [job_id]:
                await asyncio.sleep(0.001)
        again = await world.begun_at(THERE, job_id)
        again.run()
        await world.until("demo", "Running")
        found = failover_of(world.stored())
        assert found is not None
        assert [each.backend for each in found.places] == [THERE, HERE]

    play(scene)


def test_a_job_that_waits_is_not_sent_on_to_where_it_is() -> None:
    async def scene(world: RecoveryWorld) -> None:
        others = [asdict(Candidate(place, [jobset("demo")])) for place in (THERE, FAR)]
        await world.begun(await world.submit("first", requests={"cpu": "4"}))
        objects = [jobset("demo", requests={"cpu": "4"})]
        job, _ = await world.engine.submit(Submission(objects, candidates=others, max_wait=3600.0))
        await world.engine.moves.move("demo", THERE)
        await world.begun_at(THERE, str(job["metadata"]["id"]))
        left = candidates_of(world.stored())
        assert left is not None
        assert [each.backend for each in left.rest] == [FAR]

    play(scene)


def test_a_job_that_has_done_its_work_on_the_way_back_has_ended() -> None:
    async def scene(world: RecoveryWorld) -> None:
        let_go, end = Moves._let_go, {"type": "end", "succeeded": True, "reason": "Done"}

        async def done(moves: Moves, live: RecoveredJob, move: Move) -> None:
            if move.step is Step.RETURNING:
                raise WorkDoneError([Update(({**end, "seq": 9, "time": world.now.isoformat()},))])
            await let_go(moves, live, move)

        await world.begun(await world.submit("first", requests={"cpu": "4"}))
        await world.submit("demo", requests={"cpu": "4"})
        world.there.refuses = "no such jobs"
        with patch.object(Moves, "_let_go", done):
            await world.engine.moves.move("demo", THERE)
            await world.until("demo", "Succeeded")
        assert world.stored().move is None

    play(scene)
