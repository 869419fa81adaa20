"""Where named volumes and buckets are kept."""

import json
from dataclasses import asdict, fields
from typing import Final

from sqlalchemy import Connection, Engine, delete, func, insert, select

from trainway.engine.database import transaction
from trainway.engine.phases import TERMINAL
from trainway.engine.storage.record import BucketRecord, VolumeRecord
from trainway.engine.tables import BUCKETS, JOBS, LABELS, RUNS, SCHEDULES, VOLUMES

_VOLUME: Final = [VOLUMES.c[field.name] for field in fields(VolumeRecord)]
_BUCKET: Final = [BUCKETS.c[field.name] for field in fields(BucketRecord)]


class StorageStore:
    """Volumes and buckets. Every method is one transaction."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def volumes(self) -> list[VolumeRecord]:
        """All volumes, by name."""
        with self._engine.connect() as connection:
            rows = connection.execute(select(*_VOLUME).order_by(VOLUMES.c.name)).all()
        return [VolumeRecord(**row._asdict()) for row in rows]

    def put_volume(self, record: VolumeRecord) -> None:
        """Keep a volume, in place of the one of its name."""
        with transaction(self._engine) as connection:
            connection.execute(delete(VOLUMES).where(VOLUMES.c.name == record.name))
            connection.execute(insert(VOLUMES).values(asdict(record)))

    def remove_volume(self, name: str) -> None:
        """Forget a volume."""
        with transaction(self._engine) as connection:
            connection.execute(delete(VOLUMES).where(VOLUMES.c.name == name))

    def buckets(self) -> list[BucketRecord]:
        """All buckets, by name."""
        with self._engine.connect() as connection:
            rows = connection.execute(select(*_BUCKET).order_by(BUCKETS.c.uri)).all()
        return [BucketRecord(**row._asdict()) for row in rows]

    def put_bucket(self, record: BucketRecord) -> None:
        """Keep a bucket, in place of what was known of it."""
        with transaction(self._engine) as connection:
            connection.execute(delete(BUCKETS).where(BUCKETS.c.uri == record.uri))
            connection.execute(insert(BUCKETS).values(asdict(record)))

    def remove_bucket(self, uri: str) -> None:
        """Forget a bucket."""
        with transaction(self._engine) as connection:
            connection.execute(delete(BUCKETS).where(BUCKETS.c.uri == uri))

    def replace_bucket(self, before: BucketRecord, after: BucketRecord | None) -> None:
        """Keep a bucket as it is now, or forget it, unless it has become another one meanwhile."""
        with transaction(self._engine) as connection:
            if not _is_there(connection, before):
                return
            connection.execute(delete(BUCKETS).where(BUCKETS.c.uri == before.uri))
            if after is not None:
                connection.execute(insert(BUCKETS).values(asdict(after)))

    def is_left_over(self, record: BucketRecord, label: str) -> bool:
        """Whether a bucket is still as it was, and no job with this label needs it any more.

        A search that goes on needs it also while none of its trials runs, and a schedule until it
        is deleted.
        """
        is_alive = JOBS.c.phase.not_in(sorted(TERMINAL))
        goes_on = RUNS.c.search.is_not(None) & RUNS.c.outcome.is_(None)
        users = (
            select(LABELS.c.job_id)
            .join(JOBS, JOBS.c.id == LABELS.c.job_id)
            .outerjoin(RUNS, RUNS.c.id == LABELS.c.run)
            .where(LABELS.c.key == label, is_alive | goes_on)
        )
        marked = SCHEDULES.c.submission.contains(json.dumps(label), autoescape=True)
        schedules = select(SCHEDULES.c.id).where(marked)
        with self._engine.connect() as connection:
            return _is_there(connection, record) and all(
                connection.execute(query.limit(1)).first() is None for query in (users, schedules)
            )

    def newest_user(self, label: str) -> str | None:
        """The id of the newest job with a label."""
        query = select(func.max(LABELS.c.job_id)).where(LABELS.c.key == label)
        with self._engine.connect() as connection:
            found: str | None = connection.execute(query).scalar_one()
        return found


def _is_there(connection: Connection, record: BucketRecord) -> bool:
    row = connection.execute(select(*_BUCKET).where(BUCKETS.c.uri == record.uri)).first()
    return row is not None and BucketRecord(**row._asdict()) == record
