"""Brings the files of a job to its pods, each of which waits for them once.

The archive lies in the job's directory, so that the next server can go on with it. A pod that is
made anew waits anew, and is given the files again.
"""

import asyncio
import hashlib
import logging
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from trainway.backends.job_threads import job_threads
from trainway.backends.kubernetes.files import INIT, unpack_command
from trainway.errors import TrainwayError
from trainway.json_types import Json
from trainway.kube.backoff import Backoff
from trainway.kube.client import Client
from trainway.kube.errors import ObjectNotFound
from trainway.kube.execution import Outcome, execute
from trainway.kube.requests import Execution

Send = Callable[[str, tuple[str, ...], bytes], Awaitable[Outcome]]
"""Runs a command in the waiting container of a pod, with that input."""

ARCHIVE: Final = "files.tar"
"""The name of the archive in the job's directory."""

_AT_ONCE: Final = 8
_CHUNK: Final = 1 << 16
_BACKOFF: Final = Backoff(first=0.2, longest=10.0)

log = logging.getLogger(__name__)


class Uploads:
    """The uploads of one job."""

    container = INIT
    """The container that waits for them."""

    def __init__(
        self,
        client: Client,
        namespace: str,
        directory: Path,
        send: Send | None = None,
        backoff: Backoff = _BACKOFF,
    ) -> None:
        self._client = client
        self._namespace = namespace
        self._path = directory / ARCHIVE
        self._send = send or self._execute
        self._backoff = backoff
        self._tasks: dict[str, asyncio.Task[None]] = {}
        """The uploads by the uid of a pod; one that is done stays."""
        self._slots = asyncio.Semaphore(_AT_ONCE)
        self._has_archive: bool | None = None

    def on_pod(self, pod: Json) -> None:
        """A pod was made or has changed: bring the files if it waits for them."""
        uid = str(pod["metadata"]["uid"])
        if not is_waiting(pod, self.container):
            task = self._tasks.get(uid)
            if task is not None:
                task.cancel()
            return
        if uid not in self._tasks and self._is_there():
            self._tasks[uid] = asyncio.create_task(self._bring(str(pod["metadata"]["name"])))

    async def close(self) -> None:
        """Leave it at that."""
        for task in self._tasks.values():
            task.cancel()
        for task in self._tasks.values():
            with suppress(asyncio.CancelledError):
                await task

    def _is_there(self) -> bool:
        """Whether there is something to be brought."""
        if self._has_archive is None:
            self._has_archive = self._path.exists()
        return self._has_archive

    async def _bring(self, pod: str) -> None:
        """Try until it is done; a pod that is gone or goes on needs nothing more."""
        failures = 0
        while True:
            try:
                async with self._slots:
                    outcome = await self._deliver(pod)
                if outcome.code == 0:
                    log.info("%s has its files", pod)
                    return
                said = outcome.stderr.decode(errors="replace").strip().rpartition("\n")[2]
                log.warning("%s did not accept its files: %s", pod, said or outcome.code)
            except ObjectNotFound:
                return
            except (TrainwayError, OSError) as error:
                log.warning("%s did not receive its files: %s", pod, error)
            failures += 1
            await asyncio.sleep(self._backoff.pause(failures, random.random))

    async def _deliver(self, pod: str) -> Outcome:
        """Bring all to a pod once."""
        archive = await job_threads.run(self._path.read_bytes)
        command = unpack_command(archive, hashlib.sha256(archive).hexdigest())
        return await self._send(pod, command, archive)

    async def _execute(self, pod: str, command: tuple[str, ...], archive: bytes) -> Outcome:
        wanted = Execution(INIT, command, stdin=True)
        return await execute(self._client, self._namespace, pod, wanted, _chunks(archive))


def is_waiting(pod: Json, container: str = INIT) -> bool:
    """Whether the container that waits for files is running."""
    if pod["metadata"].get("deletionTimestamp"):
        return False
    statuses = (pod.get("status") or {}).get("initContainerStatuses") or ()
    return any(
        each.get("name") == container and "running" in (each.get("state") or {})
        for each in statuses
    )


async def _chunks(data: bytes) -> AsyncIterator[bytes]:
    for start in range(0, len(data), _CHUNK):
        yield data[start : start + _CHUNK]


def write_archive(directory: Path, archive: bytes) -> None:
    """Keep the archive of a job in its directory, whole or not at all."""
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = directory / f".{ARCHIVE}.new"
    draft.write_bytes(archive)
    draft.replace(directory / ARCHIVE)
