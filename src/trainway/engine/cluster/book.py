"""What is known of clusters: changed in memory at once, and written behind."""

import asyncio
from collections.abc import Callable, Mapping
from functools import cached_property

from trainway.engine.cluster.agents import Agents, kept
from trainway.engine.cluster.name import unknown
from trainway.engine.cluster.record import ClusterRecord
from trainway.engine.ledger import Ledger


class ClusterBook:
    """The records of all clusters, in memory, in the store, and for the backend of their jobs."""

    def __init__(self, ledger: Ledger, agents: Callable[[], Agents]) -> None:
        self.records: dict[str, ClusterRecord] = {}
        self._ledger = ledger
        self._store = ledger.store.clusters
        self._make_agents = agents

    @cached_property
    def agents(self) -> Agents:
        """Made when there is a cluster: a server without any starts faster."""
        return self._make_agents()

    async def load(self) -> None:
        """Take up what an earlier server knew."""
        self.records = {item.name: item for item in await self._ledger.call(self._store.all)}

    def record(self, name: str) -> ClusterRecord:
        """One of them."""
        found = self.records.get(name)
        if found is None:
            raise unknown(name, self.records)
        return found

    async def add(self, record: ClusterRecord) -> bool:
        """Keep a new one; False if there is one of its name."""
        if self.records.setdefault(record.name, record) is not record:
            return False
        await self._ledger.call(self._add, record)
        return True

    def change(self, name: str, **columns: object) -> "asyncio.Future[None]":
        """Change a record now and write it behind; nothing happens to one that is gone."""
        if name not in self.records:
            gone: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            gone.set_result(None)
            return gone
        record = self.records[name] = self.records[name].changed(columns)
        # Shielded, since whoever waits may be cancelled, and what happened has happened.
        return asyncio.shield(self._ledger.call(self._write, record, columns))

    async def forget(self, name: str) -> None:
        """Remove a record, if it is there."""
        if self.records.pop(name, None) is not None:
            await self._ledger.call(self._remove, name)

    async def next_number(self, name: str) -> int:
        """The number of the next job of a cluster."""
        return await self._ledger.call(self._store.next_number, name)

    def _add(self, record: ClusterRecord) -> None:
        self.agents.keep(kept(record))
        self._store.add(record)

    def _write(self, record: ClusterRecord, columns: Mapping[str, object]) -> None:
        self._store.update(record.name, columns)
        if "state" in columns:
            self.agents.keep(kept(record))

    def _remove(self, name: str) -> None:
        self._store.remove(name)
        self.agents.forget(name)
