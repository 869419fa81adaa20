"""The events of jobs in the database: each is numbered in the transaction that it belongs to."""

from collections.abc import Sequence

from sqlalchemy import Connection, func, insert, select

from trainway.engine.record import Event, storable
from trainway.engine.tables import EVENTS


def append(connection: Connection, job_id: str, events: Sequence[Event]) -> None:
    """Add events of a job after those that it has."""
    if not events:
        return
    newest = select(func.coalesce(func.max(EVENTS.c.seq), 0)).where(EVENTS.c.job_id == job_id)
    first = connection.execute(newest).scalar_one() + 1
    rows = [
        {
            "job_id": job_id,
            "seq": seq,
            "time": event.time,
            "type": event.type,
            "reason": storable(event.reason[:128]),
            "message": storable(event.message),
            "object": storable(event.object[:253]),
        }
        for seq, event in enumerate(events, start=first)
    ]
    connection.execute(insert(EVENTS), rows)
