"""Brings the output of a job's pods here: now and then while they run, and when they end.

A pod that has ended is held until its output is here (`held_output`). Then the output of all other
pods of the job is brought too, since the end of one may be the end of the job. A server that is
killed meanwhile leaves pods waiting, and the next one goes on.
"""

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from trainway.backends.job_threads import job_threads
from trainway.backends.kubernetes import held_output, staged_output
from trainway.backends.kubernetes.output_transfer import fetch, release
from trainway.backends.kubernetes.pods import HOLDER, newest
from trainway.errors import TrainwayError
from trainway.json_types import Json
from trainway.kube.backoff import Backoff
from trainway.kube.client import Client
from trainway.kube.errors import ObjectNotFound

Fetch = Callable[[str, Path], Awaitable[None]]
"""Makes a folder what the output directory of a pod is."""
Release = Callable[[str], Awaitable[None]]
"""Tells a pod that it is held no longer."""

_AT_ONCE: Final = 8
_BACKOFF: Final = Backoff(first=0.5, longest=30.0)

log = logging.getLogger(__name__)


class Harvest:
    """The output of one job."""

    def __init__(
        self,
        directory: Path,
        pods: Callable[[], Iterable[Json]],
        fetched: Fetch,
        released: Release,
        tell: Callable[[str], None] = lambda _message: None,
        backoff: Backoff = _BACKOFF,
    ) -> None:
        """`pods` gives those of the job that are there, and `tell` passes on why nothing comes."""
        self._directory = directory
        self._pods = pods
        self._fetch = fetched
        self._release = released
        self._tell = tell
        self._backoff = backoff
        self._alone = asyncio.Lock()
        self._slots = asyncio.Semaphore(_AT_ONCE)
        self._seeded: set[str] = set()
        """Pods that were seen to begin with what was here."""
        self._ending: dict[str, asyncio.Task[None]] = {}
        """Pods that have ended, by uid; one that is done with stays."""

    def on_pod(self, pod: Json) -> None:
        """A pod was made or has changed: let it go when its output is here."""
        uid = str(pod["metadata"]["uid"])
        if uid not in self._ending and held_output.is_waiting(pod):
            self._ending[uid] = asyncio.create_task(self._end(pod))

    async def bring(self) -> None:
        """Make the output of the job what its pods have now; the first failure is raised."""
        for error in (await self._brought()).values():
            if not isinstance(error, ObjectNotFound):
                raise error

    async def close(self) -> None:
        """Leave it at that."""
        for task in self._ending.values():
            task.cancel()
        for task in self._ending.values():
            with suppress(asyncio.CancelledError):
                await task

    async def _end(self, pod: Json) -> None:
        """Bring what a pod has, and let it go; that is tried until it is done."""
        name, uid, failures = str(pod["metadata"]["name"]), str(pod["metadata"]["uid"]), 0
        while True:
            try:
                found = await self._brought()
                if uid in found:
                    raise found[uid]
                await self._release(name)
                log.info("the output of %s is here", name)
                return
            except ObjectNotFound:
                return
            except (TrainwayError, OSError) as error:
                why = error.sentence if isinstance(error, TrainwayError) else str(error)
                log.warning("the output of %s is not here yet: %s", name, why)
                self._tell(f"{name} waits until its output is on the server: {why}")
            failures += 1
            await asyncio.sleep(self._backoff.pause(failures, random.random))

    async def _brought(self) -> dict[str, TrainwayError | OSError]:
        """Bring what all pods have; the failures, by the uids of the pods."""
        async with self._alone:
            pods = newest(self._pods())
            held = {place: pod for place, pod in pods.items() if held_output.is_held(pod)}
            found = await asyncio.gather(*(self._one(*each) for each in held.items()))
            await job_threads.run(staged_output.merge, self._directory)
        failures = zip(held.values(), found, strict=True)
        return {str(pod["metadata"]["uid"]): error for pod, error in failures if error is not None}

    async def _one(self, place: str, pod: Json) -> TrainwayError | OSError | None:
        folder = staged_output.stage(self._directory, place)
        uid = str(pod["metadata"]["uid"])
        try:
            async with self._slots:
                if uid not in self._seeded:
                    await job_threads.run(staged_output.seed, self._directory, place)
                    self._seeded.add(uid)
                await self._fetch(str(pod["metadata"]["name"]), folder)
        except (TrainwayError, OSError) as error:
            return error
        return None


def harvest_of(
    client: Client,
    namespace: str,
    directory: Path,
    pods: Callable[[], Iterable[Json]],
    tell: Callable[[str], None],
) -> Harvest:
    """That of a job in a namespace of a cluster."""

    async def fetched(pod: str, folder: Path) -> None:
        await fetch(client, namespace, pod, HOLDER, folder)

    async def released(pod: str) -> None:
        await release(client, namespace, pod, HOLDER)

    return Harvest(directory, pods, fetched, released, tell)
