"""Where clusters are kept, beside the jobs."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Final

from sqlalchemy import Engine, delete, insert, select, update

from trainway.engine.cluster.record import ClusterRecord
from trainway.engine.costs.spent_job import SpentJob
from trainway.engine.database import transaction
from trainway.engine.notify import outbox
from trainway.engine.notify.outbox import NewNotice
from trainway.engine.record import storable
from trainway.engine.tables import CLUSTERS, SPENT

_ALL: Final = [CLUSTERS.c[field.name] for field in fields(ClusterRecord)]


class ClusterStore:
    """The clusters. Every method is one transaction."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def all(self) -> list[ClusterRecord]:
        """All of them, oldest first."""
        with self._engine.connect() as connection:
            rows = connection.execute(select(*_ALL).order_by(CLUSTERS.c.id)).all()
        return [ClusterRecord(**row._asdict()) for row in rows]

    def add(self, record: ClusterRecord) -> None:
        """Keep a new one."""
        row = {field.name: storable(getattr(record, field.name)) for field in fields(record)}
        with transaction(self._engine) as connection:
            connection.execute(insert(CLUSTERS).values(row))

    def update(
        self, name: str, columns: Mapping[str, object], notices: Sequence[NewNotice] = ()
    ) -> None:
        """Change one, and keep what is to be told of it, or nothing of both."""
        values = {key: storable(value) for key, value in columns.items()}
        with transaction(self._engine) as connection:
            query = update(CLUSTERS).where(CLUSTERS.c.name == name).values(values)
            if connection.execute(query).rowcount:
                outbox.append(connection, "", notices)

    def next_number(self, name: str) -> int:
        """The number of the next job; nobody gets it a second time."""
        with transaction(self._engine) as connection:
            connection.execute(
                update(CLUSTERS)
                .where(CLUSTERS.c.name == name)
                .values(last_job=CLUSTERS.c.last_job + 1)
            )
            query = select(CLUSTERS.c.last_job).where(CLUSTERS.c.name == name)
            return int(connection.execute(query).scalar() or 0)

    def remove(self, name: str, spent: SpentJob | None = None) -> None:
        """Forget one; its jobs stay, and what it had cost."""
        with transaction(self._engine) as connection:
            if spent is not None:
                connection.execute(delete(SPENT).where(SPENT.c.job_id == spent.job_id))
                connection.execute(insert(SPENT).values(asdict(spent)))
            connection.execute(delete(CLUSTERS).where(CLUSTERS.c.name == name))
