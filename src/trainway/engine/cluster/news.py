"""What the agents say of their clusters, which change by themselves: they stop, and they go."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from trainway.engine.cluster.agents import columns_of
from trainway.engine.cluster.book import ClusterBook
from trainway.engine.cluster.record import ClusterRecord, State
from trainway.errors import TrainwayError
from trainway.json_types import Json

log = logging.getLogger(__name__)

_FIRST_PAUSE_S: Final = 0.1
_LONGEST_PAUSE_S: Final = 5.0
_PATIENCE_S: Final = 2.0
"""How long to wait for an agent that may have news."""


class ClusterNews:
    """Listens to every agent that keeps a cluster."""

    def __init__(
        self,
        book: ClusterBook,
        on_freed: Callable[[], object],
        on_released: Callable[[ClusterRecord], Awaitable[None]],
        on_nodes: Callable[[ClusterRecord, Sequence[Json]], Awaitable[None]],
    ) -> None:
        self._book = book
        self._on_freed = on_freed
        """Called when a cluster has let go of something."""
        self._on_released = on_released
        """Awaited when a cluster has stopped or is gone, before that is written."""
        self._on_nodes = on_nodes
        """Awaited with what an agent says of the nodes of a cluster."""
        self._listeners: dict[str, asyncio.Task[None]] = {}
        self._heard: dict[str, asyncio.Event] = {}
        """For each agent whether it was heard since this server started."""

    def listen(self) -> None:
        """Listen also to agents that are new."""
        for pool in {record.pool for record in self._book.records.values()}:
            if pool not in self._listeners or self._listeners[pool].done():
                self._listeners[pool] = asyncio.create_task(self._follow(pool))

    async def close(self) -> None:
        """Listen no more."""
        for task in self._listeners.values():
            task.cancel()
        await asyncio.gather(*self._listeners.values(), return_exceptions=True)

    async def hear(self) -> None:
        """Wait until the agents have said what became of clusters while no server ran."""
        records = self._book.records.values()
        pools = {record.pool for record in records if record.state != State.STOPPED}
        heard = [self._event(pool).wait() for pool in pools]
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE_S):
                await asyncio.gather(*heard)

    async def refresh(self) -> None:
        """Ask all of them now."""
        for pool in {record.pool for record in self._book.records.values()}:
            await self._note(pool, await self._book.agents.look(pool))

    async def _follow(self, pool: str) -> None:
        """Hear what an agent says, for as long as it has clusters."""
        pause, agents = _FIRST_PAUSE_S, self._book.agents
        while records := [item for item in self._book.records.values() if item.pool == pool]:
            try:
                if any(record.held and record.state != State.STOPPED for record in records):
                    await self._note(pool, await agents.look(pool))
                async for found in agents.watch(pool):
                    await self._note(pool, found)
                    pause = _FIRST_PAUSE_S
            except TrainwayError as error:
                log.info("clusters of pool %s: %s", pool, error)
            except Exception:
                log.exception("clusters of pool %s", pool)
            await asyncio.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE_S)

    async def _note(self, pool: str, found: list[Json]) -> None:
        """Take in what an agent says."""
        by_id = {str(item["id"]): item for item in found}
        is_freed = False
        records = self._book.records.values()
        for record in [item for item in records if item.pool == pool and item.held]:
            item = by_id.get(record.id)
            if item is None:
                log.info("cluster %s is gone", record.name)
                await self._on_released(record)
                await self._book.forget(record.name)
                is_freed = True
                continue
            await self._on_nodes(record, item.get("nodes") or [])
            columns = columns_of(record, item)
            if any(getattr(record, key) != value for key, value in columns.items()):
                is_stopped = columns.get("state") == State.STOPPED
                if is_stopped and record.state != State.STOPPED:
                    await self._on_released(record.changed(columns))
                is_freed |= is_stopped
                await self._book.change(record.name, **columns)
        self._event(pool).set()
        if is_freed:
            self._on_freed()

    def _event(self, pool: str) -> asyncio.Event:
        return self._heard.setdefault(pool, asyncio.Event())
