"""Has the agents know what the server knows of clusters, however often that must be tried.

A cluster on rented machines gets these first.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from trainway.engine.backoff import Backoff
from trainway.engine.cluster.agents import columns_of, placement, told
from trainway.engine.cluster.book import ClusterBook
from trainway.engine.cluster.context import ClusterContext
from trainway.engine.cluster.record import ClusterRecord, State
from trainway.engine.cluster.rented import RentedClusters, is_rented
from trainway.errors import DatabaseError, TrainwayError, UnavailableError

log = logging.getLogger(__name__)


class Settling:
    """Settles clusters, each by one task at a time."""

    def __init__(self, around: ClusterContext, book: ClusterBook, rented: RentedClusters) -> None:
        self._around = around
        self._book = book
        self._rented = rented
        self._tasks: set[asyncio.Task[None]] = set()
        self._locks: dict[str, asyncio.Lock] = {}

    def lock(self, name: str) -> asyncio.Lock:
        """Whoever has it is the only one who tells the agent about a cluster."""
        return self._locks.setdefault(name, asyncio.Lock())

    async def close(self) -> None:
        """Leave them as they are."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def soon(self, name: str) -> None:
        """Settle one in the background."""
        self.spawn(self._keep_settling, name)

    def spawn(self, action: Callable[[str], Awaitable[None]], name: str) -> None:
        """Do something with one in the background, until the server closes."""
        task = asyncio.ensure_future(action(name))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def settle(self, name: str) -> None:
        """Have the agent know what we know."""
        async with self.lock(name):
            record = self._book.records.get(name)
            if record is None:
                return
            if is_rented(record.infra) and not record.held and record.state == State.STOPPED:
                return  # nothing was to be had, and nobody has asked again
            if is_rented(record.infra) and record.state == State.INIT:
                record = await self._rented.bring(record)
            await self._tell(record)

    async def _tell(self, record: ClusterRecord) -> None:
        name, agents = record.name, self._book.agents
        if not record.held:
            found = (await agents.hold(record.pool, record.infra, told(record)))["cluster"]
        else:
            items = await agents.look(record.pool)
            found = next((item for item in items if item["id"] == record.id), None)
        if found is None:
            return  # whoever follows the agent forgets it
        columns = columns_of(record, found)
        if columns["state"] == State.STOPPED and record.state in (State.UP, State.AUTOSTOPPING):
            await self._rented.released(record.changed(columns))  # without a server
        if columns["state"] != State.INIT:
            columns.setdefault("message", "")
        if is_rented(record.infra) and record.state == State.INIT:
            columns |= {"state": State.INIT, "devices": record.devices}  # it has machines again
        await self._book.change(name, held=True, **columns)
        record = self._book.records.get(name, record)
        if record.gets_nodes and record.devices and record.state == State.INIT:
            nodes = placement(record)
            answer = await agents.ask(record.pool, "start", name, placement=nodes)
            await self._book.change(name, **columns_of(record, answer["cluster"]))

    async def _keep_settling(self, name: str) -> None:
        """Try until the agent is there; what it refuses is done by whoever starts next."""
        failures, backoff = 0, Backoff()
        while name in self._book.records:
            try:
                await self.settle(name)
                if failures:
                    await self._book.change(name, message="")
            except DatabaseError as error:
                log.warning("cluster %s cannot be settled yet: %s", name, error)
                await backoff.wait()
            except UnavailableError as error:
                failures += 1
                pause = self._around.starts.pause_s(failures)
                message = f"{error.message}; trying again in {pause:g} s"
                log.info("cluster %s: %s", name, message)
                await self._book.note(name, message=message)
                await asyncio.sleep(pause)
            except TrainwayError as error:
                log.info("cluster %s cannot be settled yet: %s", name, error)
                return
            else:
                self._around.schedule()
                return
