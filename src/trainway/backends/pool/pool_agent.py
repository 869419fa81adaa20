"""The agent of a pool, as the server sees it: it is started when it is needed, and then asked.

It ends by itself when it has nothing to do, so every question may be one too late; the next agent
goes on from what the last one wrote down, and all that we ask may be asked twice.
"""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Final

from trainway.agent.base.directory import Directory
from trainway.agent.pool.state import drained_hosts
from trainway.backends.agents import agent_socket
from trainway.backends.agents.agent_socket import AgentLostError, Starter
from trainway.backends.agents.jobdir import PRIVATE_DIR, AgentDir
from trainway.backends.base import Update
from trainway.backends.login.login_environment import login_environment
from trainway.errors import UnavailableError
from trainway.json_types import Json

_TRIES: Final = 3
_STARTER: Final = Starter()


class PoolAgent:
    """One pool agent, by its directory: `pools/NAME` of the home directory."""

    def __init__(self, directory: Path, starter: Starter = _STARTER) -> None:
        self.directory = AgentDir(directory)
        self._starter = starter
        self._starting = asyncio.Lock()
        self._told: Sequence[Json] = ()
        """The hosts that it was told of last."""

    @property
    def name(self) -> str:
        """The pool's name."""
        return self.directory.path.name

    async def configure(self, hosts: Sequence[Json]) -> None:
        """Tell the agent which hosts there are, unless it knows; none: leave them as they are."""
        if hosts and list(hosts) != list(self._told):
            await self.ask("configure", hosts=list(hosts))
            self._told = list(hosts)

    def drained(self) -> dict[str, Json]:
        """The hosts that are set aside, why and by whom, as the last agent has left it."""
        try:
            directory = Directory(str(self.directory.path))
        except OSError:
            return {}
        try:
            return drained_hosts(directory)
        finally:
            directory.close()

    async def ask(self, operation: str, **more: object) -> Json:
        """Have the agent do something and wait until it has; it is started if it does not run."""
        for _ in range(_TRIES):
            with contextlib.suppress(AgentLostError):
                return await self._ask(operation, **more)
            await self._start()
        raise UnavailableError(
            f"the agent of pool {self.name} does not answer",
            hint=f"{self.directory.agent_log} may say why",
        )

    async def ask_running(self, operation: str, **more: object) -> Json | None:
        """The answer of an agent that runs; None: there is none."""
        try:
            return await self._ask(operation, **more)
        except AgentLostError:
            return None

    def watch(self, job_id: str, journal: Path, after: int) -> AsyncIterator[Update]:
        """The records of a job after that number, until the last or until the agent is gone."""
        return agent_socket.watch(self.directory.socket, {"id": job_id}, journal, after)

    async def stream(self, operation: str, **more: object) -> AsyncIterator[Json]:
        """The objects of an answer that goes on for as long as the agent runs."""
        request: Json = {"op": operation, **more}
        async for lines in agent_socket.stream(self.directory.socket, request):
            for line in lines:
                yield json.loads(line)

    async def _ask(self, operation: str, **more: object) -> Json:
        request: Json = {"op": operation, **more}
        return await agent_socket.ask(self.directory.socket, request, f"pool {self.name}")

    async def _start(self) -> None:
        """Start the agent, unless somebody else does at the same time."""
        async with self._starting:
            if await agent_socket.is_alive(self.directory.socket):
                return
            path = self.directory.path
            await asyncio.to_thread(path.mkdir, PRIVATE_DIR, parents=True, exist_ok=True)
            environ = login_environment(path.parent.parent)
            start = await self._starter.start(["pool", str(path)], environ)
            if start.status and not await agent_socket.is_under_way(self.directory):
                raise start.error(f"the agent of pool {self.name}", self.directory.agent_log)
