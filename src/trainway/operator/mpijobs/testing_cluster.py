"""MPIJobs on a real API server, for tests.

On a `Stage` there is a controller but neither JobSet nor a kubelet: the test takes their place and
writes Jobs, pods and what they come to.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from trainway.compiler.keys import GeneratedKeys
from trainway.jobset.labels import COMPLETION_INDEX, JOBSET_UID
from trainway.json_types import Json
from trainway.kube.client import Client
from trainway.kube.connection import load_connection
from trainway.kube.errors import ObjectNotFound
from trainway.kube.events import EventRecorder
from trainway.kube.informers import Informers
from trainway.kube.owners import owner_reference
from trainway.kube.resources import EVENTS, JOBS, JOBSETS, MPIJOBS, PODS, Resource
from trainway.kube.timestamps import timestamp
from trainway.operator.config import OperatorConfig
from trainway.operator.context import Context
from trainway.operator.metrics import Metrics
from trainway.operator.mpijobs import controller
from trainway.operator.mpijobs.testing import mpijob

Test = Callable[[Json], object]

_PATIENCE_S: Final = 120.0
_LOOK_S: Final = 0.02
_GOODBYE_S: Final = 0.1
"""The time for TLS connections of requests that were cut short: aiohttp closes them by and by."""


@contextlib.asynccontextmanager
async def running_controller(client: Client, config: OperatorConfig) -> AsyncIterator[Context]:
    """A controller that works while the block lasts."""
    async with EventRecorder(client, "mpi-job-controller") as recorder:
        context = Context(
            client=client,
            informers=Informers(client, config.namespaces),
            recorder=recorder,
            mpi_recorder=recorder,
            optimization_recorder=recorder,
            config=config,
            now=lambda: datetime.now(UTC),
            metrics=Metrics(),
            keys=GeneratedKeys(),
            endpoint=lambda: None,
            namespace="trainway",
        )
        working = controller.build(context)
        tasks = [asyncio.create_task(context.informers.run())]
        try:
            await context.informers.synced()
            tasks.append(asyncio.create_task(working.run()))
            yield context
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await asyncio.sleep(_GOODBYE_S)


@contextlib.asynccontextmanager
async def stage(
    kubeconfig: Path, namespace: str, config: OperatorConfig | None = None
) -> AsyncIterator["Stage"]:
    """A namespace with a controller for it alone."""
    wanted = replace(config or OperatorConfig(), namespaces=(namespace,))
    async with (
        Client(load_connection(kubeconfig, None)) as client,
        running_controller(client, wanted) as context,
    ):
        yield Stage(client, namespace, context=context)


@dataclass(frozen=True)
class Scene:
    """A namespace with MPIJobs in it."""

    client: Client
    namespace: str
    patience: float = _PATIENCE_S
    """How many seconds to wait for anything."""

    async def submit(self, obj: Json) -> Json:
        """Create an MPIJob in the namespace."""
        metadata = {**obj["metadata"], "namespace": self.namespace}
        return await self.client.create(MPIJOBS, {**obj, "metadata": metadata}, self.namespace)

    async def change(self, resource: Resource, name: str, body: Json) -> Json:
        """Merge a change into an object."""
        return await self.client.patch(resource, name, self.namespace, body)

    async def get(self, resource: Resource, name: str) -> Json | None:
        """An object, or None."""
        try:
            return await self.client.get(resource, name, self.namespace)
        except ObjectNotFound:
            return None

    async def until(self, resource: Resource, name: str, test: Test = bool) -> Json:
        """Wait until there is an object that passes."""
        found: Json | None = None
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self.patience):
                while True:
                    found = await self.get(resource, name)
                    if found is not None and test(found):
                        return found
                    await asyncio.sleep(_LOOK_S)
        raise AssertionError(f"{resource} {name} never came to it: {found}")

    async def until_gone(self, resource: Resource, name: str) -> None:
        """Wait until an object is no longer there."""
        async with asyncio.timeout(self.patience):
            while await self.get(resource, name) is not None:
                await asyncio.sleep(_LOOK_S)

    async def event(self, reason: str) -> Json:
        """Wait for an event."""
        async with asyncio.timeout(self.patience):
            while True:
                events = (await self.client.list(EVENTS, self.namespace)).items
                for event in events:
                    if event["reason"] == reason:
                        return event
                await asyncio.sleep(_LOOK_S)


@dataclass(frozen=True, kw_only=True)
class Stage(Scene):
    """A namespace in which the test plays JobSet, the Jobs and the pods."""

    context: Context

    async def settled(self) -> None:
        """Wait until the controller has worked on what came so far; it takes them in order."""
        await self.submit(mpijob("last", run_policy={"suspend": True}))
        await self.until(MPIJOBS, "last", lambda job: "status" in job)
        async with asyncio.timeout(self.patience):  # it is recorded after the status is written
            while not await self._events_of("last"):
                await self.context.mpi_recorder.flush(self.patience)
                await asyncio.sleep(_LOOK_S)

    async def _events_of(self, name: str) -> list[Json]:
        events = (await self.client.list(EVENTS, self.namespace)).items
        return [event for event in events if event["involvedObject"]["name"] == name]

    async def play_jobs(self, name: str = "pi") -> dict[str, Json]:
        """Make the Jobs of a JobSet, as JobSet does; gives them by role."""
        jobset = await self.until(JOBSETS, name)
        made = {}
        for role in jobset["spec"]["replicatedJobs"]:
            labels = {
                **role["template"]["metadata"]["labels"],
                JOBSET_UID: jobset["metadata"]["uid"],
            }
            spec = role["template"]["spec"]
            template = spec["template"]
            metadata = {**template.get("metadata", {})}
            metadata["labels"] = {**metadata.get("labels", {}), **labels}
            job = {
                "apiVersion": JOBS.api_version,
                "kind": JOBS.kind,
                "metadata": {
                    "name": f"{name}-{role['name']}-0",
                    "labels": labels,
                    "ownerReferences": [owner_reference(jobset)],
                },
                "spec": {
                    **spec,
                    "suspend": bool(jobset["spec"].get("suspend")),
                    "template": {**template, "metadata": metadata},
                },
            }
            made[role["name"]] = await self.client.create(JOBS, job, self.namespace)
        return made

    async def play_pod(self, job: Json, index: int, phase: str, **status: Any) -> Json:
        """Make a pod of a Job, in some phase; one that is there gets the phase."""
        name = f"{job['metadata']['name']}-{index}-abcde"
        if await self.get(PODS, name) is None:
            template = job["spec"]["template"]
            labels = {**template["metadata"]["labels"], COMPLETION_INDEX: str(index)}
            pod = {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": name, "labels": labels},
                "spec": template["spec"],
            }
            await self.client.create(PODS, pod, self.namespace)
        body = {"status": {"phase": phase, **status}}
        return await self.client.patch(PODS, name, self.namespace, body, subresource="status")

    async def play_running(self, jobs: dict[str, Json]) -> None:
        """All pods of all roles run."""
        for job in jobs.values():
            for index in range(job["spec"]["completions"]):
                await self.play_pod(job, index, "Running")

    async def play_end(self, jobs: dict[str, Json], end: str, **condition: str) -> None:
        """The launcher's Job ends, and with it the JobSet."""
        launcher, now = jobs["launcher"]["metadata"]["name"], timestamp(datetime.now(UTC))
        ended = {"status": "True", "lastTransitionTime": now, "lastProbeTime": now}
        conditions = [
            {"type": "SuccessCriteriaMet" if end == "Complete" else "FailureTarget"}
            | ended
            | condition,
            {"type": end} | ended | condition,
        ]
        status: Json = {"conditions": conditions, "startTime": now}
        if end == "Complete":
            status |= {"completionTime": now, "succeeded": 1}
        else:
            status["failed"] = 1
        await self.client.patch(
            JOBS, launcher, self.namespace, {"status": status}, subresource="status"
        )
        name = jobs["launcher"]["metadata"]["ownerReferences"][0]["name"]
        await self.end_jobset(name, "Completed" if end == "Complete" else "Failed")

    async def end_jobset(self, name: str, end: str) -> None:
        """The JobSet says that it is over."""
        over = {
            "type": end,
            "status": "True",
            "reason": "Test",
            "message": "jobset is over",
            "lastTransitionTime": timestamp(datetime.now(UTC)),
        }
        await self.client.patch(
            JOBSETS, name, self.namespace, {"status": {"conditions": [over]}}, subresource="status"
        )
