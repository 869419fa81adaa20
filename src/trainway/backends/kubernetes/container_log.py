"""Reading the log of one container until it has ended, whatever happens to the connection.

The API server says from which second on lines are wanted, so some come again after a break: those
that are in the file already are dropped, each as often as it is there. A container that was
restarted has the log of its last life beside the one of this life; the older is read first.

A kubelet may take seconds to end the log of a container that has ended. So once the pod's status
says so and nothing more comes, the log is read once more without waiting for anything: then all of
it is there.
"""

import asyncio
import logging
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from trainway.backends.job_threads import job_threads
from trainway.backends.kubernetes.kept_log import KeptLog, Repeats
from trainway.backends.kubernetes.kubelet_lines import Entry, KubeletLines
from trainway.kube import requests
from trainway.kube.backoff import Backoff
from trainway.kube.client import Client
from trainway.kube.errors import ApiError, ObjectNotFound, Refused
from trainway.kube.requests import LogRequest
from trainway.kube.timestamps import timestamp

_MARGIN: Final = timedelta(seconds=1)
_SILENCE_S: Final = 300.0
"""How long nothing may come before the connection may be dead and is made anew, in seconds."""
_QUIET_S: Final = 0.3
"""How long nothing comes when a container that has ended has nothing more to say, in seconds."""
_QUIET_GONE_S: Final = 2.0
"""How long that is for a pod that was removed, of which nothing can be read again."""
_ENDED_S: Final = 1.0
"""The pause after a log has ended while the pod's status does not say so yet, in seconds."""
_POLL_S: Final = 5.0
_BACKOFF: Final = Backoff(first=0.1, longest=5.0)
_MOST_FAILURES: Final = 8
"""How many failures in a row mean that the node of a container that has ended is lost."""
_BAD_REQUEST: Final = 400

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ContainerState:
    """As far as its log depends on it."""

    restarts: int = 0
    is_over: bool = False
    """Whether this life of the container has ended."""
    is_final: bool = False
    """Whether there will be no other life."""
    is_gone: bool = False
    """Whether the pod was removed."""
    may_restart: bool = False


@dataclass
class Slots:
    """How many logs are read at once. Who gets none to follow reads now and then."""

    following: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(350))
    reading: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(50))


@dataclass(frozen=True)
class Source:
    """Whose log it is."""

    client: Client
    namespace: str
    pod: str
    container: str


