"""Two places that hand jobs over, as the tests of moves play them."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from trainway.backends.base import BackendSettings, Handle
from trainway.backends.registry import Registry
from trainway.backends.testing import FakeBackend, FakeJob
from trainway.engine.jobs import Engine
from trainway.engine.store import Store
from trainway.engine.testing import World, act, memory_database, told
from trainway.errors import ConflictError, NotFoundError, UnavailableError

HERE, THERE = "local", "ssh/lab"


class Places:
    """What the backends of one world have in common: the directories of jobs."""

    def __init__(self) -> None:
        self.records: dict[str, list[Any]] = {}
        """The journal of each job."""


class FakePlace(FakeBackend):
    """A place that lets go of jobs, and goes on with those of others."""

    def __init__(self, name: str, places: Places) -> None:
        super().__init__()
        self.name = name
        self.schedules = name != HERE
        self._places = places
        self.stays = ""
        """Why no job may leave."""
        self.clings: str = ""
        """Why it does not let go of a job just now."""
        self.left: list[str] = []
        """The jobs that it was asked to let go of."""
        self.obeys = False
        """Whether jobs do at once what they are told; else the test says what happens."""

    async def submit(self, request: Any) -> None:
        """Go on with the journal that is there."""
        await super().submit(request)
        job = self.jobs[request.workload.id]
        job.records = self._places.records.setdefault(request.workload.id, job.records)
        if self.obeys and job.submits == 1:
            job.write("agent", event="started")

    async def suspend(self, handle: Handle) -> None:
        """Be suspended, if jobs obey."""
        await super().suspend(handle)
        if self.obeys:
            self.jobs[handle["id"]].suspend()

    async def resume(self, handle: Handle) -> None:
        """Go on, if jobs obey."""
        await super().resume(handle)
        if self.obeys:
            self.jobs[handle["id"]].suspend("False")
            self.jobs[handle["id"]].run()

    async def cancel(self, handle: Handle) -> None:
        """End it, if it is here."""
        if handle["id"] not in self.jobs:
            raise NotFoundError("there is no such job here")
        await super().cancel(handle)

    async def delete(self, handle: Handle) -> None:
        """Have nothing of it any more."""
        await super().delete(handle)
        self.jobs.pop(handle["id"], None)
        self._places.records.pop(handle["id"], None)

    def why_stays(self, handle: Handle) -> str:
        """What the test says."""
        return self.stays if handle else ""

    async def leave(self, handle: Handle) -> None:
        """Forget the job."""
        if self.clings:
            raise UnavailableError(self.clings)
        if any(each["type"] == "end" for each in self._places.records.get(handle["id"], ())):
            raise ConflictError("the job has ended")
        self.left.append(handle["id"])
        self.jobs.pop(handle["id"], None)


class KeptStore(Store):
    """A store in memory that the next engine finds again."""

    def close(self) -> None:
        """Stay."""


class MovingWorld(World):
    """An engine with two places."""

    def __init__(self, before: "MovingWorld | None" = None) -> None:
        places = Places()
        self.here: FakePlace = before.here if before else FakePlace(HERE, places)
        self.there: FakePlace = before.there if before else FakePlace(THERE, places)
        super().__init__(self.here, before.store if before else KeptStore(memory_database()))
        registry = Registry(BackendSettings(Path("/")))
        registry.put(self.here)
        registry.put(self.there)
        self.engine = Engine(self.store, registry, clock=lambda: self.now)

    async def running(self, name: str = "demo") -> FakeJob:
        """A job that runs here."""
        job = await self.begun(await self.submit(name))
        job.run()
        await self.until(name, "Running")
        return job

    async def begun_there(self, job_id: str) -> FakeJob:
        """Wait until the other place has the job."""
        self.backend = self.there
        return await self.begun(job_id)

    def stored(self, name: str = "demo") -> Any:
        """The record of a job."""
        return self.store.get(name)


Scene = Callable[[MovingWorld], Awaitable[None]]


def play(scene: Scene) -> None:
    """Let a scene happen."""

    async def run() -> None:
        world = MovingWorld()
        await act(lambda _: scene(world), world)

    asyncio.run(run())


async def suspended(job: FakeJob) -> None:
    """Let the agent do what it is told."""
    await told(job, "suspend")
    job.suspend()


async def goes_on(world: MovingWorld, job_id: str) -> FakeJob:
    """Let the other place go on with the job."""
    there = await world.begun_there(job_id)
    there.write("agent", event="started")
    await told(there, "resume")
    there.suspend("False")
    there.run()
    return there
