"""A worker whose spot machines are taken: its job writes what it has, and goes on elsewhere."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from unittest import mock

import pytest

from trainway.backends.testing import FakeJob
from trainway.engine.rental.testing import RentalWorld, StandInOffice
from trainway.engine.times import time_text
from trainway.engine.worker_pool import workers
from trainway.engine.worker_pool.request import NewPool
from trainway.engine.worker_pool.testing import PoolWorld, new_pool
from trainway.json_types import Json

WANTED: Json = {"accelerators": "H100:8", "use_spot": True}


class SpotWorld(PoolWorld):
    """A worker pool on clouds, whose workers have two spot machines each."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.now = datetime.now(UTC)
        self.clouds = RentalWorld(folder)

    async def begin(self) -> None:
        """Have a server that rents."""
        self.rentals, self.around = self.clouds.server()
        self.engine.rental_office = StandInOffice(self.rentals)
        await self.engine.start()

    async def pool_of(self) -> None:
        """Make the pool, with a worker that is ready."""
        submission = new_pool().submission
        new = NewPool("p", "cloud", 2, WANTED, {}, {"workers": 1}, submission)
        await self.engine.worker_pools.apply(new)
        await self.set_up("p-1")

    async def running(self) -> tuple[str, FakeJob]:
        """A job that runs."""
        job_id = await self.job()
        begun, _ = await self.begun_on(job_id)
        begun.run()
        await self.until(job_id, "Running")
        return job_id, begun

    async def warn(self, worker: str, seconds: float = 120) -> str:
        """Let the cloud say that it takes a machine of a worker; when."""
        rental = self.rentals.find(worker)
        assert rental is not None
        at = time_text(self.now + timedelta(seconds=seconds))
        self.clouds.clouds[rental.cloud].warn(rental.machines[1].id, at)
        await self.rentals.look()
        return at

    def lose(self, worker: str, job: FakeJob | None, *taken: int) -> None:
        """Let a host be silent; these machines are taken, which nobody has looked at yet."""
        rental = self.rentals.find(worker)
        assert rental is not None
        for rank in taken:
            self.clouds.clouds[rental.cloud].take(rental.machines[rank].id)
        lost: Json = {"phase": "Failed", "reason": "HostLost", "host": f"{worker}-1"}
        if job is not None:
            job.write("pod", pod="node-0-0", attempt=0, containers=[], **lost)
        nodes = self.agents.clusters[worker]["nodes"]
        self.agents.say(worker, nodes=[nodes[0], {**nodes[1], "lost": True}])
        self.now = datetime.now(UTC) + timedelta(minutes=1)  # that of the rentals goes on

    async def until_cluster(self, holds: Callable[[], bool]) -> None:
        """Wait for something that nothing announces; threads that ask clouds need the time."""
        while not holds():
            await asyncio.sleep(0.002)

    async def setup(self, worker: str) -> FakeJob:
        """The job that sets up a worker."""
        backend = self.setups[worker]
        await self.until_cluster(lambda: bool(backend.jobs))
        return next(iter(backend.jobs.values()))

    async def until_asked(self, job: FakeJob, what: str) -> None:
        """Wait until a job is told something."""
        await self.until_cluster(lambda: what in job.asked)


def play(world: SpotWorld, scene: Callable[[], Awaitable[None]]) -> None:
    """Let a scene happen."""

    async def run() -> None:
        await world.begin()
        try:
            async with asyncio.timeout(30):
                await scene()
        finally:
            await world.engine.close()
            world.around.ledger.close()

    with mock.patch.object(workers, "_AGAIN_S", 0.01):
        asyncio.run(run())


@pytest.fixture
def world(tmp_path: Path) -> SpotWorld:
    return SpotWorld(tmp_path)


