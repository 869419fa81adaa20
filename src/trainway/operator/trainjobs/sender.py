"""Sends the objects of a TrainJob that are due, in the right order and no others."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from trainway.api.model import ObjectMeta
from trainway.compiler.plugins.progress import StatusEndpoint
from trainway.json_types import Json
from trainway.kube.client import Client
from trainway.kube.errors import AlreadyExists, ApiError, Conflict, ObjectNotFound
from trainway.kube.informer import Informer
from trainway.kube.resources import CONFIG_MAPS, JOBSETS, resource_of
from trainway.operator.jobset_change import can_become
from trainway.operator.trainjobs.build_error import BuildError
from trainway.operator.trainjobs.builder import Builder
from trainway.operator.trainjobs.children import (
    CACHE_DELAY,
    Child,
    Manner,
    Owner,
    Sent,
    Verdict,
    child_of,
    is_newer,
    owner_of,
    sent_as,
    verdict,
)
from trainway.operator.trainjobs.memory import BuiltFor, Note, Snapshot
from trainway.operator.trainjobs.runtime_snapshot import snapshot, snapshot_name, snapshot_text
from trainway.operator.trainjobs.runtime_source import RuntimeSource

FIELD_OWNER: Final = "trainer"
GONE_SOON: Final = timedelta(seconds=2)
"""When to look again for an object that is being deleted, should its end be missed."""
_PASSING: Final = (0, 409, 429, 503, 504)
"""The statuses of answers that say nothing about the object; 0 stands for no answer."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """What came of it."""

    created_jobset: bool = False
    look_again_after: timedelta | None = None


class _WaitError(Exception):
    """A child cannot be sent yet."""


@dataclass(frozen=True, slots=True)
class Sender:
    """Brings the children of TrainJobs to the cluster."""

    client: Client
    builder: Builder
    source: RuntimeSource
    caches: dict[tuple[str, str], Informer]
    """The caches by apiVersion and kind; a kind that is not served has none."""

    async def send(
        self,
        job: Json,
        note: Note,
        jobset: Json | None,
        endpoint: StatusEndpoint | None,
        now: datetime,
    ) -> Delivery:
        """Send what is due. BuildError and ApiError say why something could not be sent."""
        look = _Look(job, note, is_inactive(job, jobset), now)
        built_for = BuiltFor(job["metadata"].get("generation", 0), endpoint)
        if note.built_for == built_for:
            verdicts = [self._verdict(look, child) for child in note.children]
            if all(found is Verdict.LEAVE for found in verdicts):
                return Delivery(look_again_after=self._until_seen(look))
        try:
            return await self._build(look, built_for)
        except _WaitError:
            return Delivery(look_again_after=GONE_SOON)

    def may_have_vanished(self, job: Json, note: Note) -> bool:
        """Whether a JobSet that is not there was there before, and we did not see how it went."""
        look = _Look(job, note, inactive=True, now=datetime.min.replace(tzinfo=UTC))
        if ("JobSet", job["metadata"]["name"]) in note.sent:
            return False  # it is on its way to the cache
        if (job.get("status") or {}).get("jobsStatus"):
            return True
        seen = self._seen(look, look.snapshot_child)
        is_from_before = look.snapshot_child.key not in note.sent
        return is_from_before and seen is not None and owner_of(seen, job) is Owner.SELF

    async def _build(self, look: "_Look", built_for: BuiltFor) -> Delivery:
        note = look.note
        content = await self._snapshot(look)
        built = self.builder.build(look.job, content.runtime, built_for.endpoint)
        note.gpus, note.is_gang = built.gpus, built.is_gang
        children = [child_of(obj) for obj in built.objects]
        created_jobset = False
        with_jobset = any(
            child.kind == "JobSet" and self._verdict(look, child) is Verdict.SEND
            for child in children
        )
        for child, obj in zip(children, built.objects, strict=True):
            found = self._verdict(look, child, with_jobset=with_jobset)
            if found is Verdict.SEND:
                is_new = self._seen(look, child) is None and child.key not in note.sent
                await self._deliver(look, child, obj)
                created_jobset |= is_new and child.kind == "JobSet"
            self._refuse(look, child, found)
        note.children = (look.snapshot_child, *children)
        note.built_for = built_for
        return Delivery(created_jobset, self._until_seen(look))

    async def _snapshot(self, look: "_Look") -> Snapshot:
        """The runtime of the TrainJob; where there is no snapshot yet, it is written."""
        child, note = look.snapshot_child, look.note
        found = self._verdict(look, child)
        self._refuse(look, child, found)
        if found is Verdict.SEND:
            content = note.snapshot or await self.source.live(look.job)
            metadata = look.job["metadata"]
            owner = ObjectMeta(
                name=metadata["name"], namespace=metadata["namespace"], uid=metadata["uid"]
            )
            await self._deliver(look, child, snapshot(owner, content.text))
            note.snapshot = content
            return content
        seen, sent = self._seen(look, child), note.sent.get(child.key)
        is_current = seen is None or (sent is not None and not _is_later(seen, sent))
        if note.snapshot is not None and is_current:
            return note.snapshot
        try:
            stored = await self.client.get(CONFIG_MAPS, child.name, look.namespace)
        except ObjectNotFound as error:
            raise _WaitError from error  # its end is on the way to the cache
        content = self.source.stored(snapshot_text(stored), look.job["spec"]["runtimeRef"])
        note.snapshot = content
        note.sent[child.key] = sent_as(child, stored, look.now)
        return content

    async def _deliver(self, look: "_Look", child: Child, obj: Json) -> None:
        if child.kind == "JobSet" and self._seen(look, child) is not None:
            await self._make_room(look, obj)
        try:
            if child.manner is Manner.ONCE:
                answer = await self.client.create(
                    resource_of(obj), obj, look.namespace, field_manager=FIELD_OWNER
                )
            else:
                answer = await self.client.apply(obj, field_manager=FIELD_OWNER, metadata_only=True)
        except AlreadyExists as error:
            if child.manner is not Manner.ONCE:
                raise
            raise _WaitError from error  # another process was quicker; the cache will show it
        except ApiError as error:
            if error.status in _PASSING:
                raise
            raise BuildError(f"{child.kind} {child.name}: {error}") from error
        look.note.sent[child.key] = sent_as(child, answer, look.now)

    async def _make_room(self, look: "_Look", jobset: Json) -> None:
        """Remove the JobSet if it cannot be changed into this one; nothing is to run now."""
        name = jobset["metadata"]["name"]
        try:
            live = await self.client.get(JOBSETS, name, look.namespace)
            if can_become(live, jobset):
                return
            uid = live["metadata"]["uid"]
            await self.client.delete(
                JOBSETS, name, look.namespace, uid=uid, propagation="Foreground"
            )
        except (ObjectNotFound, Conflict) as error:
            raise _WaitError from error  # its end is on the way to the cache
        raise _WaitError

    def _refuse(self, look: "_Look", child: Child, found: Verdict) -> None:
        if found is Verdict.WAIT:
            raise _WaitError
        if found is Verdict.CLASH and child == look.snapshot_child:
            raise BuildError(
                "invalid runtime snapshot: a snapshot configmap exists but is owned by another"
                " object"
            )
        if found is Verdict.CLASH:
            raise BuildError(
                f'{child.kind} "{child.name}" exists but does not belong to the TrainJob'
            )

    def _verdict(self, look: "_Look", child: Child, *, with_jobset: bool = False) -> Verdict:
        return verdict(
            child,
            look.job,
            self._seen(look, child),
            look.note.sent.get(child.key),
            inactive=look.inactive,
            with_jobset=with_jobset,
            now=look.now,
        )

    def _seen(self, look: "_Look", child: Child) -> Json | None:
        cache = self.caches.get((child.api_version, child.kind))
        return cache.store.get(f"{look.namespace}/{child.name}") if cache else None

    def _until_seen(self, look: "_Look") -> timedelta | None:
        """When to send again what the cache has not shown by then."""
        unseen = [
            look.note.sent[child.key].at
            for child in look.note.children
            if child.key in look.note.sent
            and (child.api_version, child.kind) in self.caches
            and self._seen(look, child) is None
        ]
        return max(min(unseen) + CACHE_DELAY - look.now, timedelta()) if unseen else None


@dataclass(frozen=True, slots=True)
class _Look:
    """One look at a TrainJob."""

    job: Json
    note: Note
    inactive: bool
    now: datetime

    @property
    def namespace(self) -> str:
        return str(self.job["metadata"]["namespace"])

    @property
    def snapshot_child(self) -> Child:
        return Child("v1", "ConfigMap", snapshot_name(self.job["metadata"]["name"]), b"")


def is_inactive(job: Json, jobset: Json | None) -> bool:
    """Whether no pods run, so that the objects may change."""
    if jobset is None or (job.get("spec") or {}).get("suspend"):
        return True
    return bool(jobset["spec"]["suspend"])


def _is_later(seen: Json, sent: Sent) -> bool:
    return is_newer(str(seen["metadata"].get("resourceVersion", "")), sent.version)
