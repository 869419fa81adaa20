"""An elastic job that gives up nodes for another one, and gets them back.

The story is also told with a server whose store fails for good at some call, and the next server.
"""

import asyncio
import json
from contextlib import suppress

import pytest

from trainway.backends.base import Handle
from trainway.backends.testing import FakeBackend, FakeJob
from trainway.engine.faulty_store import Faults, faulty_store
from trainway.engine.phases import Phase
from trainway.engine.submission import Submission
from trainway.engine.testing import World, act, jobset, memory_database, play
from trainway.errors import ConflictError, DatabaseError
from trainway.jobset.labels import MIN_NODES
from trainway.json_types import Json

PREEMPTING: Json = {
    "apiVersion": "trainway.dev/v1",
    "kind": "Queue",
    "metadata": {"name": "default"},
    "spec": {"preemption": "Any"},
}
HIGH = Submission([jobset("high", requests={"cpu": "2"})], key="high")


def elastic(least: int = 2) -> Submission:
    """Four nodes with a CPU each, which are all that there is."""
    made = jobset("low", pods=4, requests={"cpu": "1"}, job={"completionMode": "Indexed"})
    made["spec"]["replicatedJobs"][0]["template"]["metadata"] = {
        "annotations": {MIN_NODES: str(least)}
    }
    return Submission([made], priority=-1)


def obey(job: FakeJob, done: list[str]) -> None:
    """Do what an agent does that is told a size; nodes end one after the other."""
    for asked in job.asked[len(done) :]:
        done.append(asked)
        if not asked.startswith("resize"):
            continue
        nodes = int(asked.split()[1])
        job.write("status", jobset={}, nodes=nodes)
        for index in range(4):
            pod = f"node-0-{index}"
            if index < nodes:
                job.run(pod)
            else:
                job.write("pod", pod=pod, attempt=0, phase="Failed", deleted=True)


async def begin(world: World, least: int = 2) -> str:
    await world.engine.queues.apply(PREEMPTING)
    job, _ = await world.engine.submit(elastic(least))
    low: str = job["metadata"]["id"]
    fake = await world.begun(low)
    for index in range(4):
        fake.run(f"node-0-{index}")
    await world.until(low, "Running")
    return low


def test_nodes_above_the_minimum_are_taken_and_given_back() -> None:
    async def scene(world: World) -> None:
        low = await begin(world)
        fake, done = world.backend.jobs[low], list[str]()
        await world.engine.submit(HIGH)
        told = await world.until("high", lambda job: job["status"]["reason"] == "Preempting")
        assert "2 nodes of low make room" in told["status"]["message"]
        async with asyncio.timeout(60):
            while fake.asked != ["resize 2"]:
                await asyncio.sleep(0.001)
        fake.write("status", jobset={}, nodes=2)
        fake.write("pod", pod="node-0-3", attempt=0, phase="Failed", deleted=True)
        fake.write("pod", pod="node-0-2", attempt=0, phase="Running", deleted=True)
        await world.until("low", lambda _: world.store.get(low).journal_seq == 6)
        assert "high" not in {job.workload.name for job in world.backend.jobs.values()}
        obey(fake, done)
        await world.until("high", "Starting")
        high = next(job for job in world.backend.jobs.values() if job.workload.name == "high")
        high.run()
        high.end()
        async with asyncio.timeout(60):
            while fake.asked != ["resize 2", "resize 4"]:
                await asyncio.sleep(0.001)
        record = world.store.get(low)
        assert record.demand_data["cpus"] == "4"
        assert (record.phase, record.restarts, record.making_room) == (Phase.RUNNING, 0, None)
        reasons = await world.reasons(low)
        assert (reasons.count("Preempting"), reasons.count("Growing")) == (1, 1)

    play(scene)


def test_a_job_at_its_minimum_is_suspended() -> None:
    async def scene(world: World) -> None:
        low = await begin(world, least=4)
        await world.engine.submit(HIGH)
        await world.until("high", lambda job: job["status"]["reason"] == "Preempting")
        async with asyncio.timeout(60):
            while world.backend.jobs[low].asked != ["suspend"]:
                await asyncio.sleep(0.001)

    play(scene)


class Unbending(FakeBackend):
    """Cannot change the size of a job."""

    async def resize(self, handle: Handle, nodes: int) -> None:  # noqa: ARG002 - as it is
        raise ConflictError(f"there are no jobs of {nodes} nodes")


def test_a_job_whose_nodes_cannot_be_taken_makes_room_as_a_whole() -> None:
    async def scene(world: World) -> None:
        low = await begin(world)
        fake = world.backend.jobs[low]
        await world.engine.submit(HIGH)
        async with asyncio.timeout(60):
            while fake.asked != ["suspend"]:
                await asyncio.sleep(0.001)
        record = world.store.get(low)
        assert (record.node_limit, record.wanted) == (None, "suspend")
        events = await world.engine.reading.events(low)
        said = [event.message for event in events if event.reason == "Preempting"]
        assert said[-1].endswith("as a whole: there are no jobs of 2 nodes")

    asyncio.run(act(scene, World(Unbending())))


async def told_story(backend: FakeBackend, faults: Faults, first: int) -> None:
    database, done, ended = memory_database(), list[str](), set[str]()

    async def agents() -> None:
        while True:
            for job in list(backend.jobs.values()):
                if job.workload.name == "low":
                    obey(job, done)
                elif job.workload.id not in ended:
                    ended.add(job.workload.id)
                    job.run()
                    job.end()
            await asyncio.sleep(0.001)

    world = World(backend, faulty_store(database, faults))
    await world.engine.start()
    low = await begin(world)
    playing = asyncio.create_task(agents())
    faults.arm()
    faults.first = first
    with suppress(DatabaseError):
        await world.engine.submit(HIGH)
    if first >= 0:
        async with asyncio.timeout(60):
            while len(faults.calls) <= first and "resize 4" not in done:
                await asyncio.sleep(0)
        with suppress(DatabaseError):
            await world.engine.close()
        world = World(backend, faulty_store(database, Faults()))
        await world.engine.start()
        await world.engine.submit(HIGH)
    await world.until("high", lambda job: job["status"]["phase"] == "Succeeded")
    async with asyncio.timeout(60):
        while world.store.get(low).demand_data["cpus"] != "4" or done[-1:] != ["resize 4"]:
            await asyncio.sleep(0.001)
    record = world.store.get(low)
    assert record.node_limit is not None
    assert (record.phase, json.loads(record.node_limit)["most"]) == (Phase.RUNNING, 4)
    assert len(backend.jobs) == 2
    await world.engine.close()
    playing.cancel()


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_it_goes_on_after_a_server_whose_store_failed(after: bool) -> None:
    whole = Faults()
    whole.heal()
    asyncio.run(told_story(FakeBackend(), whole, -1))
    for number in range(int(after), len(whole.calls), 4):
        faults = Faults(number, is_lasting=True, after=after)
        faults.heal()
        asyncio.run(told_story(FakeBackend(), faults, number))
