"""What is known of clusters: written first, and then changed in memory.

A wish of their owner that cannot be written is refused before anything is done. What the agents say
is theirs to keep: it is written as soon as that is possible.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, TypeAlias

from trainway.engine.background import Background
from trainway.engine.backoff import Backoff
from trainway.engine.cluster.agents import Agents, kept
from trainway.engine.cluster.name import unknown
from trainway.engine.cluster.record import ClusterRecord
from trainway.engine.costs.spent_job import SpentJob
from trainway.engine.ledger import Ledger
from trainway.engine.notify.outbox import NewNotice
from trainway.errors import DatabaseError

log = logging.getLogger(__name__)

Announcement: TypeAlias = Callable[[], Sequence[NewNotice]]
"""What is to be told, asked for in the moment in which it is written."""


class ClusterBook:
    """The records of all clusters, in memory, in the store, and for the backend of their jobs."""

    def __init__(
        self,
        ledger: Ledger,
        agents: Callable[[], Agents],
        worker_changed: Callable[[], object] = lambda: None,
    ) -> None:
        self.records: dict[str, ClusterRecord] = {}
        self._ledger = ledger
        self._store = ledger.store.clusters
        self._make_agents = agents
        self._worker_changed = worker_changed
        self._adding = asyncio.Lock()
        self._background = Background()
        ledger.repriced.append(self._reprice)

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

    async def _reprice(self) -> None:
        for name in list(self.records):
            await self.note(name)

    async def close(self) -> None:
        """Write nothing any more."""
        await self._background.close()

    async def add(self, record: ClusterRecord) -> bool:
        """Keep a new one; False if there is one of its name."""
        async with self._adding:
            if record.name in self.records:
                return False
            adding = self._ledger.call(self._add, record)
            await self._ledger.settled(adding, partial(self._has, record.name))
            self.records[record.name] = record
        return True

    async def change(self, name: str, **columns: object) -> None:
        """Write a change and make it; nothing happens to one that is gone."""
        # Shielded, since whoever waits may be cancelled, and what is written counts.
        await asyncio.shield(self._background.spawn(self._change(name, columns)))

    async def announce(self, name: str, tell: Announcement, **columns: object) -> None:
        """The same, with what is told of it."""
        await asyncio.shield(self._background.spawn(self._change(name, columns, tell)))

    async def _change(
        self, name: str, columns: Mapping[str, object], tell: Announcement = tuple
    ) -> None:
        if name not in self.records:
            return
        changed = self.records[name].changed(columns)
        columns = {**columns, **self._ledger.bills.columns(changed)}
        if not columns:
            return
        changed = self.records[name].changed(columns)
        writing = self._ledger.call(self._write, changed, columns, tell())
        await self._ledger.settled(writing, partial(self._is_written, changed, columns))
        if name in self.records:
            self.records[name] = self.records[name].changed(columns)
            if changed.worker_pool:
                self._worker_changed()

    async def note(self, name: str, **columns: object) -> ClusterRecord:
        """Write what has happened, now or as soon as it can be; the record as it is then."""
        record = self.records[name]
        try:
            await self.change(name, **columns)
        except DatabaseError as error:
            log.warning("cluster %s: what became of it is written later: %s", name, error)
            self._background.spawn(self._insist(partial(self.change, name, **columns)))
        return record.changed(columns)

    async def forget(self, name: str) -> None:
        """Remove a record, if it is there."""
        if name not in self.records:
            return
        spent = self._ledger.bills.spent(self.records[name])
        removing = self._ledger.call(self._remove, name, spent)
        await self._ledger.settled(removing, lambda: not self._has(name))
        gone = self.records.pop(name, None)
        if gone is not None and spent is not None:
            for hear in self._ledger.forgotten:
                hear(spent)
        if gone is not None and gone.worker_pool:
            self._worker_changed()

    async def forget_gone(self, name: str) -> None:
        """Remove the record of one that is gone already, now or as soon as it can be."""
        try:
            await self.forget(name)
        except DatabaseError as error:
            log.warning("cluster %s is forgotten later: %s", name, error)
            self._background.spawn(self._insist(partial(self.forget, name)))

    async def _insist(self, write: Callable[[], Coroutine[Any, Any, None]]) -> None:
        backoff = Backoff()
        while True:
            await backoff.wait()
            try:
                await write()
            except DatabaseError:
                continue
            return

    def _has(self, name: str) -> bool:
        return any(record.name == name for record in self._store.all())

    def _is_written(self, changed: ClusterRecord, columns: Mapping[str, object]) -> bool:
        found = [record for record in self._store.all() if record.name == changed.name]
        return bool(found) and all(
            getattr(found[0], name) == getattr(changed, name) for name in columns
        )

    async def next_number(self, name: str) -> int:
        """The number of the next job of a cluster."""
        return await self._ledger.call(self._store.next_number, name)

    def _add(self, record: ClusterRecord) -> None:
        self.agents.keep(kept(record))
        try:
            self._store.add(record)
        except BaseException:
            if not self._has(record.name):
                self.agents.forget(record.name)
            raise

    def _write(
        self,
        record: ClusterRecord,
        columns: Mapping[str, object],
        notices: Sequence[NewNotice],
    ) -> None:
        self._store.update(record.name, columns, notices)
        if "state" in columns:
            try:
                self.agents.keep(kept(record))
            except OSError as error:
                log.warning("cluster %s: its state is not kept: %s", record.name, error)

    def _remove(self, name: str, spent: SpentJob | None) -> None:
        self._store.remove(name, spent)
        self.agents.forget(name)
