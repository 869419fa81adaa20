"""Things that tests of the engine and the server share."""

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from sqlalchemy import Engine as Database
from sqlalchemy import create_engine, event
from sqlalchemy.pool import QueuePool, StaticPool

from trainway.backends.base import BackendSettings
from trainway.backends.registry import Registry
from trainway.backends.testing import FakeBackend, FakeJob
from trainway.engine.agent_starts import USUAL, StartPolicy
from trainway.engine.database import prepare_sqlite
from trainway.engine.jobs import Engine
from trainway.engine.notify.delivery import deliver
from trainway.engine.notify.notifier import Notifying
from trainway.engine.store import Store
from trainway.engine.submission import Submission
from trainway.engine.tables import METADATA
from trainway.json_types import Json
from trainway.notify.message import HttpRequest
from trainway.notify.targets import Target

NOW = datetime(2026, 11, 15, 5, tzinfo=UTC)
WAIT_FOR_FILE = "while [ ! -e {} ]; do sleep 0.05; done"
"""A command that ends when the test makes a file."""


def memory_database() -> Database:
    """A database that is gone with the test.

    It has one connection, which one thread has at a time: a test that looks into it while an engine
    writes waits for the end of that transaction, and is not in the midst of it.
    """
    engine = create_engine(
        "sqlite://",
        poolclass=QueuePool,
        pool_size=1,
        max_overflow=0,
        connect_args={"check_same_thread": False},
    )
    event.listen(engine, "connect", prepare_sqlite)
    pattern = _pattern()
    engine.dialect = pattern.dialect
    engine.update_execution_options(**pattern.get_execution_options())
    with _opened(pattern) as tables, _opened(engine) as empty:
        tables.backup(empty)
    return engine


@cache
def _pattern() -> Database:
    """A database whose tables others copy; they also share the statements that were compiled.

    Tests of the engine took more than half of their time to make both anew.
    """
    options = {"connect_args": {"check_same_thread": False}, "poolclass": StaticPool}
    engine = create_engine("sqlite://", execution_options={"compiled_cache": {}}, **options)
    METADATA.create_all(engine)
    return engine


@contextmanager
def _opened(database: Database) -> Iterator[sqlite3.Connection]:
    with closing(database.raw_connection()) as connection:
        assert isinstance(connection.driver_connection, sqlite3.Connection)
        yield connection.driver_connection


def memory_store() -> Store:
    """A store that is gone with the test."""
    return Store(memory_database())


def jobset(name: str = "demo", command: str = "true", **more: Any) -> Json:
    """A JobSet of one role `node`; `pods`, `requests`, `spec` and `job` say more."""
    pods = more.get("pods", 1)
    container: Json = {"name": "main", "image": "busybox", "command": ["sh", "-c", command]}
    if "requests" in more:
        container["resources"] = {"requests": more["requests"]}
    pod = {"restartPolicy": "Never", "terminationGracePeriodSeconds": 1, "containers": [container]}
    job = {"parallelism": pods, "completions": pods, "backoffLimit": 0, **more.get("job", {})}
    role = {"name": "node", "template": {"spec": {**job, "template": {"spec": pod}}}}
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": name, **more.get("metadata", {})},
        "spec": {"replicatedJobs": [role], **more.get("spec", {})},
    }


class World:
    """An engine, its store and a backend that the test plays."""

    def __init__(
        self,
        backend: FakeBackend | None = None,
        store: Store | None = None,
        starts: StartPolicy = USUAL,
        targets: Callable[[], Sequence[Target]] = lambda: (),
        send: Callable[[HttpRequest], None] = deliver,
        prices: Callable[[], Mapping[str, Any]] = dict,
    ) -> None:
        self.backend = backend or FakeBackend()
        self.store = store or memory_store()
        self.now = NOW
        registry = Registry(BackendSettings(Path("/")))
        registry.put(self.backend)
        self.engine = Engine(
            self.store,
            registry,
            clock=lambda: self.now,
            starts=starts,
            notifying=Notifying(targets, send, first_pause_s=0.001),
            prices=prices,
        )

    async def submit(self, name: str = "demo", **more: Any) -> str:
        """Submit a JobSet; the id of its job."""
        names = ("priority", "oversubscribe", "queue", "labels", "backend")
        options = {key: more.pop(key) for key in names if key in more}
        objects = [jobset(name, **more)]
        job, _ = await self.engine.submit(Submission(objects, environ={"A": "b"}, **options))
        job_id: str = job["metadata"]["id"]
        return job_id

    def is_idle(self) -> bool:
        """Whether the engine is."""
        return self.engine.is_idle

    async def until(self, ref: str, holds: Callable[[Json], bool] | str) -> Json:
        """Watch a job until something holds, or until a phase."""
        async with asyncio.timeout(60):
            async for job in self.engine.reading.watch(ref):
                if holds(job) if callable(holds) else job["status"]["phase"] == holds:
                    return job
        raise AssertionError(f"it ended before: {await self.engine.reading.get(ref)}")

    async def begun(self, job_id: str) -> FakeJob:
        """Wait until the backend has the job."""
        async with asyncio.timeout(60):
            while job_id not in self.backend.jobs:
                await asyncio.sleep(0.001)
        return self.backend.jobs[job_id]

    async def reasons(self, ref: str) -> list[str]:
        """What happened to a job, in single words."""
        return [event.reason for event in await self.engine.reading.events(ref)]


Scene = Callable[[World], Awaitable[None]]


async def act(scene: Scene, world: World) -> None:
    """Let a scene happen between the start and the end of an engine."""
    await world.engine.start()
    try:
        await scene(world)
    finally:
        await world.engine.close()


def play(scene: Scene) -> None:
    """Let a scene happen in a new world."""

    async def run() -> None:
        await act(scene, World())

    asyncio.run(run())


async def told(job: FakeJob, operation: str, times: int = 1) -> None:
    """Wait until the agent was told."""
    async with asyncio.timeout(60):
        while job.asked.count(operation) < times:
            await asyncio.sleep(0.001)
