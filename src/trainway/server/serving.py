"""Runs the engine and the API until someone stops the server or nobody needs it any more."""

import asyncio
import contextlib
import logging
import signal
import socket
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import uvicorn
from starlette.types import ASGIApp

from trainway import __version__
from trainway.engine.checkpoint.mirrors import Mirrors
from trainway.engine.database import BUSY_S
from trainway.engine.jobs import Engine
from trainway.engine.nodes.watch import NodeWatch
from trainway.engine.stacks.hang_watch import HangWatch
from trainway.engine.storage.removal import BucketRemoval
from trainway.server import collector
from trainway.server.access import TokenAccess
from trainway.server.app import create_app
from trainway.server.body_limit import BodyLimit
from trainway.server.connection import BACKLOG, LARGEST_HEAD, TcpConnection
from trainway.server.opening import started_engine
from trainway.server.process import ServerHome
from trainway.server.service import ProcessInfo, Service
from trainway.server.tokens import TokenFile
from trainway.server.web.access import BrowserAccess
from trainway.server.web.web import Web

log = logging.getLogger(__name__)

_GRACE_S: Final = 3
_LINGER_S: Final = 0.1
_SWITCH_S: Final = 0.001
"""How long a request may wait for the thread of the store, each time that it asks for Python's
lock: a fifth of what is usual, since one request asks for it several times."""


@dataclass(frozen=True)
class Settings:
    """How to serve."""

    started: str
    pid: int
    token: TokenFile
    """The token that everybody who comes over TCP has to show."""
    idle_s: float | None = 60.0
    """After so long with nothing to do the server ends; None means that it stays for ever."""
    busy_s: float = BUSY_S
    """How long to wait for another program that writes to the database."""


@dataclass(frozen=True)
class Sockets:
    """Where the server listens. What a request may do is decided by the socket it came in on."""

    owner: socket.socket
    """The listener of the unix socket, which is the owner's."""
    tcp: socket.socket | None = None


class _Uvicorn(uvicorn.Server):
    """Leaves the signals to us."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def owner_server(app: ASGIApp) -> uvicorn.Server:
    """Serves the unix socket, which only the owner can connect to."""
    return _server(app, http="h11")


def tcp_server(app: ASGIApp, web: Web, hosts: frozenset[str] = frozenset()) -> uvicorn.Server:
    """Serves a TCP socket, to which anybody can connect; `hosts`: what the server is called."""
    access = BrowserAccess(app, TokenAccess(app, web.token), web.sessions, hosts)
    return _server(access, http=TcpConnection, backlog=BACKLOG)


def _server(app: ASGIApp, **options: Any) -> uvicorn.Server:
    config = uvicorn.Config(
        app,
        ws="none",
        loop="asyncio",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        h11_max_incomplete_event_size=LARGEST_HEAD,
        timeout_graceful_shutdown=_GRACE_S,
        **options,
    )
    return _Uvicorn(config)


async def serve(home: ServerHome, sockets: Sockets, settings: Settings) -> None:
    """Serve until it is time to stop."""
    engine = await started_engine(home, settings.busy_s)
    info = ProcessInfo(settings.pid, str(home.socket_path), __version__, settings.started)
    web = Web(home.path, settings.token)
    service = Service(engine, info, engine.registry.files, settings.token, web)
    app = service.activity.counted(service.requests.counted(BodyLimit(create_app(service))))
    servers = {owner_server(app): sockets.owner}
    if sockets.tcp is not None:
        servers[tcp_server(app, web)] = sockets.tcp
    web.listener.make = partial(tcp_server, app, web)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, service.stopping.set)
    loop.add_signal_handler(signal.SIGHUP, lambda: None)
    collector.settle()
    sys.setswitchinterval(_SWITCH_S)
    background = [
        asyncio.create_task(_stop_when_asked(home, service, servers)),
        asyncio.create_task(_warm_up(engine)),
        asyncio.create_task(HangWatch(engine.stacks).run()),
    ]
    mirrors = Mirrors(engine.stacks.live, engine.reading, home.path / "jobs")
    service.is_mirroring = lambda: not mirrors.is_idle
    engine.reading.tell(mirrors)
    background.append(asyncio.create_task(mirrors.run()))
    nodes = NodeWatch(engine.registry, engine.reading)
    engine.reading.tell(nodes)
    buckets = BucketRemoval(engine.storage, engine.reading)
    engine.reading.tell(buckets)
    buckets.background.spawn(buckets.look())
    if settings.idle_s is not None:
        background.append(asyncio.create_task(_stop_when_idle(service, settings.idle_s)))
    if web.sessions.last_port:
        await web.listener.reopen(web.sessions.last_port)
    try:
        async with asyncio.TaskGroup() as group:
            for server, listener in servers.items():
                group.create_task(server.serve([listener]))
    finally:
        for task in background:
            task.cancel()
        await web.listener.close()
        await nodes.background.close()
        await buckets.background.close()
        await engine.close()


async def _stop_when_asked(
    home: ServerHome, service: Service, servers: Iterable[uvicorn.Server]
) -> None:
    await service.stopping.wait()
    log.info("stopping")
    # Nobody finds us from here on, but those who just did are still answered.
    home.withdraw()
    await asyncio.sleep(_LINGER_S)
    service.web.listener.stop()
    for server in servers:
        server.should_exit = True


async def _stop_when_idle(service: Service, idle_s: float) -> None:
    await service.wait_until_idle(idle_s)
    log.info("the server ends, because nobody uses it")
    service.stopping.set()


async def _warm_up(engine: Engine) -> None:
    """Do what can wait until the server answers."""
    try:
        await asyncio.to_thread(engine.warm_up)
    except Exception:
        log.exception("warming up failed")