def test_a_job_ends_before_its_machines_go_and_begins_elsewhere(world: SpotWorld) -> None:
    async def scene() -> None:
        await world.pool_of()
        first = world.rentals.find("p-1")
        job_id, begun = await world.running()
        at = await world.warn("p-1")
        await world.until_asked(begun, "cancel")
        assert world.states()["p-1"] == "SHUTTING_DOWN", "it takes no new jobs"
        assert job_id not in world.workers.deleted, "its processes have their grace period"
        assert len(world.clouds.machines()) >= 2, "nothing is given back before it has ended"

        begun.end(succeeded=False, reason="Cancelled")
        await world.until(job_id, "Queued")
        del world.workers.jobs[job_id]
        await world.set_up("p-2")
        again, worker = await world.begun_on(job_id)
        second = world.rentals.find("p-2")
        assert worker == "p-2"
        assert first is not None
        assert second is not None
        assert (first.infra, second.infra) == ("gcp/east/east-a", "aws/east/east-a")
        await world.until_cluster(lambda: "p-1" not in world.states())
        assert len(world.clouds.machines()) == 2

        again.run(attempt=1)
        again.end()
        await world.until(job_id, "Succeeded")
        (ended,) = (await world.engine.reading.get(job_id))["status"]["endedAttempts"]
        assert (ended["reason"], ended["counts"]) == ("Preempted", False)
        assert at in ended["cause"]

    play(world, scene)


def test_a_job_that_has_done_its_work_meanwhile_is_not_done_again(world: SpotWorld) -> None:
    async def scene() -> None:
        await world.pool_of()
        job_id, begun = await world.running()
        await world.warn("p-1")
        await world.until_asked(begun, "cancel")
        begun.end()
        await world.until(job_id, "Succeeded")

    play(world, scene)


def test_machines_that_go_before_the_job_has_ended_do_not_hold_it_up(world: SpotWorld) -> None:
    async def scene() -> None:
        await world.pool_of()
        job_id, begun = await world.running()
        await world.warn("p-1", seconds=0)
        await world.until_asked(begun, "cancel")
        await world.until(job_id, "Queued")
        assert job_id in world.workers.deleted

    play(world, scene)


def test_a_worker_without_a_job_is_replaced_before_it_is_taken(world: SpotWorld) -> None:
    async def scene() -> None:
        await world.pool_of()
        await world.warn("p-1")
        await world.set_up("p-2")
        await world.until_states(_2="READY")

    play(world, scene)


def test_a_notice_that_a_killed_server_has_only_written_is_heeded(world: SpotWorld) -> None:
    async def scene() -> None:
        await world.pool_of()
        _, begun = await world.running()
        world.rentals._watcher._heard.clear()  # it is killed before anybody is told
        await world.warn("p-1")
        assert begun.asked == []
        world.engine.worker_pools.look()  # as the next one does when it starts
        await world.until_asked(begun, "cancel")
        begun.end(succeeded=False, reason="Cancelled")
        await world.until_cluster(lambda: "p-1" not in world.states())

    play(world, scene)


def test_a_worker_that_is_taken_while_it_is_set_up_is_no_failure(world: SpotWorld) -> None:
    async def scene() -> None:
        new = NewPool("p", "cloud", 2, WANTED, {}, {"workers": 1}, new_pool().submission)
        await world.engine.worker_pools.apply(new)
        await world.setup("p-1")
        world.lose("p-1", None, 1)
        await world.setup("p-2")
        assert world.engine.worker_pools._book.pools["p"].failures == 0
        await world.set_up("p-2")
        await world.until_states(_2="READY")

    play(world, scene)


@dataclass(frozen=True)
class Case:
    what: str
    taken: tuple[int, ...]
    reason: str
    second: str


CASES = [
    Case("one-of-two", (1,), "Preempted", "aws/east/east-a"),
    Case("all", (0, 1), "Preempted", "aws/east/east-a"),
    Case("a-host-that-only-is-silent", (), "NodeLost", "gcp/east/east-a"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.what)
def test_a_lost_worker_is_judged_by_what_its_cloud_says(world: SpotWorld, case: Case) -> None:
    async def scene() -> None:
        await world.pool_of()
        first = world.rentals.find("p-1")
        job_id, begun = await world.running()
        world.lose("p-1", begun, *case.taken)
        await world.until(job_id, "Queued")
        del world.workers.jobs[job_id]
        await world.set_up("p-2")
        again, _ = await world.begun_on(job_id)
        second = world.rentals.find("p-2")
        assert first is not None
        assert second is not None
        assert (first.infra, second.infra) == ("gcp/east/east-a", case.second)
        again.run(attempt=1)
        again.end()
        await world.until(job_id, "Succeeded")
        (ended,) = (await world.engine.reading.get(job_id))["status"]["endedAttempts"]
        assert (ended["attempt"], ended["reason"]) == (0, case.reason)
        assert ("gcp takes back" in ended["cause"]) == bool(case.taken)

    play(world, scene)
