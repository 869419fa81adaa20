"""Copies what the pods of a job write into files of this machine, line by line as it is written.

The files are those of a local job, so logs are read alike everywhere, also when the pods, or the
whole cluster, are gone. A keeper that comes after another, in the next server, goes on behind the
last line: none is lost and none is there twice.
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

from trainway.agent.base.log_limit import DEFAULT, LogLimit
from trainway.backends.kubernetes.container_log import ContainerLog, Slots, Source, state_of
from trainway.backends.kubernetes.kept_log import KeptLog, Readers
from trainway.backends.kubernetes.pods import HOLDER, Place, place_of
from trainway.backends.logs.files import log_files
from trainway.backends.logs.results import Results
from trainway.json_types import Json
from trainway.kube.client import Client

_PRIVATE: Final = 0o700
_FINISH_S: Final = 30.0

log = logging.getLogger(__name__)


class LogKeeper:
    """The logs of one job."""

    def __init__(
        self,
        client: Client,
        namespace: str,
        folder: Path,
        slots: Slots | None = None,
        *,
        limit: int = DEFAULT,
        on_limit: Callable[[str], None] = lambda _message: None,
        on_refusal: Callable[[str], None] = lambda _message: None,
    ) -> None:
        folder.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
        self._client = client
        self._namespace = namespace
        self._folder = folder
        self._slots = slots or Slots()
        self._readers = Readers(folder)
        self._results = Results(folder.parent / "output")
        self._files: dict[str, KeptLog] = {}
        used = sum(file.size() for file in log_files(folder))
        self._limit = LogLimit(limit, used, on_limit)
        self._logs: dict[tuple[str, str], ContainerLog] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._on_refusal = on_refusal
        self.attempts_before = 0
        """How many attempts there were before those that the pods count."""
        self._is_closed = False

    def on_pod(self, pod: Json) -> None:
        """Read the logs of its containers, those that have begun."""
        place = place_of(pod)
        if place is None or self._is_closed:
            return
        status = pod.get("status") or {}
        names = ("initContainerStatuses", "containerStatuses")
        for each in (item for name in names for item in status.get(name) or ()):
            state = state_of(pod, each)
            if state is None or each["name"] == HOLDER:
                continue
            known = self._logs.get((pod["metadata"]["uid"], each["name"]))
            if known is not None:
                known.on_state(state)
            else:
                self._start(pod, place, each)

    def on_gone(self, pod: Json) -> None:
        """Wait no longer for a pod that was removed."""
        uid = pod["metadata"]["uid"]
        for (owner, _), known in self._logs.items():
            if owner == uid:
                known.on_state(replace(known.state, is_over=True, is_final=True, is_gone=True))

    async def finish(self, limit_s: float = _FINISH_S) -> None:
        """Wait until all that was written is in the files, but not for ever; then stop."""
        try:
            async with asyncio.timeout(limit_s):
                for known in list(self._logs.values()):
                    await known.caught_up.wait()
        except TimeoutError:
            log.warning("the last lines of some logs in %s may be missing", self._folder)
        await self.close()

    async def close(self) -> None:
        """Stop."""
        self._is_closed = True
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    def _start(self, pod: Json, place: Place, status: Json) -> None:
        uid, container = str(pod["metadata"]["uid"]), str(status["name"])
        state = state_of(pod, status)
        assert state is not None  # noqa: S101 - only of containers that have begun
        file = self._file(place, container)
        is_new = self._readers.is_new(file.name, uid)
        is_newest = self._readers.is_newest(file.name, uid)
        if is_new:
            self._readers.note(file.name, uid)
        known = ContainerLog(
            Source(self._client, self._namespace, pod["metadata"]["name"], container),
            file,
            self._slots,
            state,
            last=b"" if is_new else file.last_time(),
            is_mixed=not is_new and not is_newest,
            shown=self._results.take,
            on_refusal=self._on_refusal,
        )
        self._logs[uid, container] = known
        task = asyncio.create_task(known.run(), name=f"log of {file.name}")
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _file(self, place: Place, container: str) -> KeptLog:
        place = place._replace(attempt=place.attempt + self.attempts_before)
        file = KeptLog(self._folder, place, container, self._limit)
        return self._files.setdefault(file.name, file)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            log.error("%s: %r", task.get_name(), task.exception())
