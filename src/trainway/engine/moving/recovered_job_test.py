import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from unittest.mock import patch

import pytest

from trainway.backends.base import BackendSettings, Handle
from trainway.backends.registry import Registry
from trainway.backends.testing import FakeBackend, FakeJob
from trainway.engine.faulty_store import locked
from trainway.engine.jobs import Engine
from trainway.engine.moving.failover import failover_of
from trainway.engine.moving.move import Candidate
from trainway.engine.moving.recovered_job import RecoveredJob
from trainway.engine.moving.testing import HERE, THERE, MovingWorld
from trainway.engine.store import JobChange
from trainway.engine.submission import Submission
from trainway.engine.testing import act, jobset, told
from trainway.engine.times import time_text
from trainway.json_types import Json

FAR = "slurm/hpc"


class FarPlace(FakeBackend):
    """A place that cannot hand jobs over."""

    name = FAR
    schedules = True

    async def cancel(self, handle: Handle) -> None:
        """End it."""
        await super().cancel(handle)
        self.jobs[handle["id"]].end(succeeded=False, reason="Cancelled")

    async def delete(self, handle: Handle) -> None:
        """Have nothing of it any more."""
        await super().delete(handle)
        self.jobs.pop(handle["id"], None)


class RecoveryWorld(MovingWorld):
    """Two places that hand jobs over, and one that does not."""

    def __init__(self, before: "RecoveryWorld | None" = None) -> None:
        super().__init__(before)
        self.far: FarPlace = before.far if before else FarPlace()
        registry = Registry(BackendSettings(Path("/")))
        for place in (self.here, self.there, self.far):
            registry.put(place)
        self.engine = Engine(self.store, registry, clock=lambda: self.now)

    def place(self, name: str) -> FakeBackend:
        """The place of that name."""
        return {HERE: self.here, THERE: self.there, FAR: self.far}[name]

    async def recovered(self, strategy: str, *places: str) -> str:
        """A job that runs at the first of these places, and may go to the others."""
        others = [asdict(Candidate(place, [jobset("demo")])) for place in places[1:]]
        wanted = Submission(
            [jobset("demo")], backend=places[0], candidates=others, recovery_strategy=strategy
        )
        job, _ = await self.engine.submit(wanted)
        job_id = str(job["metadata"]["id"])
        (await self.begun_at(places[0], job_id)).run()
        await self.until("demo", "Running")
        return job_id

    async def begun_at(self, place: str, job_id: str) -> FakeJob:
        """Wait until a place has the job."""
        self.backend = self.place(place)
        return await self.begun(job_id)

    async def messages(self, reason: str) -> list[str]:
        """What events of that reason say."""
        events = await self.engine.reading.events("demo")
        return [event.message for event in events if event.reason == reason]


Scene = Callable[[RecoveryWorld], Awaitable[None]]


def play(scene: Scene) -> None:
    async def run() -> None:
        world = RecoveryWorld()
        await act(lambda _: scene(world), world)

    asyncio.run(run())


def lose(job: FakeJob, attempt: int = 0, *, reason: str = "HostLost", counts: bool = False) -> None:
    """Let a host of the job be lost, and its place start it again."""
    lost: Json = {"pod": "node-0-0", "attempt": attempt, "phase": "Failed", "reason": reason}
    job.write("pod", **lost, host="h1", message="its host was lost", containers=[])
    restarts = attempt + 1
    job.write("status", jobset={"restarts": restarts, "restartsCountTowardsMax": int(counts)})


async def handed_over(world: RecoveryWorld, job_id: str, to: str, attempt: int = 1) -> FakeJob:
    """Let the job be suspended where it is, and go on elsewhere."""
    there = await world.begun_at(to, job_id)
    there.write("agent", event="started")
    await told(there, "resume")
    there.suspend("False")
    there.run(attempt=attempt)
    await world.until("demo", lambda job: "move" not in job["status"])
    await world.until("demo", "Running")
    return there


def test_eager_next_goes_to_the_next_place_at_once() -> None:
    async def scene(world: RecoveryWorld) -> None:
        job_id = await world.recovered("eager-next", HERE, THERE)
        here = world.here.jobs[job_id]
        lose(here)
        await told(here, "suspend")
        here.suspend()
        there = await handed_over(world, job_id, THERE)
        shown = await world.engine.reading.get("demo")
        assert shown["spec"]["backend"] == THERE
        (avoided,) = shown["status"]["recovery"]["avoided"]
        assert (avoided["place"], avoided["failures"]) == (HERE, 1)
        (ended,) = shown["status"]["endedAttempts"]
        assert (ended["place"], ended["reason"]) == (HERE, "NodeLost")
        (said,) = await world.messages("MovingOn")
        assert said.startswith("it goes to ssh/lab because local was lost: node-0 failed on h1")
        there.end()
        await world.until("demo", "Succeeded")

    play(scene)


