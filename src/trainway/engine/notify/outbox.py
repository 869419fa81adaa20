"""Where notices are kept until they have been delivered, beside the jobs.

A notice is stored together with the change that it tells of, so a server that is killed in between
has stored both or neither, and the next one delivers what is left.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, Engine, delete, insert, select, update

from trainway.engine.database import transaction
from trainway.engine.record import storable
from trainway.engine.tables import NOTICES
from trainway.notify.message import Notice


@dataclass(frozen=True)
class NewNotice:
    """What is to be told to whom."""

    target: str
    """The name of a target in the settings, or the URL that a job brought along."""
    notice: Notice
    due: float


@dataclass(frozen=True)
class StoredNotice:
    """A notice that has yet to be delivered."""

    id: int
    job_id: str
    target: str
    notice: Notice
    due: float
    attempts: int


def append(connection: Connection, job_id: str, notices: Sequence[NewNotice]) -> None:
    """Keep notices of a job, in a transaction of whoever changes it."""
    if notices:
        rows = [
            {
                "job_id": job_id,
                "target": storable(each.target),
                "notice": json.dumps(each.notice.to_json()),
                "due": each.due,
                "attempts": 0,
            }
            for each in notices
        ]
        connection.execute(insert(NOTICES), rows)


class Outbox:
    """The notices. Every method is one transaction."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def first(self, limit: int) -> list[StoredNotice]:
        """Those that are due first."""
        query = select(NOTICES).order_by(NOTICES.c.due, NOTICES.c.id).limit(limit)
        with self._engine.connect() as connection:
            rows = connection.execute(query).all()
        return [
            StoredNotice(
                row.id,
                row.job_id,
                row.target,
                Notice(**json.loads(row.notice)),
                row.due,
                row.attempts,
            )
            for row in rows
        ]

    def postpone(self, notice_id: int, attempts: int, due: float) -> None:
        """Try one again later."""
        query = update(NOTICES).where(NOTICES.c.id == notice_id)
        with transaction(self._engine) as connection:
            connection.execute(query.values(attempts=attempts, due=due))

    def remove(self, notice_id: int) -> None:
        """Forget one, which was delivered, or never will be."""
        with transaction(self._engine) as connection:
            connection.execute(delete(NOTICES).where(NOTICES.c.id == notice_id))
