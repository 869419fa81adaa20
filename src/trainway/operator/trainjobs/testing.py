"""A TrainJob controller in the test's own event loop, on a real API server.

No JobSet controller runs beside it: tests play its part by writing the status of JobSets. The clock
can be set forward, so that nothing has to wait for a deadline.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Final, Self, TypeVar

from trainway.compiler.keys import GeneratedKeys
from trainway.compiler.plugins.progress import StatusEndpoint
from trainway.json_types import Json
from trainway.kube.client import Client
from trainway.kube.connection import load_connection
from trainway.kube.controller import Controller
from trainway.kube.errors import ObjectNotFound
from trainway.kube.events import EventRecorder
from trainway.kube.informers import Informers
from trainway.kube.resources import (
    CONFIG_MAPS,
    EVENTS,
    JOBSETS,
    SECRETS,
    TRAINJOBS,
    Resource,
)
from trainway.operator import runtimes
from trainway.operator.config import FeatureGates, OperatorConfig
from trainway.operator.context import Context
from trainway.operator.metrics import Metrics
from trainway.operator.trainjobs import controller as trainjobs

T = TypeVar("T")

_PATIENCE_S: Final = 120.0
_POLL_S: Final = 0.02
_CLOSING_S: Final = 0.1
"""A TLS connection whose request was cancelled needs a moment to close."""


class Clock:
    """The time, and the time that a test sets forward."""

    def __init__(self) -> None:
        self.ahead = timedelta()

    def __call__(self) -> datetime:
        """The time now."""
        return datetime.now(UTC) + self.ahead

    def advance(self, seconds: float) -> None:
        """Let so much time pass."""
        self.ahead += timedelta(seconds=seconds)


class Operator:
    """The controllers of TrainJobs and runtimes, for one namespace; use it with `async with`."""

    def __init__(
        self,
        kubeconfig: Path,
        namespace: str,
        clock: Clock | None = None,
        endpoint: StatusEndpoint | None = None,
    ) -> None:
        self.namespace = namespace
        self.clock = clock or Clock()
        self.endpoint = endpoint
        self.metrics = Metrics()
        self._kubeconfig = kubeconfig
        self._stack = AsyncExitStack()
        self._tasks: list[asyncio.Task[None]] = []
        self.client: Client
        self.informers: Informers
        self.controller: Controller
        self.recorder: EventRecorder

    async def __aenter__(self) -> Self:
        """Build everything, and start once the caches are filled."""
        connection = load_connection(self._kubeconfig)
        self.client = await self._stack.enter_async_context(Client(connection))
        self.informers = Informers(self.client, (self.namespace,))
        self.recorder = EventRecorder(self.client, "trainer", self.clock)
        await self._stack.enter_async_context(self.recorder)
        gates = FeatureGates(train_job_status=self.endpoint is not None)
        context = Context(
            client=self.client,
            informers=self.informers,
            recorder=self.recorder,
            mpi_recorder=self.recorder,
            optimization_recorder=self.recorder,
            config=OperatorConfig(feature_gates=gates),
            now=self.clock,
            metrics=self.metrics,
            keys=GeneratedKeys(),
            endpoint=lambda: self.endpoint,
            namespace="default",
        )
        self.controller = await trainjobs.build(context)
        controllers = [self.controller, *runtimes.build(context)]
        self._tasks.append(asyncio.create_task(self.informers.run()))
        await self.informers.synced()
        self._tasks += [asyncio.create_task(each.run()) for each in controllers]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.kill()
        await self._stack.aclose()

    async def kill(self) -> None:
        """Stop in the middle of whatever is being done."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
            await asyncio.sleep(_CLOSING_S)
        self._tasks = []

    def look(self, name: str) -> None:
        """Have a TrainJob looked at."""
        self.controller.queue.add(f"{self.namespace}/{name}")

    async def idle(self) -> None:
        """Wait until nothing is left to do that is due now."""
        queue = self.controller.queue
        await eventually(lambda: _value(queue.depth == 0 and queue.working == 0))

    async def told(self) -> None:
        """Wait until all events are sent."""
        await self.recorder.flush(_PATIENCE_S)

    # What tests read and write.

    async def create(self, job: Json) -> Json:
        """Make a TrainJob."""
        return await self.client.create(TRAINJOBS, job, self.namespace)

    async def trainjob(self, name: str) -> Json:
        """A TrainJob as it is."""
        return await self.client.get(TRAINJOBS, name, self.namespace)

    async def jobset(self, name: str) -> Json:
        """A JobSet, once it is there."""
        return await self.found(JOBSETS, name)

    async def found(self, resource: Resource, name: str) -> Json:
        """An object, once it is there."""
        return await eventually(lambda: self.lookup(resource, name))

    async def lookup(self, resource: Resource, name: str) -> Json | None:
        """An object, if it is there."""
        try:
            return await self.client.get(resource, name, self.namespace)
        except ObjectNotFound:
            return None

    async def change(self, name: str, patch: Json) -> Json:
        """Change a TrainJob."""
        return await self.client.patch(TRAINJOBS, name, self.namespace, patch)

    async def suspend(self, name: str, suspend: bool) -> Json:
        """Suspend a TrainJob, or resume it."""
        return await self.change(name, {"spec": {"suspend": suspend}})

    async def report(self, name: str, status: Json) -> Json:
        """Write the status of a JobSet, as its controller does."""
        return await self.client.patch(
            JOBSETS, name, self.namespace, {"status": status}, subresource="status"
        )

    async def conditions(self, name: str) -> list[tuple[str, str, str]]:
        """Type, status and reason of each condition of a TrainJob."""
        status = (await self.trainjob(name)).get("status") or {}
        return [
            (each["type"], each["status"], each["reason"])
            for each in status.get("conditions") or []
        ]

    async def has_conditions(self, name: str, *expected: tuple[str, str, str]) -> None:
        """Wait for these conditions and no others."""

        async def compare() -> bool:
            return await self.conditions(name) == list(expected)

        await eventually(compare, lambda: self.conditions(name))

    async def events(self, name: str) -> list[Json]:
        """The events about a TrainJob, in order."""
        selector = f"involvedObject.kind=TrainJob,involvedObject.name={name}"
        items = (await self.client.list(EVENTS, self.namespace, field_selector=selector)).items
        return sorted(items, key=lambda item: int(item["metadata"]["resourceVersion"]))

    async def reasons(self, name: str) -> list[str]:
        """The reasons of the events about a TrainJob."""
        return [event["reason"] for event in await self.events(name)]

    async def event(self, name: str, reason: str) -> Json:
        """The event of that reason, once it is there."""

        async def search() -> Json | None:
            found = [event for event in await self.events(name) if event["reason"] == reason]
            return found[0] if found else None

        return await eventually(search, lambda: self.reasons(name))

    async def children(self) -> dict[str, list[str]]:
        """The names of all children in the namespace, by kind."""
        names = {}
        for resource in (JOBSETS, CONFIG_MAPS, SECRETS):
            items = (await self.client.list(resource, self.namespace)).items
            names[resource.kind] = sorted(
                item["metadata"]["name"]
                for item in items
                if item["metadata"].get("ownerReferences")
            )
        return names


async def _value(value: bool) -> bool:
    return value


async def eventually(
    question: Callable[[], Awaitable[T | None]],
    state: Callable[[], Awaitable[object]] | None = None,
) -> T:
    """Ask until the answer is something; `state` is told where it never is."""
    loop = asyncio.get_running_loop()
    end = loop.time() + _PATIENCE_S
    while True:
        answer = await question()
        if answer:
            return answer
        if loop.time() > end:
            raise AssertionError(f"not in time; the state is {await state() if state else '?'}")
        await asyncio.sleep(_POLL_S)
