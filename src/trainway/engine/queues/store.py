"""Where managed queues are kept, beside the jobs that wait in them."""

from dataclasses import asdict, fields
from typing import Final

from sqlalchemy import Engine, delete, insert, select

from trainway.engine.database import transaction
from trainway.engine.phases import TERMINAL
from trainway.engine.queues.record import EndedJob, QueueRecord
from trainway.engine.tables import JOBS, QUEUES

_ALL: Final = [QUEUES.c[field.name] for field in fields(QueueRecord)]
_ENDED: Final = [JOBS.c[field.name] for field in fields(EndedJob)]


class QueueStore:
    """The queues. Every method is one transaction."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def all(self) -> list[QueueRecord]:
        """All of them, by name."""
        with self._engine.connect() as connection:
            rows = connection.execute(select(*_ALL).order_by(QUEUES.c.name)).all()
        return [QueueRecord(**row._asdict()) for row in rows]

    def put(self, record: QueueRecord) -> None:
        """Keep one, in place of the one of its name."""
        with transaction(self._engine) as connection:
            connection.execute(delete(QUEUES).where(QUEUES.c.name == record.name))
            connection.execute(insert(QUEUES).values(asdict(record)))

    def remove(self, name: str) -> None:
        """Forget one."""
        with transaction(self._engine) as connection:
            connection.execute(delete(QUEUES).where(QUEUES.c.name == name))

    def ended(self, since: str) -> list[EndedJob]:
        """The jobs that have ended since a time, as far as they count for their queues."""
        query = select(*_ENDED).where(JOBS.c.phase.in_(sorted(TERMINAL)), JOBS.c.finished >= since)
        with self._engine.connect() as connection:
            return [EndedJob(*row) for row in connection.execute(query)]
