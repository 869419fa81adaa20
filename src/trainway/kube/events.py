"""Events: what `kubectl describe` shows under an object.

Recording never waits and never fails, for a job must not suffer from its story: events wait in a
queue of limited length and are sent in the background. The same thing said again counts up the
event that is there.
"""

import asyncio
import logging
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from types import TracebackType
from typing import Any, Final, Literal, NamedTuple, Self

from trainway.errors import TrainwayError
from trainway.json_types import Json
from trainway.kube.client import Client
from trainway.kube.errors import ObjectNotFound, Refused
from trainway.kube.resources import EVENTS
from trainway.kube.timestamps import timestamp

LONGEST_MESSAGE: Final = 1024
SAME_FOR: Final = timedelta(minutes=10)
_MOST_WAITING: Final = 2000
_MOST_KNOWN: Final = 4096
_LONGEST_NAME: Final = 253
_FLUSH_S: Final = 5.0

EventType = Literal["Normal", "Warning"]
logger = logging.getLogger(__name__)


class _Identity(NamedTuple):
    """Events that are equal in this are the same."""

    uid: str
    kind: str
    namespace: str
    name: str
    type: str
    reason: str
    message: str


@dataclass(slots=True)
class _Series:
    """An event and how often it happened."""

    body: Json
    last: datetime
    count: int = 1
    is_sent: bool = False
    is_waiting: bool = True


class EventRecorder:
    """Records events of one component; close it to send what still waits."""

    def __init__(
        self,
        client: Client,
        component: str,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.dropped = 0
        """How many events were lost."""
        self._client = client
        self._component = component
        self._now = now
        self._known: OrderedDict[_Identity, _Series] = OrderedDict()
        self._waiting: deque[_Series] = deque()
        self._filled = asyncio.Event()
        self._sender: asyncio.Task[None] | None = None
        self._is_idle = asyncio.Event()
        self._is_idle.set()
        self._numbers = 0

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    def record(self, obj: Mapping[str, Any], type: str, reason: str, message: str) -> None:  # noqa: A002 - as the event's field
        """Note that something happened to an object; at once, and without errors."""
        try:
            self._note(obj, type, reason, message)
        except Exception:
            logger.exception("cannot record %s: %s", reason, message)

    async def flush(self, seconds: float | None = None) -> None:
        """Wait until all is sent, but not for ever."""
        try:
            async with asyncio.timeout(_FLUSH_S if seconds is None else seconds):
                await self._is_idle.wait()
        except TimeoutError:
            logger.warning("%d events were not sent in time", len(self._waiting))

    async def close(self) -> None:
        """Send what waits and stop."""
        await self.flush()
        if self._sender is not None:
            self._sender.cancel()
            await asyncio.wait({self._sender})
            self._sender = None

    def _note(self, obj: Mapping[str, Any], type_: str, reason: str, message: str) -> None:
        now = self._now()
        message = shortened(message)
        identity = _identity(obj, type_, reason, message)
        series = self._known.get(identity)
        if series is not None and now - series.last < SAME_FOR:
            series.count += 1
            series.last = now
            self._known.move_to_end(identity)
        else:
            self._numbers += 1
            body = event_body(identity, obj, self._component, now, self._numbers)
            series = _Series(body, now, is_waiting=False)
            self._known[identity] = series
            self._known.move_to_end(identity)
            if len(self._known) > _MOST_KNOWN:
                self._known.popitem(last=False)
        self._queue(series)

    def _queue(self, series: _Series) -> None:
        if series.is_waiting:
            return  # sent with its new count
        if len(self._waiting) >= _MOST_WAITING:
            self._drop("too many events are waiting")
            return
        series.is_waiting = True
        self._waiting.append(series)
        self._is_idle.clear()
        self._filled.set()
        if self._sender is None or self._sender.done():
            self._sender = asyncio.get_running_loop().create_task(self._send_all(), name="events")

    async def _send_all(self) -> None:
        while True:
            while self._waiting:
                series = self._waiting.popleft()
                series.is_waiting = False
                await self._send(series)
            self._is_idle.set()
            self._filled.clear()
            await self._filled.wait()

    async def _send(self, series: _Series) -> None:
        try:
            if series.is_sent:
                try:
                    await self._count(series)
                    return
                except ObjectNotFound:
                    series.is_sent = False  # events are removed after an hour
            await self._create(series)
            series.is_sent = True
        except Refused as error:
            logger.debug("an event was refused: %s", error)
        except TrainwayError as error:
            self._drop(str(error))

    async def _create(self, series: _Series) -> None:
        body = series.body | {"count": series.count, "lastTimestamp": timestamp(series.last)}
        await self._client.create(EVENTS, body)

    async def _count(self, series: _Series) -> None:
        metadata = series.body["metadata"]
        patch = {"count": series.count, "lastTimestamp": timestamp(series.last)}
        await self._client.patch(EVENTS, metadata["name"], metadata["namespace"], patch)

    def _drop(self, why: str) -> None:
        self.dropped += 1
        if self.dropped & (self.dropped - 1) == 0:  # 1, 2, 4, 8: not one line for each
            logger.warning("%d events lost so far: %s", self.dropped, why)


def event_body(
    identity: _Identity, obj: Mapping[str, Any], component: str, now: datetime, number: int
) -> Json:
    """The event of a first occurrence."""
    metadata = obj["metadata"]
    involved = {
        "apiVersion": obj.get("apiVersion", ""),
        "kind": identity.kind,
        "name": identity.name,
        "namespace": identity.namespace,
        "uid": identity.uid,
        "resourceVersion": metadata.get("resourceVersion", ""),
    }
    suffix = f".{int(now.timestamp() * 1_000_000):x}{number & 0xFFFF:04x}"
    moment = timestamp(now)
    return {
        "apiVersion": EVENTS.api_version,
        "kind": EVENTS.kind,
        "metadata": {
            "name": identity.name[: _LONGEST_NAME - len(suffix)] + suffix,
            "namespace": identity.namespace or "default",
        },
        "involvedObject": {field: value for field, value in involved.items() if value},
        "type": identity.type,
        "reason": identity.reason,
        "message": identity.message,
        "source": {"component": component},
        "reportingComponent": component,
        "firstTimestamp": moment,
        "lastTimestamp": moment,
        "count": 1,
    }


def shortened(message: str) -> str:
    """A message that the API server takes."""
    if len(message) <= LONGEST_MESSAGE:
        return message
    return message[: LONGEST_MESSAGE - 3] + "..."


def _identity(obj: Mapping[str, Any], type_: str, reason: str, message: str) -> _Identity:
    metadata = obj["metadata"]
    return _Identity(
        metadata.get("uid", ""),
        obj.get("kind", ""),
        metadata.get("namespace", ""),
        metadata["name"],
        type_,
        reason,
        message,
    )
