"""The agents of jobs of this machine: start one, watch its journal, tell it what to do."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence

from trainway.backends.agents import agent_socket, journal
from trainway.backends.agents.agent_socket import (
    PATIENCE_S,
    STEP_S,
    AgentError,
    AgentLostError,
    Starter,
)
from trainway.backends.agents.jobdir import JobDir
from trainway.backends.base import Update
from trainway.json_types import Json

__all__ = ["AgentError", "AgentLostError", "Agents"]


class Agents:
    """Starts agents and speaks with them."""

    def __init__(self, starter: Starter | None = None) -> None:
        self._starter = starter or Starter()

    async def start(self, job: JobDir) -> None:
        """Start the job's agent unless it is there already; returns when it listens."""
        await self._run(job, [])

    async def recover(self, job: JobDir) -> None:
        """Start an agent in place of one that died."""
        await self._run(job, ["--recover"])

    async def cancel_lost(self, job: JobDir) -> None:
        """Kill what a dead agent left running, and end the job, without starting it again."""
        await self._run(job, ["--recover", "--cancel"])
        # Another agent may have been there first, for which this is news.
        with contextlib.suppress(AgentLostError):
            await self.ask(job, "cancel", grace=0)

    async def _run(self, job: JobDir, options: Sequence[str]) -> None:
        start = await self._starter.start([*options, str(job.path)])
        if start.status and not await self._is_under_way(job, recovers=bool(options)):
            raise start.error("the agent", job.agent_log)

    async def _is_under_way(self, job: JobDir, *, recovers: bool) -> bool:
        """Whether another agent has the job, or has had it; after a loss: has had it to its end."""
        if await agent_socket.is_under_way(job):
            return True
        has_run = journal.has_ended if recovers else journal.exists
        return await asyncio.to_thread(has_run, job.journal)

    async def wait_until_gone(self, job: JobDir) -> None:
        """Wait for the agent of a job that is over to end its process."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE_S):
                while job.is_locked():
                    await asyncio.sleep(STEP_S)

    async def is_alive(self, job: JobDir) -> bool:
        """Whether an agent listens."""
        return await agent_socket.is_alive(job.socket)

    def watch(self, job: JobDir, after: int) -> AsyncIterator[Update]:
        """All records after that number, until the last one or until the agent is gone."""
        return agent_socket.watch(job.socket, {}, job.journal, after)

    async def ask(self, job: JobDir, operation: str, **more: object) -> Json:
        """Have the agent do something and wait until it has."""
        return await agent_socket.ask(job.socket, {"op": operation, **more}, job.path.name)
