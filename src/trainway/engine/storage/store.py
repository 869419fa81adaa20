"""Where named volumes and buckets are kept."""

from dataclasses import asdict, fields
from typing import Final

from sqlalchemy import Engine, delete, insert, select

from trainway.engine.database import transaction
from trainway.engine.storage.record import BucketRecord, VolumeRecord
from trainway.engine.tables import BUCKETS, VOLUMES

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
