"""Where notices are kept until they have been delivered, beside the jobs.

A notice is stored together with the change that it tells of, so a server that is killed in between
has stored both or neither, and the next one delivers what is left.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    Select,
    and_,
    delete,
    insert,
    or_,
    select,
    update,
)

from trainway.engine.database import transaction
from trainway.engine.record import storable
from trainway.engine.tables import NOTICES
from trainway.notify.message import Notice

LONGEST_PAUSE_S: Final = 300.0
"""The longest time until a notice is tried again."""


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

    def is_due(self, now: float) -> bool:
        """Whether it is time; one that is later than it can be was stored before a clock jumped."""
        return not now < self.due <= now + LONGEST_PAUSE_S


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

    def first(self, besides: Sequence[str] = ()) -> StoredNotice | None:
        """The one that is due first, of all targets but these."""
        is_meant = NOTICES.c.target.not_in(besides)
        found = self._read(select(NOTICES).where(is_meant), 1)
        return found[0] if found else None

    def due(self, target: str, now: float, limit: int) -> list[StoredNotice]:
        """Those of one target that are due, the first of them."""
        is_due = or_(NOTICES.c.due <= now, NOTICES.c.due > now + LONGEST_PAUSE_S)
        return self._read(select(NOTICES).where(NOTICES.c.target == target, is_due), limit)

    def _read(self, query: Select[Any], limit: int) -> list[StoredNotice]:
        ordered = query.order_by(NOTICES.c.due, NOTICES.c.id).limit(limit)
        with self._engine.connect() as connection:
            rows = connection.execute(ordered).all()
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

    def postpone(self, notice: StoredNotice, attempts: int, due: float) -> None:
        """Try one again later."""
        with transaction(self._engine) as connection:
            query = update(NOTICES).where(_is(notice))
            connection.execute(query.values(attempts=attempts, due=due))

    def remove(self, notice: StoredNotice) -> None:
        """Forget one, which was delivered, or never will be."""
        with transaction(self._engine) as connection:
            connection.execute(delete(NOTICES).where(_is(notice)))


def _is(notice: StoredNotice) -> ColumnElement[bool]:
    """Whether it is this one; numbers are given again, and who writes twice may come too late."""
    return and_(
        NOTICES.c.id == notice.id,
        NOTICES.c.job_id == notice.job_id,
        NOTICES.c.target == notice.target,
        NOTICES.c.due == notice.due,
    )
