"""Preemption with a server whose store fails for good at some call, and the next server.

Every second call fails before its work is done, and the others after it.
"""

import asyncio
from contextlib import suppress

import pytest
from sqlalchemy import Engine as Database

from trainway.backends.testing import FakeBackend, FakeJob
from trainway.engine.faulty_store import Faults, faulty_store
from trainway.engine.phases import Phase
from trainway.engine.submission import Submission
from trainway.engine.testing import World, jobset, memory_database
from trainway.errors import DatabaseError
from trainway.json_types import Json

PREEMPTING: Json = {
    "apiVersion": "trainway.dev/v1",
    "kind": "Queue",
    "metadata": {"name": "default"},
    "spec": {"preemption": "Any"},
}
HIGH = Submission([jobset("high", requests={"cpu": "4"})], key="high")


class Agents:
    """Do what the jobs are told, whichever server tells them."""

    def __init__(self, backend: FakeBackend) -> None:
        self._backend = backend
        self._suspended: set[str] = set()
        self._ended: set[str] = set()
        self.together: set[str] = set()
        """Jobs that ran at the same time as another."""

    async def play(self) -> None:
        """Until it is cancelled."""
        while True:
            for job_id, job in list(self._backend.jobs.items()):
                (self._end if job.workload.name == "high" else self._obey)(job_id, job)
            await asyncio.sleep(0.001)

    def has_resumed(self, job_id: str) -> bool:
        """Whether it has made room and goes on."""
        return job_id not in self._suspended and "resume" in self._backend.jobs[job_id].asked

    def _end(self, job_id: str, job: FakeJob) -> None:
        if job_id not in self._ended:
            running = self._backend.jobs.keys() - self._suspended - self._ended - {job_id}
            self.together |= running
            self._ended.add(job_id)
            job.run()
            job.end()

    def _obey(self, job_id: str, job: FakeJob) -> None:
        last = job.asked[-1] if job.asked else "resume"
        if last == "suspend" and job_id not in self._suspended:
            self._suspended.add(job_id)
            job.suspend()
            job.write("pod", pod="node-0-0", attempt=0, phase="Failed", deleted=True)
        elif last == "resume" and job_id in self._suspended:
            self._suspended.remove(job_id)
            job.suspend("False")
            job.run()


async def low_running(world: World) -> str:
    """A job that others may take the room of."""
    await world.engine.queues.apply(PREEMPTING)
    low = await world.submit("low", requests={"cpu": "4"}, priority=-1)
    (await world.begun(low)).run()
    await world.until(low, "Running")
    return low


async def ended(world: World, low: str) -> None:
    """Wait until the other one is over, and the first runs again."""
    await world.engine.submit(HIGH)
    await world.until("high", lambda job: job["status"]["phase"] == "Succeeded")
    await world.until(low, lambda _: "resume" in world.backend.jobs[low].asked)
    await world.until(low, "Running")


async def told_story(database: Database, backend: FakeBackend, faults: Faults) -> Agents:
    """Let one server be killed where the faults say, and the next one go on."""
    agents, first = Agents(backend), faults.first
    faults.heal()
    playing = asyncio.create_task(agents.play())
    world = World(backend, faulty_store(database, faults))
    await world.engine.start()
    low = await low_running(world)
    faults.arm()
    if first >= 0:
        faults.first = first
        with suppress(DatabaseError):
            await world.engine.submit(HIGH)
        async with asyncio.timeout(60):
            while len(faults.calls) <= first and not agents.has_resumed(low):
                await asyncio.sleep(0)
        with suppress(DatabaseError):
            await world.engine.close()
        world = World(backend, faulty_store(database, Faults()))
        await world.engine.start()
    await ended(world, low)
    record = world.store.get(low)
    assert (record.phase, record.making_room) == (Phase.RUNNING, None)
    assert len(backend.jobs) == 2
    await world.engine.close()
    playing.cancel()
    return agents


def calls() -> int:
    """How often the store is called from the submission on, until all is over."""
    faults = Faults()
    asyncio.run(told_story(memory_database(), FakeBackend(), faults))
    assert faults.calls.count("update_all") > 3
    return len(faults.calls)


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_preemption_goes_on_after_a_server_whose_store_failed(after: bool) -> None:
    for number in range(int(after), calls(), 2):
        faults = Faults(number, is_lasting=True, after=after)
        agents = asyncio.run(told_story(memory_database(), FakeBackend(), faults))
        assert agents.together == set(), f"at call {number}"
