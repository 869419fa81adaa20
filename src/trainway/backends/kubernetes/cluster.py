"""One cluster, spoken to: creates, changes and removes the objects of jobs.

Imports the client, and is itself imported only when a cluster is used.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from trainway.backends.base import Capacity, Check, Handle
from trainway.backends.kubernetes import checks
from trainway.backends.kubernetes.api_failure import worded
from trainway.backends.kubernetes.capacity import capacity_of
from trainway.backends.kubernetes.continuation import counting_on, with_restarts_left
from trainway.backends.kubernetes.form import Offer
from trainway.backends.kubernetes.job_objects import TOPS, JobObjects, suspension
from trainway.backends.kubernetes.nodes import nodes_of
from trainway.backends.kubernetes.observed_job import SUBMITTED
from trainway.backends.kubernetes.planning import KubernetesRequest, owned, owner_of
from trainway.backends.kubernetes.pods import longest_grace
from trainway.backends.kubernetes.record_book import RecordBook
from trainway.backends.kubernetes.session import Session, connect, offer_of, readable
from trainway.backends.kubernetes.uploads import write_archive
from trainway.backends.kubernetes.usage.meter import UsageMeter
from trainway.backends.kubernetes.watching import JobWatch
from trainway.backends.nodes import Node
from trainway.errors import ConflictError, ForbiddenError, TrainwayError, UnavailableError
from trainway.jobset.labels import JOB_ID
from trainway.json_types import Json
from trainway.kube import resources
from trainway.kube.access_reviews import missing_rights
from trainway.kube.client import Client
from trainway.kube.errors import (
    AlreadyExists,
    ApiError,
    Conflict,
    InvalidObject,
    ObjectNotFound,
)
from trainway.kube.resources import Resource, resource_of
from trainway.kube.user_rights import Right, Task, grant_hint, missing_words, needed
from trainway.kube.workload_activity import set_active

_MANAGER: Final = "trainway"
_GRACE_S: Final = 60.0
"""How long pods may take to go, beyond their own grace period."""
_QUICK_END_S: Final = 2
"""How long a pod that hangs has to end by itself."""
_REHEARSED: Final = 8
"""How many Jobs of a set are tried before they are sent; they may be hundreds and are
much alike."""
_LEFT_BEHIND: Final = (
    resources.JOBS,
    resources.SERVICES,
    resources.CONFIG_MAPS,
    resources.SECRETS,
    resources.TRAINING_RUNTIMES,
)

log = logging.getLogger(__name__)


class KubernetesCluster:
    """One context of a kubeconfig."""

    def __init__(
        self,
        files: Sequence[str],
        context: str,
        connected: Callable[[Sequence[str], str], Client] = connect,
    ) -> None:
        self._files = files
        self._context = context
        self._connected = connected
        self._client: Client | None = None
        self._meter: UsageMeter | None = None
        self._sessions: dict[str, Session] = {}
        self._granted: set[tuple[str, Right]] = set()
        """The rights in a namespace that we had when we asked."""

    def answers(self) -> tuple[str, Mapping[tuple[str, str], int]] | None:
        """The address of the API server, and what it has answered; None: it was not asked."""
        client = self._client
        return None if client is None else (client.connection.host, client.answers)

    async def client(self) -> Client:
        """The client, connected when it is first needed."""
        if self._client is None:
            with worded(self._context):
                client = self._connected(self._files, self._context)
                self._client = await client.__aenter__()
        return self._client

    async def session(self, namespace: str) -> Session:
        """What the jobs of a namespace share."""
        client = await self.client()
        if self._meter is None:
            self._meter = UsageMeter(client)
        return self._sessions.setdefault(namespace, Session(client, namespace, self._meter))

    async def close(self) -> None:
        """Stop watching, and let go of the connections."""
        for session in self._sessions.values():
            await session.close()
        self._sessions.clear()
        if self._meter is not None:
            await self._meter.close()
            self._meter = None
        if self._client is not None:
            await self._client.__aexit__(None, None, None)
            self._client = None

    async def offer(self, namespace: str) -> Offer:
        """What the cluster understands."""
        client = await self.client()
        with worded(self._context):
            return await offer_of(client, namespace)

    async def survey(self, namespace: str, offer: Offer) -> tuple[list[Check], Capacity]:
        """What `trainway doctor` tells: checks, and what nodes and quotas leave."""
        client = await self.client()
        with worded(self._context):
            version = (await client.raw("GET", "/version")).get("gitVersion", "")
        lines = [checks.reached(version, client.connection.host), checks.form(offer)]
        lines += [await self._right_check(task, namespace, offer) for task in Task]
        with worded(self._context):
            found = [
                await readable(client, resources.NODES),
                await readable(client, resources.PODS, field_selector=_HOLDING),
                await readable(client, resources.RESOURCE_QUOTAS, namespace),
            ]
        return lines, capacity_of(*found)

    async def nodes(self) -> list[Node]:
        """All nodes; refused where they may not be read. Pods that may not be read hold nothing."""
        client = await self.client()
        with worded(self._context):
            found = (await client.list(resources.NODES)).items
            return nodes_of(found, await readable(client, resources.PODS, field_selector=_HOLDING))

    async def rehearse(self, request: KubernetesRequest) -> None:
        """Have the API server check what differs from each other; nothing is kept."""
        client = await self.client()
        with worded(self._context):
            await self._refuse_blind(request.handle)
            for obj in [*request.companions, request.top, *request.children[:_REHEARSED]]:
                if obj is request.top and request.brings_runtime:
                    await self._refuse_taken(client, obj)  # its webhook looks for the runtime
                else:
                    await self._rehearse(client, obj)

    async def missing(self, namespace: str, wanted: Sequence[Right]) -> list[Right]:
        """Which of these rights we do not have; those that we have are asked for once."""
        unknown = [right for right in wanted if (namespace, right) not in self._granted]
        missing = await missing_rights(await self.client(), namespace, unknown)
        self._granted |= {(namespace, right) for right in unknown if right not in missing}
        return missing

    async def _right_check(self, task: Task, namespace: str, offer: Offer) -> Check:
        groups = {api.partition("/")[0] for api in offer.apis}
        missing = await self.missing(namespace, needed(task, groups))
        return checks.right(task, missing, namespace)

    async def _refuse_blind(self, handle: Handle) -> None:
        """Refuse a job that we could start but not follow."""
        namespace = str(handle["namespace"])
        keys = JobObjects(await self.session(namespace), handle).keys
        watched = dict.fromkeys(resource for resource, _ in keys)
        wanted = [
            Right(verb, resource.group, resource.plural)
            for resource in watched
            for verb in ("list", "watch")
        ]
        missing = await self.missing(namespace, wanted)
        if missing:
            raise ForbiddenError(
                f"{missing_words(missing, namespace)}: the job could not be followed",
                hint=grant_hint(Task.RUN, namespace),
            )

    async def _rehearse(self, client: Client, obj: Json) -> None:
        try:
            await client.create(resource_of(obj), obj, dry_run=True, field_manager=_MANAGER)
        except AlreadyExists:
            raise _taken(obj) from None
        except ApiError as error:
            if "dry run" not in error.message and "dryRun" not in error.message:
                raise
            log.info("%s: not rehearsed: %s", obj["metadata"]["name"], error)

    async def _refuse_taken(self, client: Client, obj: Json) -> None:
        metadata = obj["metadata"]
        try:
            await client.get(resource_of(obj), metadata["name"], metadata["namespace"])
        except ObjectNotFound:
            return
        raise _taken(obj)

    async def submit(self, request: KubernetesRequest, book: RecordBook) -> None:
        """Create all objects; those that are there already from an earlier try stay."""
        client = await self.client()
        if request.archive is not None:
            await asyncio.to_thread(write_archive, book.directory, request.archive)
        with worded(self._context):
            for obj in request.companions:
                await self._create(client, obj)
            status = book.status()
            restarts = int(status.get("restarts") or 0)
            wanted = counting_on(with_restarts_left(request.top, status), restarts)
            top = await self._create(client, wanted)
            for obj in request.children:
                await self._create(client, owned(counting_on(obj, restarts), top))
            metadata = top["metadata"]
            told = {"uid": metadata["uid"], "created": metadata["creationTimestamp"]}
            book.append([{"type": "agent", "event": SUBMITTED, **told}])
            await self._own(client, request.companions, top)

    async def _create(self, client: Client, obj: Json) -> Json:
        resource, metadata = resource_of(obj), obj["metadata"]
        try:
            return await client.create(resource, obj, field_manager=_MANAGER)
        except AlreadyExists:
            found = await client.get(resource, metadata["name"], metadata["namespace"])
        if (found["metadata"].get("labels") or {}).get(JOB_ID) != metadata["labels"][JOB_ID]:
            raise _taken(obj)
        return found

    async def _own(self, client: Client, companions: Sequence[Json], top: Json) -> None:
        """Make the companions go with the top object; without that, `delete` removes them."""
        change = {"metadata": {"ownerReferences": [owner_of(top)]}}
        for obj in companions:
            metadata = obj["metadata"]
            try:
                await client.patch(
                    resource_of(obj), metadata["name"], metadata["namespace"], change
                )
            except ApiError as error:
                log.info("%s is not owned by its job: %s", metadata["name"], error)

    async def watch(self, handle: Handle, book: RecordBook) -> JobWatch:
        """The job, to be watched."""
        return JobWatch(await self.session(handle["namespace"]), handle, book)

    async def suspend(self, handle: Handle, *, is_suspended: bool) -> None:
        """Stop the pods, or let them be made again."""
        client = await self.client()
        with worded(self._context):
            if handle.get("queue") and await self._deactivate(client, handle, is_suspended):
                return
            resource, _ = TOPS[handle["kind"]]
            change = suspension(handle, is_suspended=is_suspended)
            await client.patch(resource, handle["top"], handle["namespace"], change)

    async def resize(self, watch: JobWatch | None, nodes: int) -> None:
        """Let an elastic job have so many nodes at most; it has to be watched."""
        if watch is None or not watch.has_begun:
            raise UnavailableError("nobody watches the job yet")
        try:
            with worded(self._context):
                await watch.resize(nodes)
        except (ForbiddenError, InvalidObject) as error:
            said = f"the cluster does not take single nodes from it: {error.message}"
            raise ConflictError(said) from error

    async def _deactivate(self, client: Client, handle: Handle, is_suspended: bool) -> bool:
        """Take a job out of its queue, which would start it again at once; False: it is in none."""
        listing = await client.list(resources.WORKLOADS, handle["namespace"])
        for workload in listing.items:
            owners = workload["metadata"].get("ownerReferences") or ()
            if any(
                (each["kind"], each["name"]) == (handle["kind"], handle["top"]) for each in owners
            ):
                await set_active(client, workload, active=not is_suspended)
                return True
        return False

    async def cancel(self, handle: Handle) -> None:
        """Remove the top object, and return when it and its pods are gone."""
        client, session = await self.client(), await self.session(handle["namespace"])
        resource, _ = TOPS[handle["kind"]]
        with worded(self._context):
            runtimes = await self._keep_runtimes(client, handle)
            await self._remove(client, resource, handle["top"], handle, "Foreground")
        objects = JobObjects(session, handle)
        changed = asyncio.Event()
        with session.listening(
            handle["name"], objects.keys, lambda _resource, _change: changed.set()
        ):
            await session.synced(objects.keys)
            try:
                async with asyncio.timeout(_GRACE_S + longest_grace(objects.pods())):
                    while objects.is_there():
                        changed.clear()
                        await changed.wait()
            except TimeoutError:
                log.warning("%s: some of it is still there", handle["name"])
                return
        with worded(self._context):
            for name in runtimes:
                await self._remove(client, resources.TRAINING_RUNTIMES, name, handle, "Background")

    async def _keep_runtimes(self, client: Client, handle: Handle) -> list[str]:
        """Let the runtimes of a TrainJob outlive it, and give their names.

        They would go before it, and Kueue refuses every change of a TrainJob without its runtime,
        also the one that ends its deletion.
        """
        if handle["kind"] != "TrainJob":
            return []
        resource, namespace = resources.TRAINING_RUNTIMES, handle["namespace"]
        try:
            names = await self._names(client, resource, namespace, f"{JOB_ID}={handle['id']}")
            for name in names:
                change: Json = {"metadata": {"ownerReferences": None}}
                await client.patch(resource, name, namespace, change)
        except ApiError as error:
            log.info("the runtimes of %s go before it: %s", handle["name"], error)
            return []
        return names

    async def delete(self, handle: Handle) -> None:
        """Remove every object that carries the job's id."""
        client = await self.client()
        resource, _ = TOPS[handle["kind"]]
        selector = f"{JOB_ID}={handle['id']}"
        with worded(self._context):
            await self._remove(client, resource, handle["top"], handle, "Background")
            for each in _LEFT_BEHIND:
                for name in await self._names(client, each, handle["namespace"], selector):
                    await self._remove(client, each, name, handle, "Background")

    async def _names(
        self, client: Client, resource: Resource, namespace: str, selector: str
    ) -> list[str]:
        """The objects that have a label; none of a kind that the cluster does not know."""
        try:
            listing = await client.list(
                resource, namespace, label_selector=selector, metadata_only=True
            )
        except ObjectNotFound:
            return []
        return [str(obj["metadata"]["name"]) for obj in listing.items]

    async def _remove(
        self, client: Client, resource: Resource, name: str, handle: Handle, propagation: str
    ) -> None:
        """Remove an object if it is there and the job's."""
        try:
            found = await client.get(resource, name, handle["namespace"])
            if (found["metadata"].get("labels") or {}).get(JOB_ID) != handle["id"]:
                return
            uid = str(found["metadata"]["uid"])
            await client.delete(
                resource, name, handle["namespace"], propagation=propagation, uid=uid
            )
        except (ObjectNotFound, Conflict):
            return

    async def pods(self, handle: Handle) -> list[Json]:
        """The pods of a job that are there now."""
        session = await self.session(handle["namespace"])
        objects = JobObjects(session, handle)
        with session.listening(handle["name"], objects.keys, lambda _resource, _change: None):
            await session.synced(objects.keys)
            return objects.pods()

    async def end_pod(self, place: Json) -> None:
        """Delete a pod, which counts as failed, if it is still the same."""
        client = await self.client()
        with worded(self._context):
            try:
                await client.delete(
                    resources.PODS,
                    place["pod"],
                    place["namespace"],
                    uid=place["uid"],
                    grace_s=_QUICK_END_S,
                )
            except (ObjectNotFound, Conflict):
                return


_HOLDING: Final = "status.phase!=Succeeded,status.phase!=Failed"


def _taken(obj: Json) -> TrainwayError:
    metadata = obj["metadata"]
    return ConflictError(
        f"there is already a {obj['kind']} {metadata['name']} in namespace {metadata['namespace']}",
        hint="choose another name with --name, or delete the job that it belongs to",
    )
