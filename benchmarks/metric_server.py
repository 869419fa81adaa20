"""A server whose jobs do nothing but report, on any database: URL, socket and number of jobs.

It is the real application with its engine; only the backend runs nothing. It reads the journals of
agents where there are any, as backends with agents do.
"""

import asyncio
import socket
import sys
from collections.abc import AsyncIterator
from pathlib import Path

from benchmarks.metric_agents import NAME
from trainway.backends.agents import agent_socket
from trainway.backends.base import BackendSettings, Handle, Update
from trainway.backends.file_store import FileStore
from trainway.backends.registry import Registry
from trainway.backends.testing import FakeBackend
from trainway.engine.database import open_database
from trainway.engine.jobs import Engine
from trainway.engine.store import Store
from trainway.engine.submission import Submission
from trainway.engine.testing import jobset
from trainway.server.app import create_app
from trainway.server.body_limit import BodyLimit
from trainway.server.service import ProcessInfo, Service
from trainway.server.serving import owner_server
from trainway.server.tokens import TokenFile
from trainway.server.web.web import Web


class Watching(FakeBackend):
    """Watches agents that listen on one socket, from the moment that they do."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder

    async def watch(self, handle: Handle, after: int) -> AsyncIterator[Update]:
        """What an agent writes."""
        path = self._folder / NAME
        while not path.exists():
            await asyncio.sleep(1)
        request = {"id": handle["id"]}
        async for update in agent_socket.watch(path, request, self._folder / "none", after):
            yield update
        await asyncio.sleep(3600)


async def serve(url: str, path: Path, jobs: int) -> None:
    """Submit the jobs, listen, and go on until the process is killed."""
    registry = Registry(BackendSettings(path.parent))
    registry.put(Watching(path.parent))
    engine = Engine(Store(open_database(url)), registry)
    await engine.start()
    for number in range(jobs):
        await engine.submit(Submission([jobset(f"job-{number}")]))
    info = ProcessInfo(0, str(path), "", "")
    token = TokenFile(path.parent / "token")
    service = Service(engine, info, FileStore(path.parent), token, Web(path.parent, token))
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(path))
    await owner_server(BodyLimit(create_app(service))).serve([listener])


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])))
