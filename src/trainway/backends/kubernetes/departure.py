"""How a job leaves a cluster: its output is brought here, then its objects are removed.

Most of the output comes while the pods still run, and the rest when their processes have ended and
only a keeper is left in each (`keeper`). A pod's status does not tell when that is, since a kubelet
writes none while it ends a pod; but the log of a container comes to its end. Everything may be done
twice, and what has come stays.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from trainway.backends.agents.jobdir import JobDir
from trainway.backends.base import Handle
from trainway.backends.job_threads import job_threads
from trainway.backends.kubernetes import staged_output
from trainway.backends.kubernetes.api_failure import worded
from trainway.backends.kubernetes.cluster import KubernetesCluster
from trainway.backends.kubernetes.job_objects import JobObjects
from trainway.backends.kubernetes.keeper import (
    failed_keeper,
    keeper_for,
    needs_keeper,
    running_keeper,
)
from trainway.backends.kubernetes.observed_job import LEFT
from trainway.backends.kubernetes.output_transfer import fetch, release
from trainway.backends.kubernetes.pods import place_of
from trainway.backends.kubernetes.record_book import RecordBook
from trainway.backends.kubernetes.session import Session
from trainway.backends.kubernetes.watching import JobWatch
from trainway.errors import ConflictError, ForbiddenError, TrainwayError, UnavailableError
from trainway.json_types import Json
from trainway.kube import requests, resources
from trainway.kube.client import Client
from trainway.kube.errors import ApiError, ObjectNotFound
from trainway.kube.requests import STRATEGIC, LogRequest

_PATIENCE_S: Final = 60.0
"""How long keepers may take to start, and pods to go beyond their grace period."""
_AT_ONCE: Final = 8
"""How many pods send their output at once."""
_ROUNDS: Final = 2
"""How often the output is brought at the end: a log may also end with its connection."""

log = logging.getLogger(__name__)


class Departure:
    """One job that leaves."""

    def __init__(self, cluster: KubernetesCluster, handle: Handle, job: JobDir) -> None:
        self._cluster = cluster
        self._handle = handle
        self._directory = job.path
        self._namespace = str(handle["namespace"])
        self._context = str(handle["context"])
        self._slots = asyncio.Semaphore(_AT_ONCE)

    async def pack(self) -> None:
        """Bring the output of a job that runs, and have its pods keep what it writes until it ends.

        ConflictError: it cannot be brought.
        """
        try:
            with worded(self._context):
                await self._pack()
        except (ApiError, ForbiddenError) as error:
            raise ConflictError(f"its output cannot be brought here: {error.sentence}") from error
        except ConflictError:
            await self._for_kept(await self._pods(), self._release)
            await job_threads.run(staged_output.discard, self._directory)
            raise

    async def _pack(self) -> None:
        client, session = await self._cluster.client(), await self._session_of()
        objects, changed = JobObjects(session, self._handle), asyncio.Event()
        with session.listening(self._handle["name"], objects.keys, lambda *_: changed.set()):
            await session.synced(objects.keys)
            given = [pod for pod in objects.pods() if await self._give_keeper(client, pod)]
            uids = {str(pod["metadata"]["uid"]) for pod in given}
            try:
                async with asyncio.timeout(_PATIENCE_S):
                    while any(_awaits_keeper(pod, uids) for pod in objects.pods()):
                        changed.clear()
                        await changed.wait()
            except TimeoutError:
                raise UnavailableError(
                    "the containers that keep the output of its pods do not start"
                ) from None
            await self._for_kept(objects.pods(), self._fetch_first)

    async def _give_keeper(self, client: Client, pod: Json) -> bool:
        """Give a pod what keeps its output; whether it needs that."""
        if not needs_keeper(pod):
            return False
        name = str(pod["metadata"]["name"])
        try:
            whole = await client.get(resources.PODS, name, self._namespace)
            keeper = keeper_for(whole)
            if keeper is None or whole["metadata"]["uid"] != pod["metadata"]["uid"]:
                return False
            change = {"spec": {"ephemeralContainers": [keeper]}}
            await client.patch(
                resources.PODS,
                name,
                self._namespace,
                change,
                subresource="ephemeralcontainers",
                content=STRATEGIC,
            )
        except ObjectNotFound:
            return False
        return True

    async def leave(self, book: RecordBook) -> None:
        """Have nothing of a suspended job left in the cluster, and all that it wrote here."""
        if not await job_threads.run(book.has_left):
            with worded(self._context):
                await self._bring(book)
            await job_threads.run(_note_left, book, self._directory)
        await self._cluster.cancel(self._handle)
        await self._cluster.delete(self._handle)

    async def _bring(self, book: RecordBook) -> None:
        """Follow the job to the end of its pods, and take what they leave."""
        watch = await self._cluster.watch(self._handle, book)
        known = await job_threads.run(book.read)
        following = asyncio.create_task(_follow(watch, known[-1]["seq"] if known else -1))
        try:
            await self._for_kept(await self._pods(), self._fetch_last)
            await self._pods_gone()
            await watch.finish_logs()
        finally:
            following.cancel()
            with suppress(asyncio.CancelledError):
                await following
        if await job_threads.run(book.has_ended):
            raise ConflictError("the job has ended")

    async def _pods_gone(self) -> None:
        """Wait for pods that end; those of nodes that do not answer are not waited for."""
        session = await self._session_of()
        objects, changed = JobObjects(session, self._handle), asyncio.Event()
        with session.listening(self._handle["name"], objects.keys, lambda *_: changed.set()):
            await session.synced(objects.keys)
            with suppress(TimeoutError):
                async with asyncio.timeout(_PATIENCE_S):
                    while objects.pods():
                        changed.clear()
                        await changed.wait()

    async def _for_kept(
        self, pods: list[Json], act: Callable[[Client, Json, str], Awaitable[None]]
    ) -> None:
        """Do something for all pods that have a keeper."""
        client = await self._cluster.client()
        kept = [(pod, keeper) for pod in pods if (keeper := running_keeper(pod)) is not None]
        await asyncio.gather(*(act(client, *each) for each in kept))

    async def _fetch_first(self, client: Client, pod: Json, keeper: str) -> None:
        """Bring what a pod has now, and note that there will be more."""
        mark = staged_output.unfinished_mark(self._directory, _key(pod))
        await job_threads.run(staged_output.make_mark, mark)
        await self._fetch(client, pod, keeper)

    async def _fetch(self, client: Client, pod: Json, keeper: str) -> None:
        folder = staged_output.stage(self._directory, _key(pod))
        name = str(pod["metadata"]["name"])
        async with self._slots:
            await fetch(client, self._namespace, name, keeper, folder)

    async def _fetch_last(self, client: Client, pod: Json, keeper: str) -> None:
        """Bring what a pod has when its processes have ended; what came before counts otherwise."""
        name = str(pod["metadata"]["name"])
        grace = pod["spec"].get("terminationGracePeriodSeconds")
        try:
            async with asyncio.timeout(_PATIENCE_S + (30 if grace is None else grace)):
                for _ in range(_ROUNDS):
                    for container in pod["spec"]["containers"]:
                        await self._container_ended(client, name, str(container["name"]))
                    await self._fetch(client, pod, keeper)
            staged_output.unfinished_mark(self._directory, _key(pod)).unlink(missing_ok=True)
        except (TimeoutError, TrainwayError) as error:
            log.warning("%s: what it wrote last may be missing: %s", name, error)
        await self._release(client, pod, keeper)

    async def _container_ended(self, client: Client, pod: str, container: str) -> None:
        wanted = LogRequest(container, follow=True, tail=0)
        async with client.stream(requests.log(self._namespace, pod, wanted)) as stream:
            while await stream.piece():
                pass

    async def _release(self, client: Client, pod: Json, keeper: str) -> None:
        with suppress(TrainwayError):
            await release(client, self._namespace, str(pod["metadata"]["name"]), keeper)

    async def _pods(self) -> list[Json]:
        return await self._cluster.pods(self._handle)

    async def _session_of(self) -> Session:
        return await self._cluster.session(self._namespace)


def _awaits_keeper(pod: Json, uids: set[str]) -> bool:
    """Whether a pod has yet to get its keeper; raises why it cannot."""
    if pod["metadata"]["uid"] not in uids or not needs_keeper(pod):
        return False
    if problem := failed_keeper(pod):
        raise ConflictError(
            f"its output cannot be brought here: no container starts beside the others: {problem}",
            hint="the image of the job needs python3",
        )
    return True


async def _follow(watch: JobWatch, after: int) -> None:
    async for _ in watch.updates(after):
        pass


def _key(pod: Json) -> str:
    place = place_of(pod)
    assert place is not None  # noqa: S101 - only such pods have a keeper
    return place.key


def _note_left(book: RecordBook, directory: Path) -> None:
    """Write down that it has left, in a way in which the agents at its next place go on."""
    if places := staged_output.unfinished(directory):
        text = f"what {', '.join(places)} wrote last is missing: its pods went before it was here"
        about = f"Pod/{places[0]}"
        event = {"type": "event", "eventType": "Warning", "reason": "OutputIncomplete"}
        book.append([{**event, "message": text, "object": about}])
    staged_output.gather(directory)
    suspended = {"type": "status", "jobset": book.status(), "suspend": True}
    book.append([suspended, {"type": "agent", "event": LEFT}])