class ContainerLog:
    """One container of one pod; `run` reads it."""

    def __init__(  # noqa: PLR0913 - named by whoever gives them
        self,
        source: Source,
        file: KeptLog,
        slots: Slots,
        state: ContainerState,
        *,
        last: bytes = b"",
        is_mixed: bool = False,
        shown: Callable[[bytes], bytes | None] = lambda text: text,
        on_refusal: Callable[[str], None] = lambda _message: None,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.state = state
        self._on_refusal = on_refusal
        self.caught_up = asyncio.Event()
        """Set while all that the container wrote in its lives so far is in the file."""
        self._source = source
        self._file = file
        self._slots = slots
        self._last = last
        self._is_mixed = is_mixed
        """Whether lines of another pod follow those of this one."""
        self._shown = shown
        """What gives the part of a line that is for people; None: there is none."""
        self._chance = chance
        self._life = 0
        self._read_to_end = -1
        """The last life of which everything was read."""
        self._is_resuming = bool(last)
        self._is_done = False
        self._changed = asyncio.Event()
        self._limit: asyncio.Timeout | None = None

    def on_state(self, state: ContainerState) -> None:
        """Take note of what the pod's status says."""
        if state != self.state and not self._is_done:
            self.state = state
            self.caught_up.clear()
            self._changed.set()
            self._hurry()

    async def run(self) -> None:
        """Read to the end of the container's last life."""
        failures = 0
        try:
            while True:
                self._changed.clear()
                state = self.state
                try:
                    is_complete = await self._read(state)
                    failures = 0
                except Refused as error:
                    log.warning("the log of %s cannot be read: %s", self._source.pod, error)
                    self._on_refusal(error.message)
                    return
                except (ApiError, OSError) as error:
                    failures += 1
                    is_complete = self._is_nothing_left(state, error, failures)
                    log.debug("log of %s: %s", self._source.pod, error)
                if state.is_gone or (is_complete and state.is_final):
                    return
                if is_complete and state is self.state:
                    self.caught_up.set()
                    await self._changed.wait()
                elif not self._is_ending:
                    pause = _BACKOFF.pause(failures, self._chance) if failures else _ENDED_S
                    await self._pause(pause)
                elif failures:
                    await asyncio.sleep(_BACKOFF.pause(failures, self._chance))
        finally:
            self._is_done = True
            self.caught_up.set()

    @property
    def _is_ending(self) -> bool:
        return self.state.is_over or self.state.is_gone or self.state.restarts > self._life

    async def _read(self, state: ContainerState) -> bool:
        """Read what there is; whether that is all of a life that has ended."""
        has_older = state.restarts > self._life or (self._is_resuming and state.may_restart)
        if has_older and not state.is_gone:
            await self._read_older()
        self._life = max(self._life, state.restarts)
        self._is_resuming = True
        if state.is_gone or (state.is_over and self._read_to_end == state.restarts):
            return True
        if state.is_over:
            async with self._slots.reading:
                await self._take(LogRequest(self._source.container), is_last=True)
            self._read_to_end = state.restarts
            return True
        if self._slots.following.locked():
            async with self._slots.reading:
                await self._take(LogRequest(self._source.container))
            await self._pause(_POLL_S)
            return False
        async with self._slots.following:
            await self._follow()
        return False

    async def _read_older(self) -> None:
        """The rest of the life before this one, as far as it is kept."""
        wanted = LogRequest(self._source.container, previous=True)
        try:
            async with self._slots.reading:
                await self._take(wanted, is_last=True)
        except ApiError as error:
            if error.status != _BAD_REQUEST and not isinstance(error, ObjectNotFound):
                raise

    async def _follow(self) -> None:
        try:
            async with asyncio.timeout(None) as self._limit:
                self._hurry()
                await self._take(LogRequest(self._source.container, follow=True))
        except TimeoutError:
            pass  # nothing more comes
        finally:
            self._limit = None

    def _hurry(self) -> None:
        """Do not wait for long for more, if there is a reason to expect no more."""
        if self._limit is not None and not self._limit.expired() and self._is_ending:
            seconds = _QUIET_GONE_S if self.state.is_gone else _QUIET_S
            self._limit.reschedule(asyncio.get_running_loop().time() + seconds)

    async def _take(self, wanted: LogRequest, *, is_last: bool = False) -> None:
        """Send a request, and keep what comes until its end."""
        since = self._since()
        repeats = await self._repeats(since)
        if since is not None:
            wanted = wanted._replace(since=timestamp(since))
        source = self._source
        request = requests.log(source.namespace, source.pod, wanted)
        arriving = KubeletLines()
        async with source.client.stream(request, _SILENCE_S) as stream:
            while piece := await stream.piece():
                self._keep(arriving.feed(piece), repeats)
                self._hurry()
        if is_last:
            self._keep(arriving.rest(), repeats)

    def _since(self) -> datetime | None:
        """From when on lines are wanted; None: from the beginning."""
        return resumption(self._last) if self._last and not self._is_mixed else None

    async def _repeats(self, since: datetime | None) -> Repeats:
        """What is in the file of what will come again."""
        if not self._last:
            return Repeats()
        return await job_threads.run(self._file.since, since)

    def _keep(self, entries: list[Entry], repeats: Repeats) -> None:
        """Append what is new."""
        arrived = ((entry, self._shown(entry.text)) for entry in entries)
        lines = (entry._replace(text=text).line() for entry, text in arrived if text is not None)
        if new := repeats.new(lines):
            self._file.append(b"\n".join(new) + b"\n")
            self._last = max(self._last, entries[-1].time)

    def _is_nothing_left(self, state: ContainerState, error: Exception, failures: int) -> bool:
        """Whether a failure means that there is nothing to be read."""
        if not state.is_over:
            return False
        is_unknown = isinstance(error, ObjectNotFound) or (
            isinstance(error, ApiError) and error.status == _BAD_REQUEST
        )
        if state.is_final and failures >= _MOST_FAILURES and not is_unknown:
            log.warning("the end of the log of %s is lost: %s", self._source.pod, error)
        return is_unknown or (state.is_final and failures >= _MOST_FAILURES)

    async def _pause(self, seconds: float) -> None:
        """Wait for so long, or until the container's state changes."""
        try:
            async with asyncio.timeout(seconds):
                await self._changed.wait()
        except TimeoutError:
            pass


def resumption(last: bytes) -> datetime:
    """From when on to read again after a line of that time: a whole second, and one before it."""
    return datetime.fromisoformat(last.decode("ascii")).replace(microsecond=0) - _MARGIN


def state_of(pod: dict[str, Any], status: dict[str, Any]) -> ContainerState | None:
    """The state of a container by its status in a pod; None: it has not begun."""
    state, before = status.get("state") or {}, status.get("lastState") or {}
    restarts = int(status.get("restartCount") or 0)
    if not (state.get("running") or state.get("terminated") or before.get("terminated")):
        return None
    policy = pod["spec"].get("restartPolicy")
    return ContainerState(
        restarts,
        is_over=not state.get("running"),
        is_final=(pod.get("status") or {}).get("phase") in ("Succeeded", "Failed"),
        may_restart=restarts > 0 or policy != "Never",
    )
