"""Requests to the API server, with plain dicts on both sides.

One aiohttp session with connections that stay open; no model classes, for a controller spends its
time here. A request is tried again after a pause where that is safe: always if it was not
executed, and after a broken connection only if doing it twice is as good as once.
"""

import asyncio
import random
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final, Self

import aiohttp
import orjson
from multidict import CIMultiDict
from yarl import URL

from trainway.kube import requests
from trainway.kube.backoff import Backoff, retry_after
from trainway.kube.connection import Connection, Headers
from trainway.kube.errors import ObjectNotFound, ServerUnavailable, from_status
from trainway.kube.lines import LineSplitter
from trainway.kube.requests import JSON_PATCH, MERGE_PATCH, STRATEGIC, Request, Selection
from trainway.kube.resources import Json, Resource
from trainway.kube.throttle import Throttle

__all__ = ["JSON_PATCH", "MERGE_PATCH", "STRATEGIC", "Client", "Listing", "WatchEvent"]

PAGE: Final = 500
_TIMEOUT_S: Final = 60.0
_CONNECT_S: Final = 10.0
_IDLE_S: Final = 30.0
"""An idle connection is closed before a load balancer may do so in silence."""
_ATTEMPTS: Final = 6
_BACKOFF: Final = Backoff(first=0.1, longest=3.0)
_LONGEST_RETRY_AFTER_S: Final = 10.0
_MOST_CONNECTIONS: Final = 128
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
        self.requests = 0
        """Sent so far, also again."""
        self._throttle = Throttle(qps, burst or qps) if qps else None
        self._timeout = aiohttp.ClientTimeout(total=timeout, sock_connect=_CONNECT_S)
        self.chance = chance
        self._user_agent = user_agent
        self._base = connection.host
        self._opened: aiohttp.ClientSession | None = None
        self._common: CIMultiDict[str] = CIMultiDict()
        self._common_of: Headers | None = None

    async def __aenter__(self) -> Self:
        self._opened = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=_MOST_CONNECTIONS, keepalive_timeout=_IDLE_S, ttl_dns_cache=60
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=self._timeout,
            auto_decompress=False,
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        session, self._opened = self._opened, None
        if session is not None:
            await session.close()

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
        self, resource: Resource, namespace: str = "", selection: Selection = requests.EVERYTHING
    ) -> AsyncGenerator[Listing, None]:
        """The same page by page, so that not all need to be in memory."""
        head = {"apiVersion": resource.api_version, "kind": resource.kind}
        following = ""
        while True:
            answer = await self.send(requests.page(resource, namespace, selection, PAGE, following))
            metadata = answer["metadata"]
            items = [head | item | head for item in answer.get("items") or ()]
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
    ) -> Json:
        """Server-side apply: the fields given are ours, the others stay."""
        return await self.send(
            requests.application(
                obj,
                field_manager,
                force=force,
                subresource=subresource,
                resource=resource,
                dry_run=dry_run,
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
    ) -> Json:
        """Remove an object; with a uid only that one."""
        return await self.send(requests.removal(resource, name, namespace, propagation, uid))

    async def serves(self, resource: Resource) -> bool:
        """Whether the API server knows the resource."""
        try:
            answer = await self.raw("GET", resource.group_path)
        except ObjectNotFound:
            return False
        return any(entry.get("name") == resource.plural for entry in answer["resources"])

    async def raw(
        self, method: str, path: str, body: object = None, *, content: str = requests.JSON
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
            identity = await self._identify()
            try:
                async with await self._open(request, self._timeout) as response:
                    body = await response.read()
                if response.status < 300:
                    return orjson.loads(body) if body else {}
                error = from_status(response.status, body)
                if response.status == 401 and not was_renewed:
                    was_renewed = True
                    await self.connection.refresh(identity)
                    continue
                pause = retry_after(response.headers.get("Retry-After"), _LONGEST_RETRY_AFTER_S)
                is_passing = _is_passing(request, response.status, pause)
            except (aiohttp.ClientError, TimeoutError, OSError, orjson.JSONDecodeError) as broken:
                error = unreachable(self._base, broken)
                is_passing = _may_repeat(request, broken)
            failures += 1
            if not is_passing or failures >= _ATTEMPTS:
                raise error
            await asyncio.sleep(max(pause or 0.0, _BACKOFF.pause(failures, self.chance)))

    async def watch(
        self,
        resource: Resource,
        namespace: str = "",
        *,
        resource_version: str,
        selection: Selection = requests.EVERYTHING,
        timeout_seconds: int = _WATCH_S,
        silence_seconds: float | None = None,
    ) -> AsyncGenerator[WatchEvent, None]:
        """Changes after a version, until the API server ends the stream; once, without retries.

        Raises ServerUnavailable if nothing comes for `silence_seconds`, and Gone where the
        version is forgotten. Close the iterator (contextlib.aclosing) to end it early.
        """
        request = requests.changes(
            resource, namespace, selection, resource_version, timeout_seconds
        )
        timeout = aiohttp.ClientTimeout(sock_connect=_CONNECT_S, sock_read=silence_seconds)
        splitter = LineSplitter()
        identity = await self._identify()
        try:
            async with await self._open(request, timeout) as response:
                if response.status >= 300:
                    if response.status == 401:
                        await self.connection.refresh(identity)
                    raise from_status(response.status, await response.read())
                try:
                    async for piece in response.content.iter_any():
                        for line in splitter.feed(piece):
                            event = orjson.loads(line)
                            if event["type"] == "ERROR":
                                status = event["object"]
                                raise from_status(status.get("code", 500), status)
                            yield WatchEvent(event["type"], event["object"])
                finally:
                    _break_off(response)
        except (aiohttp.ClientError, TimeoutError, OSError, orjson.JSONDecodeError) as broken:
            raise unreachable(self._base, broken) from None

    async def _identify(self) -> Headers:
        """Make sure of valid credentials; gives the headers that go out with them."""
        connection = self.connection
        if not connection.is_fresh:
            await connection.refresh()
        headers = connection.headers
        if headers is not self._common_of:
            self._common_of = headers
            own = (("User-Agent", self._user_agent), ("Accept-Encoding", "identity"))
            self._common = CIMultiDict([*own, *headers])
        return headers

    async def _open(
        self, request: Request, timeout: aiohttp.ClientTimeout
    ) -> aiohttp.ClientResponse:
        session, connection = self._opened, self.connection
        if session is None:
            raise RuntimeError("the client is not open")
        headers = self._common.copy()
        headers["Accept"] = request.accept
        if request.body is not None:
            headers["Content-Type"] = request.content
        self.requests += 1
        options: dict[str, Any] = {}
        if connection.server_name:
            options["server_hostname"] = connection.server_name
        return await session.request(
            request.method,
            URL(self._base + request.path, encoded=True),
            data=request.body,
            headers=headers,
            allow_redirects=False,
            ssl=connection.ssl_context or True,
            proxy=connection.proxy,
            timeout=timeout,
            **options,
        )


def unreachable(host: str, cause: Exception) -> ServerUnavailable:
    """The error of a request that got no answer, or half of one."""
    if isinstance(cause, aiohttp.ClientConnectorCertificateError):
        return ServerUnavailable(
            f"{host} shows a certificate we do not trust: {cause.certificate_error}",
            hint="is the certificate authority of the kubeconfig right?",
        )
    if isinstance(cause, orjson.JSONDecodeError):
        return ServerUnavailable(f"{host} does not answer in JSON: {cause}")
    if isinstance(cause, TimeoutError):
        return ServerUnavailable(f"{host} did not answer in time")
    text = getattr(cause, "strerror", None) or str(cause) or type(cause).__name__
    return ServerUnavailable(f"no answer from {host}: {' '.join(str(text).split())}")


def _break_off(response: aiohttp.ClientResponse) -> None:
    """End a stream that has not ended: a polite goodbye would outlive the event loop."""
    if response.connection is not None and response.connection.transport is not None:
        response.connection.transport.abort()


def _is_passing(request: Request, status: int, pause: float | None) -> bool:
    """Whether an answer may be another one soon."""
    if status in _NOT_EXECUTED and pause is not None:
        return True
    return request.is_repeatable and status in (429, 502, 503, 504)


def _may_repeat(request: Request, cause: Exception) -> bool:
    """Whether a request without an answer may be sent again."""
    if isinstance(cause, aiohttp.ClientSSLError):
        return False
    if isinstance(cause, aiohttp.ClientConnectorError):
        return True  # it was never sent
    return request.is_repeatable and not isinstance(cause, TimeoutError)
