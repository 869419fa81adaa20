"""Requests to the API server, with plain dicts on both sides.

There are no model classes, for a controller spends its time here. A request is tried again after a
pause where that is safe: always if it was not executed, and after a broken connection only if doing
it twice is as good as once.
"""

import asyncio
import random
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Self

import aiohttp
import orjson

from trainway.json_types import Json
from trainway.kube import channels, requests, streams
from trainway.kube.backoff import Backoff, retry_after
from trainway.kube.connection import Connection
from trainway.kube.errors import ObjectNotFound, WatchSilent, from_status
from trainway.kube.http_pool import CONNECT_S, NotSentError
from trainway.kube.lines import LineSplitter
from trainway.kube.requests import (
    EVERYTHING,
    JSON,
    JSON_PATCH,
    MERGE_PATCH,
    STRATEGIC,
    Request,
    Selection,
)
from trainway.kube.resources import Resource
from trainway.kube.throttle import Throttle
from trainway.kube.transport import BROKEN, Transport, break_off, unreachable, was_not_sent

__all__ = ["JSON_PATCH", "MERGE_PATCH", "STRATEGIC", "Client", "Listing", "WatchEvent"]

PAGE: Final = 250
"""How many objects a request asks for; a page takes ten times its text while it is worked on."""
_TIMEOUT_S: Final = 60.0
_ATTEMPTS: Final = 6
_BACKOFF: Final = Backoff(first=0.1, longest=3.0)
_LONGEST_RETRY_AFTER_S: Final = 10.0
_WATCH_S: Final = 300
_NOT_EXECUTED: Final = (429, 503)
"""The API server sends these, with Retry-After, before it does anything."""


@dataclass(frozen=True, slots=True)
class Listing:
    """Objects as they were at one version."""

    items: list[Json]
    resource_version: str


@dataclass(frozen=True, slots=True)
class WatchEvent:
    """ADDED, MODIFIED, DELETED or BOOKMARK."""

    type: str
    object: Json


