"""Where schedules are kept, beside the jobs that they submit."""

from dataclasses import fields
from typing import Final

from sqlalchemy import Engine, delete, insert, select, update

from trainway.engine.database import transaction
from trainway.engine.schedule.record import ScheduleRecord
from trainway.engine.tables import SCHEDULES

_ALL: Final = [SCHEDULES.c[field.name] for field in fields(ScheduleRecord)]


class ScheduleStore:
    """The schedules. Every method is one transaction."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def all(self) -> list[ScheduleRecord]:
        """All of them, oldest first."""
        with self._engine.connect() as connection:
            rows = connection.execute(select(*_ALL).order_by(SCHEDULES.c.id)).all()
        return [ScheduleRecord(**row._asdict()) for row in rows]

    def add(self, record: ScheduleRecord, submission: str) -> None:
        """Keep a new one."""
        row = {field.name: getattr(record, field.name) for field in fields(record)}
        with transaction(self._engine) as connection:
            connection.execute(insert(SCHEDULES).values(row | {"submission": submission}))

    def has(self, schedule_id: str) -> bool:
        """Whether it is kept."""
        query = select(SCHEDULES.c.id).where(SCHEDULES.c.id == schedule_id)
        with self._engine.connect() as connection:
            return connection.execute(query).first() is not None

    def submission(self, schedule_id: str) -> str:
        """What one submits."""
        query = select(SCHEDULES.c.submission).where(SCHEDULES.c.id == schedule_id)
        with self._engine.connect() as connection:
            return str(connection.execute(query).scalar_one())

    def change(self, record: ScheduleRecord) -> None:
        """Keep what has become of one."""
        names = ("is_paused", "until", "waiting", "outcome")
        values = {name: getattr(record, name) for name in names}
        with transaction(self._engine) as connection:
            connection.execute(update(SCHEDULES).where(SCHEDULES.c.id == record.id).values(values))

    def remove(self, schedule_id: str) -> None:
        """Forget one; its jobs stay."""
        with transaction(self._engine) as connection:
            connection.execute(delete(SCHEDULES).where(SCHEDULES.c.id == schedule_id))
