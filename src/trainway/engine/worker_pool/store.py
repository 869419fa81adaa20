"""Where worker pools and their workers are kept, beside the clusters that these are."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Final

from sqlalchemy import Engine, delete, insert, select, update

from trainway.engine.database import transaction
from trainway.engine.record import storable
from trainway.engine.tables import WORKER_POOLS, WORKERS
from trainway.engine.worker_pool.record import WorkerPoolRecord, WorkerRecord

_POOL: Final = [WORKER_POOLS.c[field.name] for field in fields(WorkerPoolRecord)]
_WORKER: Final = [WORKERS.c[field.name] for field in fields(WorkerRecord)]

_CHANGING: Final = ("state", "message", "setup_job")


class WorkerPoolStore:
    """The worker pools. Every method is one transaction."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def all(self) -> tuple[list[WorkerPoolRecord], list[WorkerRecord]]:
        """All pools, and all workers, oldest first."""
        with self._engine.connect() as connection:
            pools = connection.execute(select(*_POOL).order_by(WORKER_POOLS.c.id)).all()
            workers = connection.execute(select(*_WORKER).order_by(WORKERS.c.id)).all()
        return (
            [WorkerPoolRecord(**row._asdict()) for row in pools],
            [WorkerRecord(**row._asdict()) for row in workers],
        )

    def submission(self, name: str) -> str:
        """What sets up a worker of a pool."""
        query = select(WORKER_POOLS.c.submission).where(WORKER_POOLS.c.name == name)
        with self._engine.connect() as connection:
            return str(connection.execute(query).scalar_one())

    def put(self, pool: WorkerPoolRecord, submission: str) -> None:
        """Keep a pool, new or changed."""
        row = {field.name: getattr(pool, field.name) for field in fields(pool)}
        row["submission"] = submission
        with transaction(self._engine) as connection:
            connection.execute(delete(WORKER_POOLS).where(WORKER_POOLS.c.name == pool.name))
            connection.execute(insert(WORKER_POOLS).values(row))

    def change(
        self,
        name: str,
        columns: Mapping[str, object],
        add: Sequence[WorkerRecord] = (),
        put: Sequence[WorkerRecord] = (),
    ) -> None:
        """Change a pool, add workers and change others, all or nothing."""
        with transaction(self._engine) as connection:
            if columns:
                query = update(WORKER_POOLS).where(WORKER_POOLS.c.name == name)
                connection.execute(query.values(dict(columns)))
            for worker in add:
                row = {f.name: storable(getattr(worker, f.name)) for f in fields(worker)}
                connection.execute(insert(WORKERS).values(row))
            for worker in put:
                values = {name: storable(getattr(worker, name)) for name in _CHANGING}
                query = update(WORKERS).where(WORKERS.c.id == worker.id)
                connection.execute(query.values(values))

    def forget_worker(self, worker_id: str) -> None:
        """Forget a worker."""
        with transaction(self._engine) as connection:
            connection.execute(delete(WORKERS).where(WORKERS.c.id == worker_id))

    def forget(self, name: str) -> None:
        """Forget a pool that has no workers any more."""
        with transaction(self._engine) as connection:
            connection.execute(delete(WORKER_POOLS).where(WORKER_POOLS.c.name == name))