class Client:
    """Speaks to one API server; use it with `async with`."""

    def __init__(
        self,
        connection: Connection,
        qps: float | None = None,
        burst: float | None = None,
        user_agent: str = "trainway",
        *,
        timeout: float = _TIMEOUT_S,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.connection = connection
        self.chance = chance
        self._transport = Transport(connection, user_agent, timeout)
        self._throttle = Throttle(qps, burst or qps) if qps else None

    @property
    def requests(self) -> int:
        """Sent so far, each attempt counted."""
        return self._transport.sent

    @property
    def answers(self) -> Mapping[tuple[str, str], int]:
        """How many answers there were so far, by method and status."""
        return self._transport.answers

    async def __aenter__(self) -> Self:
        self._transport.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._transport.close()

    async def get(self, resource: Resource, name: str, namespace: str = "") -> Json:
        """One object."""
        return await self.send(requests.read(resource, name, namespace))

    async def list(
        self,
        resource: Resource,
        namespace: str = "",
        *,
        label_selector: str = "",
        field_selector: str = "",
        metadata_only: bool = False,
    ) -> Listing:
        """All objects, fetched in pages, as they were at one moment."""
        items: list[Json] = []
        version = ""
        selection = Selection(label_selector, field_selector, metadata_only)
        async for page in self.pages(resource, namespace, selection):
            items += page.items
            version = page.resource_version
        return Listing(items, version)

    async def pages(
        self, resource: Resource, namespace: str = "", selection: Selection = EVERYTHING
    ) -> AsyncGenerator[Listing, None]:
        """The same page by page, so that not all need to be in memory."""
        head = {"apiVersion": resource.api_version, "kind": resource.kind}
        following = ""
        while True:
            answer = await self.send(requests.page(resource, namespace, selection, PAGE, following))
            metadata = answer["metadata"]
            items = [head | item | head for item in answer.pop("items", None) or ()]
            yield Listing(items, metadata.get("resourceVersion", ""))
            following = metadata.get("continue", "")
            if not following:
                return

    async def create(
        self,
        resource: Resource,
        obj: Json,
        namespace: str = "",
        *,
        field_manager: str = "",
        dry_run: bool = False,
    ) -> Json:
        """Make an object."""
        return await self.send(requests.creation(resource, obj, namespace, field_manager, dry_run))

    async def apply(
        self,
        obj: Json,
        *,
        field_manager: str,
        force: bool = True,
        subresource: str = "",
        resource: Resource | None = None,
        dry_run: bool = False,
        metadata_only: bool = False,
    ) -> Json:
        """Server-side apply: the fields given are ours, the others stay.

        Who needs only the metadata of the answer spares the API server the rest.
        """
        return await self.send(
            requests.application(
                obj,
                field_manager,
                force=force,
                subresource=subresource,
                resource=resource,
                dry_run=dry_run,
                metadata_only=metadata_only,
            )
        )

    async def patch(
        self,
        resource: Resource,
        name: str,
        namespace: str,
        body: object,
        *,
        subresource: str = "",
        field_manager: str = "",
        content: str = MERGE_PATCH,
    ) -> Json:
        """Change an object."""
        return await self.send(
            requests.change(
                resource,
                name,
                namespace,
                body,
                subresource=subresource,
                field_manager=field_manager,
                content=content,
            )
        )

    async def replace(
        self, resource: Resource, obj: Json, subresource: str = "", *, field_manager: str = ""
    ) -> Json:
        """Put an object in place of the one there."""
        return await self.send(requests.replacement(resource, obj, subresource, field_manager))

    async def delete(
        self,
        resource: Resource,
        name: str,
        namespace: str = "",
        *,
        propagation: str = "Background",
        uid: str = "",
        grace_s: int | None = None,
    ) -> Json:
        """Remove an object; with a uid only that one, a pod after that grace period."""
        return await self.send(
            requests.removal(resource, name, namespace, propagation, uid, grace_s)
        )

    async def serves(self, resource: Resource) -> bool:
        """Whether the API server knows the resource."""
        try:
            answer = await self.raw("GET", resource.group_path)
        except ObjectNotFound:
            return False
        return any(entry.get("name") == resource.plural for entry in answer["resources"])

    async def raw(
        self, method: str, path: str, body: object = None, *, content: str = JSON
    ) -> Json:
        """Any other request; `path` has its query."""
        text = None if body is None else orjson.dumps(body)
        return await self.send(
            Request(method, path, text, content if text else "", is_repeatable=method != "POST")
        )

    async def send(self, request: Request) -> Json:
        """Send a request, again where that is needed and safe; gives the JSON of the answer."""
        failures, was_renewed = 0, False
        while True:
            if self._throttle is not None:
                await self._throttle.wait()
            pause: float | None = None
            identity = await self._transport.identify()
            try:
                answer = await self._transport.exchange(request)
                if answer.status < 300:
                    return orjson.loads(answer.body) if answer.body else {}
                error = from_status(answer.status, answer.body)
                if answer.status == 401 and not was_renewed:
                    was_renewed = True
                    await self.connection.refresh(identity)
                    continue
                pause = retry_after(answer.retry_after, _LONGEST_RETRY_AFTER_S)
                is_passing = _is_passing(request, answer.status, pause)
            except BROKEN as broken:
                error = unreachable(self.connection.host, broken)
                is_passing = _may_repeat(request, broken)
            failures += 1
            if not is_passing or failures >= _ATTEMPTS:
                raise error
            await asyncio.sleep((pause or 0.0) + _BACKOFF.pause(failures, self.chance))

    async def watch(
        self,
        resource: Resource,
        namespace: str = "",
        *,
        resource_version: str,
        selection: Selection = EVERYTHING,
        timeout_seconds: int = _WATCH_S,
        silence_seconds: float | None = None,
        on_open: Callable[[], None] = lambda: None,
    ) -> AsyncGenerator[WatchEvent, None]:
        """Changes after a version, until the API server ends the stream; once, without retries.

        `on_open` is called when the API server has accepted. Raises WatchSilent if then nothing
        comes for `silence_seconds`, and Gone where the version is forgotten.
        Close the iterator (contextlib.aclosing) to end it early.
        """
        request = requests.changes(
            resource, namespace, selection, resource_version, timeout_seconds
        )
        timeout = aiohttp.ClientTimeout(sock_connect=CONNECT_S, sock_read=silence_seconds)
        splitter = LineSplitter()
        identity = await self._transport.identify()
        is_open = False
        try:
            async with await self._transport.open(request, timeout) as response:
                if response.status >= 300:
                    if response.status == 401:
                        await self.connection.refresh(identity)
                    raise from_status(response.status, await response.read())
                try:
                    is_open = True
                    on_open()
                    async for piece in response.content.iter_any():
                        for line in splitter.feed(piece):
                            event = orjson.loads(line)
                            if event["type"] == "ERROR":
                                status = event["object"]
                                raise from_status(status.get("code", 500), status)
                            yield WatchEvent(event["type"], event["object"])
                finally:
                    break_off(response)
        except BROKEN as broken:
            if is_open and isinstance(broken, TimeoutError):
                raise WatchSilent(f"the watch of {resource} is silent") from None
            raise unreachable(self.connection.host, broken) from None

    def stream(
        self, request: Request, silence_s: float | None = None
    ) -> AbstractAsyncContextManager[streams.Stream]:
        """An answer that is read while it comes, sent once."""
        return streams.opened(self._transport, request, silence_s)

    def channels(
        self, path: str, protocols: tuple[str, ...] = (channels.V5, channels.V4)
    ) -> AbstractAsyncContextManager[channels.Channels]:
        """A websocket with channels: exec and port-forward of a pod; `path` has its query."""
        return channels.opened(self._transport, path, protocols)


def _is_passing(request: Request, status: int, pause: float | None) -> bool:
    """Whether an answer may be another one soon."""
    if status in _NOT_EXECUTED and pause is not None:
        return True
    return request.is_repeatable and status in (429, 502, 503, 504)


def _may_repeat(request: Request, cause: Exception) -> bool:
    """Whether a request without an answer may be sent again."""
    if was_not_sent(cause):
        return True
    is_worth_it = not isinstance(cause, TimeoutError | NotSentError | aiohttp.ClientSSLError)
    return request.is_repeatable and is_worth_it
