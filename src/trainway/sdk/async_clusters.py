"""Clusters for programs that run an event loop; threads do the waiting."""

import asyncio
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from trainway.sdk.async_job import AsyncJob
from trainway.sdk.clusters import Cluster


class AsyncCluster:
    """A cluster whose methods are awaited; they are those of `Cluster`."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        """The same cluster for code that may block."""

    @property
    def name(self) -> str:
        """Its name."""
        return self.cluster.name

    @property
    def infra(self) -> str:
        """Where it is: `local`, `ssh/POOL` or `slurm/CLUSTER`."""
        return self.cluster.infra

    async def status(self) -> str:
        """INIT, UP, STOPPED or AUTOSTOPPING, as it is now."""
        return await asyncio.to_thread(lambda: self.cluster.status)

    async def exec(self, target: str | Path | Mapping[str, Any], **options: Any) -> AsyncJob:
        """Put a job into its queue; see `Cluster.exec`."""
        return AsyncJob(await asyncio.to_thread(partial(self.cluster.exec, target, **options)))

    async def queue(self) -> list[AsyncJob]:
        """Its jobs, newest first."""
        return [AsyncJob(job) for job in await asyncio.to_thread(self.cluster.queue)]

    async def job(self, number: int) -> AsyncJob | None:
        """The job of that number."""
        found = await asyncio.to_thread(self.cluster.job, number)
        return None if found is None else AsyncJob(found)

    async def autostop(self, idle_minutes: int | None, *, down: bool = False) -> None:
        """Set after how long without a job it stops or goes down; None: never."""
        await asyncio.to_thread(self.cluster.autostop, idle_minutes, down=down)

    async def stop(self) -> None:
        """End its jobs and give back its nodes; it can be started again."""
        await asyncio.to_thread(self.cluster.stop)

    async def start(self) -> None:
        """Have its nodes again."""
        await asyncio.to_thread(self.cluster.start)

    async def down(self, *, purge: bool = False) -> None:
        """End its jobs, give back its nodes and forget it."""
        await asyncio.to_thread(self.cluster.down, purge=purge)
