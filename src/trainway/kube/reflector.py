"""One list and the watch that follows it, for ever: the stream an informer is filled from.

A broken watch is taken up again from the last version that was seen, so nothing is missed and
nothing comes twice. Only where the API server has forgotten that version is everything listed
again. A watch that says nothing for too long, not even a bookmark, counts as broken: a connection
can die without a word.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import aclosing
from typing import Final, Protocol

from trainway.errors import TrainwayError
from trainway.json_types import Json
from trainway.kube.backoff import Backoff
from trainway.kube.client import Client
from trainway.kube.errors import Gone, Refused, ServerUnavailable, WatchSilent
from trainway.kube.requests import Selection
from trainway.kube.resources import Resource

SILENCE_S: Final = 90.0
"""The API server sends a bookmark each minute; with etcd before 3.5 only if something changed."""
_BACKOFF: Final = Backoff(first=0.1, longest=5.0)
_SHORTEST_WATCH_S: Final = 300
_MOST_FAILURES: Final = 6
"""How many watches may be refused in a row before we list again; the version may be one the server
never had."""

logger = logging.getLogger(__name__)


class Sink(Protocol):
    """Takes what a reflector sees."""

    def put(self, obj: Json) -> None:
        """An object that is there, new or not."""
        ...

    def remove(self, obj: Json) -> None:
        """An object that is gone."""
        ...

    def retain(self, namespace: str, keys: set[str]) -> None:
        """All objects of a namespace (empty: of all); those not named are gone."""
        ...


class Reflector:
    """Lists and watches one resource, in one namespace or in all."""

    def __init__(
        self,
        client: Client,
        resource: Resource,
        sink: Sink,
        *,
        namespace: str = "",
        selection: Selection,
        silence_seconds: float = SILENCE_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.is_synced = asyncio.Event()
        """Set once the first list is through."""
        self.refusal = ""
        """What the API server says while it forbids us to list or watch."""
        self.lists = 0
        """How often everything was listed."""
        self._client = client
        self._resource = resource
        self._sink = sink
        self._namespace = namespace
        self._selection = selection
        self._silence_seconds = silence_seconds
        self._clock = clock
        self._chance = client.chance
        self._head = {"apiVersion": resource.api_version, "kind": resource.kind}
        self._version = ""
        self._failures = 0
        self._alive_at = clock()

    def age(self) -> float:
        """Seconds since the API server last said something."""
        return self._clock() - self._alive_at

    async def run(self) -> None:
        """Never ends by itself."""
        while True:
            try:
                if not self._version:
                    await self._list()
                await self._watch()
            except Gone as error:
                logger.info("%s: listing again: %s", self._resource, error)
                self._version = ""
                self._failures += 1
            except WatchSilent as error:
                logger.debug("%s; trying another connection", error)
            except TrainwayError as error:
                self._failures += 1
                self.refusal = error.message if isinstance(error, Refused) else ""
                level = logging.WARNING if self._failures in (1, 10, 100) else logging.DEBUG
                logger.log(level, "%s: %s", self._resource, error)
                if self._is_lost(error):
                    self._version = ""
            if self._failures:
                await asyncio.sleep(_BACKOFF.pause(self._failures, self._chance))

    def _is_lost(self, error: TrainwayError) -> bool:
        """The server answers, but never to this watch."""
        was_answered = not isinstance(error, ServerUnavailable) or error.status != 0
        return was_answered and self._failures % _MOST_FAILURES == 0

    async def _list(self) -> None:
        keys = set[str]()
        version = ""
        async with aclosing(
            self._client.pages(self._resource, self._namespace, self._selection)
        ) as pages:
            async for page in pages:
                self._note_life()
                version = page.resource_version
                keys.update([self._put(obj) for obj in page.items])
                page.items.clear()  # or they are here until the next have come
        self._sink.retain(self._namespace, keys)
        self._version = version
        self._failures = 0
        self.refusal = ""
        self.lists += 1
        self.is_synced.set()

    async def _watch(self) -> None:
        began = self._clock()
        timeout = _SHORTEST_WATCH_S * (1 + self._chance())
        async with aclosing(
            self._client.watch(
                self._resource,
                self._namespace,
                resource_version=self._version,
                selection=self._selection,
                timeout_seconds=int(timeout),
                silence_seconds=self._silence_seconds,
                on_open=self._note_life,
            )
        ) as events:
            async for event in events:
                self._note_life()
                obj = event.object
                if event.type == "DELETED":
                    self._sink.remove(self._head | obj | self._head)
                elif event.type != "BOOKMARK":
                    self._put(self._head | obj | self._head)
                self._version = obj["metadata"]["resourceVersion"]
                self._failures = 0
        if self._clock() - began < 1:
            self._failures += 1  # ended at once: not in a loop without pauses

    def _note_life(self) -> None:
        self._alive_at = self._clock()

    def _put(self, obj: Json) -> str:
        metadata = obj["metadata"]
        metadata.pop("managedFields", None)
        self._sink.put(obj)
        namespace = metadata.get("namespace")
        return f"{namespace}/{metadata['name']}" if namespace else str(metadata["name"])
