"""What the routes share: the engine, what is known of the process, and when it should end."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from starlette.types import ASGIApp, Receive, Scope, Send

from trainway.backends.file_store import FileStore
from trainway.engine.jobs import Engine
from trainway.server.request_statistics import RequestStatistics
from trainway.server.tokens import TokenFile
from trainway.server.web.web import Web


@dataclass(frozen=True)
class ProcessInfo:
    """The server's process, as `server.json` has it."""

    pid: int
    socket: str
    version: str
    started: str


@dataclass
class Activity:
    """Who uses the server, and since when nobody does."""

    clock: Callable[[], float] = time.monotonic
    open: int = 0
    last: float = field(init=False)

    def __post_init__(self) -> None:
        self.last = self.clock()

    def quiet_seconds(self) -> float:
        """For how long there was no request."""
        return 0.0 if self.open else self.clock() - self.last

    def counted(self, app: ASGIApp) -> ASGIApp:
        """The app, with its requests counted."""

        async def counting(scope: Scope, receive: Receive, send: Send) -> None:
            self.open += 1
            try:
                await app(scope, receive, send)
            finally:
                self.open -= 1
                self.last = self.clock()

        return counting


@dataclass
class Service:
    """One server."""

    engine: Engine
    info: ProcessInfo
    files: FileStore
    token: TokenFile
    web: Web
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    activity: Activity = field(default_factory=Activity)
    requests: RequestStatistics = field(default_factory=RequestStatistics)
    is_mirroring: Callable[[], bool] = lambda: False
    """Whether output of jobs is still on its way to a bucket."""

    async def wait_until_idle(self, limit_s: float) -> None:
        """Return when there was no request for that long and nothing is going on."""
        while True:
            is_idle = self.engine.is_idle and self.web.is_idle and not self.is_mirroring()
            quiet = self.activity.quiet_seconds() if is_idle else 0.0
            if quiet >= limit_s:
                return
            await asyncio.sleep(max(limit_s - quiet, 0.05))
