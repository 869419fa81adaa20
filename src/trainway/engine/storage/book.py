"""The volumes and buckets of one server. What is said of one is written first, and counts then."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from trainway.backends import capabilities
from trainway.backends.claims import claiming
from trainway.backends.registry import Registry
from trainway.engine.job_filter import Filter, LabelTerm
from trainway.engine.ledger import Ledger
from trainway.engine.live_jobs import LiveJobs
from trainway.engine.phases import UNFINISHED
from trainway.engine.record import JobRecord
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

if TYPE_CHECKING:
    from trainway.engine.storage.named_buckets import NamedBucket

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
        self._coming: Counter[str] = Counter()
        """The buckets that jobs name which are about to be stored."""
        self._leaving: set[str] = set()
        """The buckets that are being removed."""
        ledger.admitting.append(self._refuse_leaving)

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
            used[_label(uri)] = "used"
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
                await self._refuse_used(record.name, "changed")
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
            await self._refuse_used(name, "deleted")
            claim = claim_of(record)
            if claim is not None:
                await claiming(self._registry.get(place_of(record))).remove_claim(claim)
            await self._remove(name)
        return volume_view(record, [])

    @asynccontextmanager
    async def naming(self, objects: list[Json]) -> AsyncIterator[Callable[[str], Awaitable[None]]]:
        """Remember the buckets that the tasks of a job name, while it is being submitted.

        Those that were made for it are written down before there is the job, so that no crash can
        lose one. What this gives is told the job's id when it is stored.
        """
        named: Mapping[str, NamedBucket] = {}
        if any(obj.get("buckets") for obj in objects):
            from trainway.engine.storage.named_buckets import named_buckets  # noqa: PLC0415 - seldom

            named = named_buckets(objects)
        names = [_bucket(uri) for uri in named]
        self._refuse(names)
        self._coming.update(names)
        try:
            await self._note(named)
            yield partial(self._note, named)
        finally:
            self._coming.subtract(names)
            self._coming += Counter()  # which leaves out those that have come

    async def _note(self, named: Mapping[str, "NamedBucket"], job: str = "") -> None:
        """Write buckets down; as long as there is no job only those that were made for it.

        What is known of one stays until then.
        """
        if not named:
            return
        known = {record.uri: record for record in await self._known()}
        for uri, bucket in named.items():
            before, now = known.get(uri), time_text(self._clock())
            is_made = bucket.is_made or (before is not None and before.is_made)
            record = BucketRecord(uri, job, is_made, bucket.is_persistent, READY, now)
            if not job and (not bucket.is_made or (before is not None and before.is_made)):
                continue
            if before is not None and not job:
                stays = before.is_persistent or bucket.is_persistent
                record = replace(before, is_made=True, is_persistent=stays)
            await self._ledger.call(self._store.put_bucket, record)

    async def left_over(self) -> list[BucketRecord]:
        """The buckets that were made for jobs, that are not to stay, and that no job uses now.

        One of which no job was ever stored is its owner's, who alone has the credentials.
        """
        users = self._users(BUCKET_PREFIX)
        found = []
        for known in await self._known():
            if not known.is_made or known.is_persistent or _bucket(known.uri) in users:
                continue
            record = known if known.job else await self._adopted(known)
            if record.job:
                found.append(record)
        return found

    async def _adopted(self, record: BucketRecord) -> BucketRecord:
        """A bucket with the job that named it, which was stored shortly before a crash."""
        job = await self._ledger.call(self._store.newest_user, _label(record.uri))
        if job is None:
            return record
        await self.settle_bucket(record, adopted := replace(record, job=job))
        return adopted

    @asynccontextmanager
    async def removing(self, record: BucketRecord) -> AsyncIterator[bool]:
        """Keep new jobs from a bucket; whether no job uses it even now, so that it can go."""
        name = _bucket(record.uri)
        self._leaving.add(name)
        try:
            is_left = await self._ledger.call(self._store.is_left_over, record, _label(record.uri))
            yield is_left and name not in self._coming
        finally:
            self._leaving.discard(name)

    def _refuse_leaving(self, record: JobRecord) -> None:
        if self._leaving:
            parts = (label.partition("/") for label in record.label_map)
            self._refuse(name for prefix, _, name in parts if prefix == BUCKET_PREFIX)

    def _refuse(self, names: Iterable[str]) -> None:
        for name in names:
            if name in self._leaving:
                raise ConflictError(
                    f"the bucket {name} is being removed, since no job used it any more",
                    hint="submit the job again when trainway storage ls does not list it any more",
                )

    async def settle_bucket(self, before: BucketRecord, after: BucketRecord | None) -> None:
        """Write down what became of one, or forget it, unless another job has named it since."""
        await self._ledger.call(self._store.replace_bucket, before, after)

    async def _known(self) -> list[BucketRecord]:
        return await self._ledger.call(self._store.buckets)

    async def buckets(self) -> list[Json]:
        """All buckets that tasks have named, by name."""
        return [bucket_view(each) for each in await self._known()]

    async def forget_bucket(self, uri: str) -> Json:
        """Forget a bucket; whoever made it removes it."""
        for record in await self._known():
            if record.uri == uri:
                await self._ledger.call(self._store.remove_bucket, uri)
                return bucket_view(record)
        raise NotFoundError(f"no job has made {uri}")

    def _users(self, kind: str = VOLUME_PREFIX) -> dict[str, list[str]]:
        """The jobs that are not over, by the volume, or bucket, that they use.

        Those among them that could not be taken up may use it, too.
        """
        found: dict[str, list[str]] = {}
        for record in self._live.records():
            for label in record.label_map:
                prefix, _, name = label.partition("/")
                if prefix == kind:
                    found.setdefault(name, []).append(record.name)
        return found

    async def _refuse_used(self, name: str, done: str) -> None:
        """Raise for a volume of jobs that are not over, those too that are only just stored."""
        users = self._users().get(name)
        if not users:
            named = Filter(phases=UNFINISHED, labels=[LabelTerm(f"{VOLUME_PREFIX}/{name}")])
            found = await self._ledger.call(self._ledger.store.page, named, 1, summary=True)
            users = [record.name for record in found]
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


def _label(uri: str) -> str:
    return f"{BUCKET_PREFIX}/{_bucket(uri)}"
