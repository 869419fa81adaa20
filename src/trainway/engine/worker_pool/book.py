"""What is known of worker pools: written first, and then changed in memory.

Where it is not known whether something was written, all is read again before anything is decided.
"""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from trainway.backends.pool.kept import unknown_pool
from trainway.engine.ledger import Ledger
from trainway.engine.worker_pool.record import WorkerPoolRecord, WorkerRecord
from trainway.engine.worker_pool.state import WorkerState
from trainway.errors import DatabaseError


class WorkerPoolBook:
    """The records of all worker pools and of their workers."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._store = ledger.store.worker_pools
        self.pools: dict[str, WorkerPoolRecord] = {}
        self._workers: dict[str, WorkerRecord] = {}
        """By id."""
        self._pen = asyncio.Lock()
        self._is_doubtful = True

    async def settle(self) -> None:
        """Read all again if there is any doubt about it, as there is at first."""
        async with self._pen:
            if self._is_doubtful:
                pools, workers = await self._ledger.call(self._store.all)
                self.pools = {pool.name: pool for pool in pools}
                self._workers = {worker.id: worker for worker in workers}
                self._is_doubtful = False

    def pool(self, name: str) -> WorkerPoolRecord:
        """One of them."""
        found = self.pools.get(name)
        if found is None:
            raise unknown_pool(name, self.pools)
        return found

    def workers(self, pool: str) -> list[WorkerRecord]:
        """The workers of a pool, oldest first."""
        return [worker for worker in self._workers.values() if worker.pool == pool]

    def worker(self, worker_id: str) -> WorkerRecord | None:
        """One of them, if it is there."""
        return self._workers.get(worker_id)

    async def put(self, pool: WorkerPoolRecord, submission: str) -> None:
        """Keep a pool, new or changed."""
        async with self._pen:
            try:
                writing = self._ledger.call(self._store.put, pool, submission)
                await self._ledger.settled(writing, partial(self._has, pool))
            except DatabaseError:
                self._is_doubtful = True
                raise
            self.pools[pool.name] = pool

    def _has(self, pool: WorkerPoolRecord) -> bool:
        return pool in self._store.all()[0]

    async def submission(self, name: str) -> str:
        """What sets up a worker of a pool."""
        return await self._ledger.call(self._store.submission, name)

    async def add(self, pool: WorkerPoolRecord, workers: list[WorkerRecord]) -> None:
        """Keep new workers, and the last number that was given to one."""
        async with self._pen:
            columns = {"last_number": pool.last_number}
            await self._write(self._store.change, pool.name, columns, workers)
            self._changed(pool.name, last_number=pool.last_number)
            self._workers |= {worker.id: worker for worker in workers}

    async def step(self, worker_id: str, state: WorkerState, message: str = "") -> None:
        """Bring a worker to its next state; one that could not be made counts."""
        async with self._pen:
            worker = self._workers.get(worker_id)
            if worker is None:
                return
            after = worker.followed_by(state, message)
            pool, columns = self.pools.get(worker.pool), {}
            if pool is not None and state is WorkerState.FAILED:
                columns = {"failures": pool.failures + 1}
            elif pool is not None and state is WorkerState.READY and pool.failures:
                columns = {"failures": 0}
            await self._write(self._store.change, worker.pool, columns, (), [after])
            self._changed(worker.pool, **columns)
            self._workers[worker_id] = after

    async def set_up_by(self, worker_id: str, job: str) -> None:
        """Note the job that sets a worker up."""
        async with self._pen:
            worker = self._workers.get(worker_id)
            if worker is None or worker.setup_job == job:
                return
            after = replace(worker, setup_job=job)
            await self._write(self._store.change, worker.pool, {}, (), [after])
            self._workers[worker_id] = after

    async def going(self, name: str) -> None:
        """A pool is to be taken down."""
        async with self._pen:
            await self._write(self._store.change, name, {"is_going": True})
            self._changed(name, is_going=True)

    async def forget_worker(self, worker_id: str) -> None:
        """Forget a worker that holds nothing any more."""
        async with self._pen:
            await self._write(self._store.forget_worker, worker_id)
            self._workers.pop(worker_id, None)

    async def forget(self, name: str) -> None:
        """Forget a pool that has no workers any more."""
        async with self._pen:
            await self._write(self._store.forget, name)
            self.pools.pop(name, None)

    async def _write(self, method: Callable[..., None], *args: Any) -> None:
        try:
            await self._ledger.call(method, *args)
        except DatabaseError:
            self._is_doubtful = True
            raise

    def _changed(self, name: str, **columns: object) -> None:
        if columns and name in self.pools:
            self.pools[name] = self.pools[name].changed(**columns)