def test_failover_tries_the_place_three_times_first() -> None:
    async def scene(world: RecoveryWorld) -> None:
        job_id = await world.recovered("failover", HERE, THERE)
        here = world.here.jobs[job_id]
        for attempt in range(2):
            lose(here, attempt)
            await world.until("demo", "Restarting")
            here.run(attempt=attempt + 1)
            await world.until("demo", "Running")
        assert "suspend" not in here.asked
        lose(here, 2)
        await told(here, "suspend")
        here.suspend()
        await handed_over(world, job_id, THERE, attempt=3)
        assert world.stored().backend == THERE

    play(scene)


def test_failover_leaves_a_place_where_it_does_not_run_again() -> None:
    async def scene(world: RecoveryWorld) -> None:
        job_id = await world.recovered("failover", HERE, THERE)
        here = world.here.jobs[job_id]
        lose(here)
        await world.until("demo", "Restarting")
        assert "suspend" not in here.asked
        world.now += timedelta(minutes=10)
        world.engine.moves.look(world.engine._live[job_id])
        await told(here, "suspend")
        here.suspend()
        await handed_over(world, job_id, THERE)
        (said,) = await world.messages("MovingOn")
        assert "it has not run there since" in said

    play(scene)


@pytest.mark.parametrize("strategy", ["failover", "eager-next"])
def test_an_exit_code_does_not_change_the_place(strategy: str) -> None:
    async def scene(world: RecoveryWorld) -> None:
        job_id = await world.recovered(strategy, HERE, THERE)
        here = world.here.jobs[job_id]
        container = {"name": "main", "exitCode": 3}
        here.write("pod", pod="node-0-0", attempt=0, phase="Failed", containers=[container])
        here.write("status", jobset={"restarts": 1, "restartsCountTowardsMax": 1})
        await world.until("demo", "Restarting")
        here.run(attempt=1)
        await world.until("demo", "Running")
        here.write("pod", pod="node-0-0", attempt=1, phase="Failed", containers=[container])
        here.end(succeeded=False, reason="FailedJobs")
        shown = await world.until("demo", "Failed")
        assert shown["status"]["cause"] == "ExitCode"
        assert world.there.jobs == {}

    play(scene)


def test_without_recovery_the_first_loss_is_the_end() -> None:
    async def scene(world: RecoveryWorld) -> None:
        job_id = await world.recovered("none", HERE)
        here = world.here.jobs[job_id]
        lose(here)
        await told(here, "cancel")
        here.end(succeeded=False, reason="Cancelled")
        shown = await world.until("demo", "Failed")
        status = shown["status"]
        assert (status["reason"], status["cause"]) == ("NodeLost", "NodeLost")
        assert "is not to be recovered: node-0 failed on h1" in status["message"]

    play(scene)


def test_a_place_that_cannot_hand_over_is_left_and_the_job_begins_anew() -> None:
    async def scene(world: RecoveryWorld) -> None:
        job_id = await world.recovered("eager-next", FAR, HERE)
        lose(world.far.jobs[job_id])
        here = await world.begun_at(HERE, job_id)
        assert world.far.deleted == [job_id]
        here.run()
        shown = await world.until("demo", "Running")
        (ended,) = shown["status"]["endedAttempts"]
        assert (ended["place"], ended["reason"], ended["attempt"]) == (FAR, "NodeLost", 0)
        assert world.far.ports == set()
        here.end()
        await world.until("demo", "Succeeded")

    play(scene)


@pytest.mark.parametrize("strategy", ["failover", "eager-next"])
def test_a_job_that_its_place_ends_for_a_loss_begins_again(strategy: str) -> None:
    async def scene(world: RecoveryWorld) -> None:
        job_id = await world.recovered(strategy, FAR, HERE)
        world.far.jobs[job_id].end(succeeded=False, reason="NodeFail")
        where = FAR if strategy == "failover" else HERE
        await world.until("demo", lambda job: job["spec"]["backend"] == where)
        async with asyncio.timeout(60):
            while world.far.deleted != [job_id]:
                await asyncio.sleep(0.001)
        again = await world.begun_at(where, job_id)
        again.run()
        await world.until("demo", "Running")
        again.end()
        await world.until("demo", "Succeeded")
        assert "Failed" not in await world.reasons("demo")

    play(scene)


def test_places_that_refuse_are_asked_once_and_then_the_job_fails() -> None:
    async def scene(world: RecoveryWorld) -> None:
        job_id = await world.recovered("failover", FAR, HERE, THERE)
        world.here.problem = world.there.problem = "no such jobs"
        world.far.jobs[job_id].end(succeeded=False, reason="AgentLost")
        shown = await world.until("demo", "Failed")
        assert "no place takes it any more" in shown["status"]["message"]
        assert len(await world.messages("MovingOn")) == 2

    play(scene)


