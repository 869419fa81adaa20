"""The jobs of one kind in a cluster: create, read, watch, suspend, scale and delete them.

A job in a queue of Kueue is suspended and resumed through its Workload: Kueue alone decides on the
field of the job, and would undo what anybody else writes there. An annotation of the job says that
its owner wants it so, since to those who see the job alone it would look as if it waited.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Collection, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from trainway.errors import NotFoundError, UsageError
from trainway.json_types import Json
from trainway.kube.client import Client, WatchEvent
from trainway.kube.connection import load_connection
from trainway.kube.errors import ApiError, Gone, ObjectNotFound, ServerUnavailable
from trainway.kube.queue_position import QueuePositions, position_among
from trainway.kube.requests import Selection
from trainway.kube.resources import EVENTS, LOCAL_QUEUES, PODS, WORKLOADS
from trainway.kube.workload_activity import set_active
from trainway.training.explanation import explained, explanation
from trainway.training.kinds import JobKind
from trainway.training.members import Member, members_of
from trainway.training.state import queue_of, status_of, withholding

_MANAGER: Final = "trainway"
_JOB_UID: Final = "kueue.x-k8s.io/job-uid"
_SILENCE_S: Final = 330.0
_PAUSE_S: Final = 1.0
_WORKLOAD_ROUNDS: Final = 10
"""How often to look for the Workload of a new job before it is taken for one without."""


@dataclass(frozen=True)
class ClusterJobs:
    """Jobs of one kind in one namespace; an empty one stands for all."""

    client: Client
    kind: JobKind
    namespace: str

    async def create(self, job: Json, *, dry_run: bool = False) -> Json:
        """Create a job."""
        name = str(job["metadata"].get("name") or "")
        with explained(self.kind, self.namespace, name):
            return await self.client.create(
                self.kind.resource, job, self.namespace, field_manager=_MANAGER, dry_run=dry_run
            )

    async def get(self, name: str) -> Json:
        """One job."""
        if not name or "/" in name or name in (".", ".."):
            raise UsageError(f"{name!r} is not the name of {self.kind.one}")
        with explained(self.kind, self.namespace, name):
            return await self.client.get(self.kind.resource, name, self.namespace)

    async def list(self, selector: str = "") -> tuple[Sequence[Json], str]:
        """All jobs, and the version of the list."""
        with explained(self.kind, self.namespace):
            listing = await self.client.list(
                self.kind.resource, self.namespace, label_selector=selector
            )
        return listing.items, listing.resource_version

    async def change(self, name: str, patch: Json) -> Json:
        """Change a job by a merge patch."""
        with explained(self.kind, self.namespace, name):
            return await self.client.patch(
                self.kind.resource, name, self.namespace, patch, field_manager=_MANAGER
            )

    async def scale(self, name: str, workers: int) -> Json:
        """Give a job so many workers."""
        return await self.change(name, self.kind.scaling(await self.get(name), workers))

    async def delete(self, name: str, *, wait: bool = True) -> None:
        """Delete a job with all it has, and wait until it is gone."""
        job = await self.get(name)
        with explained(self.kind, self.namespace, name):
            await self.client.delete(
                self.kind.resource, name, self.namespace, uid=job["metadata"]["uid"]
            )
        while wait:
            try:
                now = await self.get(name)
            except NotFoundError:
                return
            if now["metadata"]["uid"] != job["metadata"]["uid"]:
                return
            await asyncio.sleep(0.1)

    async def suspend(self, name: str, *, suspend: bool) -> Json:
        """Suspend a job, or resume it; the job before."""
        job = await self.get(name)
        if status_of(job).is_over:
            word = "suspended" if suspend else "resumed"
            raise UsageError(
                f'the {self.kind.title} "{name}" has ended and cannot be {word}',
                hint="create it anew to run it again",
            )
        workload = await self.workload(job, patience=_WORKLOAD_ROUNDS) if queue_of(job) else None
        if workload is None:
            await self.change(name, self.kind.suspension(suspend))
        else:
            with explained(self.kind, self.namespace, name):
                await set_active(self.client, workload, active=not suspend)
            await self.change(name, withholding(suspend))
        return job

    async def workload(self, job: Json, patience: int = 1) -> Json | None:
        """What Kueue made of a job; None: nothing, or nobody may know."""
        metadata = job["metadata"]
        selector = f"{_JOB_UID}={metadata['uid']}"
        for last in reversed(range(patience)):
            try:
                found = await self.client.list(
                    WORKLOADS, metadata["namespace"], label_selector=selector
                )
            except ApiError:
                return None
            if found.items:
                return found.items[0]
            if last:
                await asyncio.sleep(0.2)
        return None

    async def queue_warning(self, job: Json) -> str:
        """What is wrong with the queue that a job names; empty: nothing, or nobody may know."""
        queue = queue_of(job)
        if not queue:
            return ""
        try:
            await self.client.get(LOCAL_QUEUES, queue, self.namespace)
        except ObjectNotFound:
            return (
                f'there is no LocalQueue "{queue}" in namespace "{self.namespace}": the job stays'
                " suspended until there is one"
            )
        except ApiError:
            return ""
        return ""

    async def position(self, workload: Json) -> int | None:
        """Its place in the queue, from 1 on; None: that cannot be known."""
        told = await QueuePositions(self.client).of(workload)
        if told is not None:
            return told
        metadata = workload["metadata"]
        try:
            beside = await self.client.list(WORKLOADS, metadata["namespace"])
        except ApiError:
            return None
        return position_among(beside.items, metadata["name"])

    async def members(self, name: str) -> tuple[Sequence[Member], str]:
        """The pods of a job, and the version of the list."""
        with explained(self.kind, self.namespace):
            found = await self.client.list(
                PODS, self.namespace, label_selector=self.kind.pods(name)
            )
        return members_of(found.items), found.resource_version

    async def events(self, name: str, pods: Collection[str]) -> Sequence[Json]:
        """What was said of a job and of its pods, oldest first."""
        own = await self.client.list(
            EVENTS, self.namespace, field_selector=f"involvedObject.name={name}"
        )
        of_pods = await self.client.list(
            EVENTS, self.namespace, field_selector="involvedObject.kind=Pod"
        )
        ours = [each for each in of_pods.items if each["involvedObject"].get("name") in pods]
        return sorted([*own.items, *ours], key=event_time)

    async def changes(self, version: str, selector: str = "") -> AsyncGenerator[WatchEvent, None]:
        """What changes after a version, until the watch ends for whatever reason."""
        watch = self.client.watch(
            self.kind.resource,
            self.namespace,
            resource_version=version,
            selection=Selection(label_selector=selector),
            silence_seconds=_SILENCE_S,
        )
        try:
            async with aclosing(watch) as events:
                async for event in events:
                    if event.type != "BOOKMARK":
                        yield event
        except (Gone, ServerUnavailable):
            await asyncio.sleep(_PAUSE_S)

    async def states(self, name: str) -> AsyncGenerator[Json, None]:
        """A job now and whenever it changes, also after an outage of the API server."""
        job = await self.get(name)
        uid = job["metadata"]["uid"]
        while True:
            yield job
            try:
                async with aclosing(self._of_one(name, job)) as events:
                    async for event in events:
                        if event.type == "DELETED":
                            break
                        yield event.object
                job = await self.get(name)
            except (Gone, ServerUnavailable):
                await asyncio.sleep(_PAUSE_S)
                continue
            if job["metadata"]["uid"] != uid:
                raise NotFoundError(f'the {self.kind.title} "{name}" was replaced by another')

    async def _of_one(self, name: str, job: Json) -> AsyncGenerator[WatchEvent, None]:
        watch = self.client.watch(
            self.kind.resource,
            self.namespace,
            resource_version=job["metadata"]["resourceVersion"],
            selection=Selection(field_selector=f"metadata.name={name}"),
            silence_seconds=_SILENCE_S,
        )
        try:
            async with aclosing(watch) as events:
                async for event in events:
                    if event.type != "BOOKMARK":
                        yield event
        except (Gone, ServerUnavailable):
            raise
        except ApiError as error:
            raise explanation(error, self.kind, self.namespace, name) from None


@asynccontextmanager
async def cluster_jobs(
    kind: JobKind,
    namespace: str | None = None,
    kubeconfig: str | Path | None = None,
    context: str | None = None,
) -> AsyncIterator[ClusterJobs]:
    """The jobs of a namespace; None: that of the context."""
    connection = load_connection(None if kubeconfig is None else Path(kubeconfig), context)
    place = connection.namespace if namespace is None else namespace
    async with Client(connection) as client:
        yield ClusterJobs(client, kind, place)


def event_time(event: Json) -> str:
    """When an event was last seen."""
    names = ("lastTimestamp", "eventTime", "firstTimestamp")
    found = (event.get(name) for name in names)
    return str(next(filter(None, found), event["metadata"].get("creationTimestamp") or ""))
