"""The volumes and buckets of one server. What is said of one is written first, and counts then."""

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from trainway.backends import capabilities
from trainway.backends.claims import claiming
from trainway.backends.registry import Registry
from trainway.engine.ledger import Ledger
from trainway.engine.live_jobs import LiveJobs
from trainway.engine.storage.claim import claim_of, place_of
from trainway.engine.storage.folder_check import check_volume
from trainway.engine.storage.record import (
    BucketRecord,
    VolumeRecord,
    bucket_view,
    volume_errors,
    volume_view,
)
from trainway.engine.submission import Submission
from trainway.engine.times import time_text
from trainway.errors import (
    ConflictError,
    InvalidError,
    NotFoundError,
    TrainwayError,
    UnavailableError,
)
from trainway.json_types import Json
from trainway.schema.validation import closest

VOLUME_PREFIX: Final = "volume.trainway.dev"
"""On a job, a label for each volume that it uses begins with this."""
BUCKET_PREFIX: Final = "bucket.trainway.dev"
"""The same for the buckets that it names."""
READY: Final = "READY"
MOST_VOLUMES: Final = 1000


class StorageBook:
    """Knows what the names of volumes stand for, and which buckets were made for jobs."""

    def __init__(
        self, ledger: Ledger, registry: Registry, clock: Callable[[], datetime], live: LiveJobs
    ) -> None:
        self._ledger = ledger
        self._registry = registry
        self._store = ledger.store.storage
        self._clock = clock
        self._live = live
        self._volumes: Mapping[str, VolumeRecord] = {}
        self._pen = asyncio.Lock()
        """Held while one is changed."""

    async def start(self) -> None:
        """Take up what a former server has left."""
        found = await self._ledger.call(self._store.volumes)
        self._volumes = {record.name: record for record in found}

    def meant(self, submission: Submission) -> Submission:
        """The submission, which says what the volumes stand for that it names."""
        if not self._volumes and not any(obj.get("buckets") for obj in submission.objects):
            return submission
        from trainway.compiler.named_volumes import annotated, references  # noqa: PLC0415 - seldom
        from trainway.engine.storage.named_buckets import named_buckets  # noqa: PLC0415 - as above

        names = [name for name in references(submission.objects) if name in self._volumes]
        known = {name: self._volumes[name].named for name in names}
        used = {f"{VOLUME_PREFIX}/{name}": "used" for name in names}
        for uri in named_buckets(submission.objects):
            used[f"{BUCKET_PREFIX}/{_bucket(uri)}"] = "used"
        objects = annotated(submission.objects, known)
        return replace(submission, objects=objects, labels={**submission.labels, **used})

    def volumes(self) -> list[Json]:
        """All volumes, by name, with the jobs that use them."""
        users = self._users()
        return [
            volume_view(record, users.get(name, []))
            for name, record in sorted(self._volumes.items())
        ]

    async def apply(self, data: Any) -> Json:
        """Keep a volume as its file says, new or in place of the one of its name."""
        wrong = list(volume_errors(data))
        if wrong:
            raise InvalidError([str(error) for error in wrong])
        record = VolumeRecord(data["name"], json.dumps(data), time_text(self._clock()))
        await self._check_place(record)
        async with self._pen:
            before = self._volumes.get(record.name)
            if before is None and len(self._volumes) >= MOST_VOLUMES:
                raise ConflictError(f"a server has {MOST_VOLUMES} volumes at most")
            if before is not None:
                record = replace(record, created=before.created)
            if before is not None and before.named != record.named:
                self._refuse_used(record.name, "changed")
            await self._put(record)
            await self._claim(record, before)
        return volume_view(record, self._users().get(record.name, []))

    async def _check_place(self, record: VolumeRecord) -> None:
        """Refuse what is not there: a folder, or the cluster or namespace of a claim."""
        await check_volume(record.named, self._registry)
        claim = claim_of(record)
        if claim is not None:
            capabilities.namespace(self._registry.get(place_of(record)), claim.namespace)

    async def _claim(self, record: VolumeRecord, before: VolumeRecord | None) -> None:
        """Make the claim that a volume asks for.

        Where the cluster refuses it, nothing was said of the volume; where nobody knows what became
        of it, the volume stays, so that it can be applied again or deleted.
        """
        claim = claim_of(record)
        if claim is None:
            return
        try:
            await claiming(self._registry.get(place_of(record))).make_claim(claim)
        except UnavailableError as error:
            raise UnavailableError(
                error.message, hint=f"then apply {record.name} again, or delete it"
            ) from error
        except TrainwayError:
            await (self._remove(record.name) if before is None else self._put(before))
            raise

    async def _put(self, record: VolumeRecord) -> None:
        await self._ledger.call(self._store.put_volume, record)
        self._volumes = {**self._volumes, record.name: record}

    async def _remove(self, name: str) -> None:
        await self._ledger.call(self._store.remove_volume, name)
        self._volumes = {key: each for key, each in self._volumes.items() if key != name}

    async def delete_volume(self, name: str) -> Json:
        """Forget a volume that no job uses; what is in it stays, unless it was made for it."""
        async with self._pen:
            record = self._volumes.get(name)
            if record is None:
                raise self._missing(name)
            self._refuse_used(name, "deleted")
            claim = claim_of(record)
            if claim is not None:
                await claiming(self._registry.get(place_of(record))).remove_claim(claim)
            await self._remove(name)
        return volume_view(record, [])

    async def note_buckets(self, objects: list[Json], job: str) -> None:
        """Remember the buckets that the tasks of a job name."""
        if not any(obj.get("buckets") for obj in objects):
            return
        from trainway.engine.storage.named_buckets import named_buckets  # noqa: PLC0415 - seldom

        now = time_text(self._clock())
        known = await self._ledger.call(self._store.buckets)
        made = {record.uri for record in known if record.is_made}
        for uri, named in named_buckets(objects).items():
            is_made = named.is_made or uri in made
            record = BucketRecord(uri, job, is_made, named.is_persistent, READY, now)
            await self._ledger.call(self._store.put_bucket, record)

    async def left_over(self) -> list[BucketRecord]:
        """The buckets that were made for jobs, that are not to stay, and that no job uses now."""
        users = self._users(BUCKET_PREFIX)
        found = await self._ledger.call(self._store.buckets)
        return [
            record
            for record in found
            if record.is_made and not record.is_persistent and _bucket(record.uri) not in users
        ]

    async def keep_bucket(self, record: BucketRecord) -> None:
        """Write down what became of one."""
        await self._ledger.call(self._store.put_bucket, record)

    async def buckets(self) -> list[Json]:
        """All buckets that tasks have named, by name."""
        return [bucket_view(each) for each in await self._ledger.call(self._store.buckets)]

    async def forget_bucket(self, uri: str) -> Json:
        """Forget a bucket; whoever made it removes it."""
        for record in await self._ledger.call(self._store.buckets):
            if record.uri == uri:
                await self._ledger.call(self._store.remove_bucket, uri)
                return bucket_view(record)
        raise NotFoundError(f"no job has made {uri}")

    def _users(self, kind: str = VOLUME_PREFIX) -> dict[str, list[str]]:
        """The jobs that are not over, by the volume, or bucket, that they use."""
        found: dict[str, list[str]] = {}
        for live in self._live.values():
            for label in live.record.label_map:
                prefix, _, name = label.partition("/")
                if prefix == kind:
                    found.setdefault(name, []).append(live.record.name)
        return found

    def _refuse_used(self, name: str, done: str) -> None:
        users = self._users().get(name)
        if users:
            raise ConflictError(
                f"volume {name} cannot be {done}: {', '.join(users[:3])} uses it",
                hint="wait for the end of the job, or cancel it",
            )

    def _missing(self, name: str) -> NotFoundError:
        meant = closest(name, list(self._volumes))
        hint = f"did you mean {meant}?" if meant else "trainway volumes ls lists them"
        return NotFoundError(f"there is no volume {name}", hint=hint)


def _bucket(uri: str) -> str:
    return uri.partition("://")[2]