def test_a_job_waits_until_a_place_is_not_avoided_any_more() -> None:
    async def scene(world: RecoveryWorld) -> None:
        job_id = await world.recovered("eager-next", FAR)
        world.far.jobs[job_id].end(succeeded=False, reason="NodeFail")
        shown = await world.until("demo", "Paused")
        assert shown["status"]["move"]["at"] > world.now.isoformat()
        assert world.far.deleted == []
        world.now += timedelta(minutes=2)
        world.engine.moves.look(world.engine._live[job_id])
        async with asyncio.timeout(60):
            while not world.far.deleted:
                await asyncio.sleep(0.001)
        (await world.begun_at(FAR, job_id)).run()
        await world.until("demo", "Running")

    play(scene)


def test_a_job_that_waits_between_places_can_be_cancelled() -> None:
    async def scene(world: RecoveryWorld) -> None:
        job_id = await world.recovered("eager-next", FAR)
        world.far.jobs[job_id].end(succeeded=False, reason="NodeFail")
        await world.until("demo", "Paused")
        await world.engine.cancel("demo")
        await world.until("demo", "Cancelled")
        assert world.far.jobs[job_id].submits == 1

    play(scene)


@pytest.mark.parametrize("writes", range(6))
def test_a_recovery_survives_a_kill_after_any_write(writes: int) -> None:
    async def run() -> None:
        world = RecoveryWorld()
        await world.engine.start()
        job_id = await world.recovered("eager-next", FAR, HERE)
        left, update = [writes], world.store.update_all

        def limited(changes: Sequence[JobChange], *, is_durable: bool = True) -> None:
            if not left[0]:
                raise locked()
            left[0] -= 1
            update(changes, is_durable=is_durable)

        with patch.object(world.store, "update_all", limited):
            world.far.jobs[job_id].end(succeeded=False, reason="NodeFail")
            async with asyncio.timeout(60):
                while left[0] and job_id not in world.here.jobs:
                    await asyncio.sleep(0.005)
            await world.engine.close()

        later = RecoveryWorld(world)
        await later.engine.start()
        (await later.begun_at(HERE, job_id)).run()
        await later.until("demo", "Running")
        assert (later.stored().backend, world.far.jobs) == (HERE, {})
        assert (await later.reasons("demo")).count("MovingOn") == 1
        await later.engine.close()

    asyncio.run(run())


def test_a_job_that_somebody_has_suspended_is_left_alone() -> None:
    async def scene(world: RecoveryWorld) -> None:
        others = [asdict(Candidate(HERE, [jobset("demo")]))]
        at = time_text(world.now + timedelta(hours=8))
        due: Json = {"deadline": at, "work": 3600.0, "sure": HERE}
        wanted = Submission([jobset("demo")], backend=THERE, candidates=others, **due)
        job, _ = await world.engine.submit(wanted)
        there = await world.begun_at(THERE, str(job["metadata"]["id"]))
        there.run()
        await world.until("demo", "Running")
        await world.engine.suspend("demo")
        there.suspend()
        await world.until("demo", "Paused")
        world.now += timedelta(hours=7)
        live = world.engine._live[there.workload.id]
        world.engine.moves.look(live)
        assert world.engine.moves._patience._timers == {}
        assert isinstance(live, RecoveredJob)
        assert live.on_schedule() is None

    play(scene)


def test_a_job_that_cannot_go_now_is_looked_at_later() -> None:
    async def scene(world: RecoveryWorld) -> None:
        job_id = await world.recovered("failover", HERE, THERE)
        lose(world.here.jobs[job_id])
        await world.until("demo", "Restarting")
        live = world.engine._live[job_id]
        assert isinstance(live, RecoveredJob)
        await live.change(wanted="suspend")
        world.now += timedelta(minutes=10)
        change = live.impatient()
        assert change is not None
        assert set(change.columns) == {"recovery"}
        found = failover_of(live.record.with_columns(change.columns))
        assert found is not None
        assert found.since == time_text(world.now)

    play(scene)


@pytest.mark.parametrize("is_told", [False, True])
def test_a_job_that_its_owner_has_suspended_stays_so_elsewhere(*, is_told: bool) -> None:
    async def scene(world: RecoveryWorld) -> None:
        job_id = await world.recovered("failover", FAR, THERE)
        far = world.far.jobs[job_id]
        await world.engine.suspend("demo")
        if is_told:
            await told(far, "suspend")
            far.suspend()
            await world.until("demo", "Paused")
        far.end(succeeded=False, reason="Lost")
        shown = await world.until("demo", lambda job: job["spec"]["backend"] == THERE)
        assert (shown["status"]["phase"], world.there.jobs) == ("Paused", {})
        await world.engine.resume("demo")
        (await world.begun_at(THERE, job_id)).run()
        await world.until("demo", "Running")

    play(scene)
