"""Which objects of a TrainJob are sent to the cluster now, and which are left as they are.

Caches are always a little old, and the answer must be right all the same. What was sent is
therefore remembered until the cache has seen it; and a child of an earlier TrainJob of the same
name, which the garbage collector has not got to yet, is waited for and not taken over.
"""

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from typing import Final

import orjson

from trainway.json_types import Json
from trainway.kube.owners import controller_of
from trainway.operator.trainjobs.runtime_snapshot import SUFFIX

CACHE_DELAY: Final = timedelta(seconds=30)
"""After so long an object that was sent and is not in the cache is sent again."""


class Manner(Enum):
    """When a child may be written."""

    ONCE = "once"
    """The object is sent only if it is not there: keys must not change."""
    WHILE_INACTIVE = "while inactive"
    """The object is not sent while the job runs."""
    ALWAYS = "always"


class Verdict(Enum):
    """What to do with a child."""

    SEND = "send"
    LEAVE = "leave"
    WAIT = "wait"
    """The next step comes when the object that is there is gone."""
    CLASH = "clash"
    """An object that is not ours is in its place."""


class Owner(Enum):
    """Whose an object is that has the name of a child."""

    SELF = "self"
    FORMER = "former"
    """It belongs to a TrainJob of the same name that is no more."""
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Child:
    """An object that a TrainJob should have."""

    api_version: str
    kind: str
    name: str
    digest: bytes
    """The digest of all that the object should hold."""

    @property
    def key(self) -> tuple[str, str]:
        """By which it is told from the TrainJob's other children."""
        return self.kind, self.name

    @property
    def manner(self) -> Manner:
        """When it may be written."""
        return Manner.ONCE if self.is_snapshot else _MANNERS.get(self.kind, Manner.ALWAYS)

    @property
    def is_snapshot(self) -> bool:
        """Whether it holds the runtime of the TrainJob."""
        return self.kind == "ConfigMap" and self.name.endswith(SUFFIX)

    @property
    def is_exclusive(self) -> bool:
        """Whether one that is not the TrainJob's own cannot stand in for it."""
        return self.is_snapshot or self.kind == "JobSet"


_MANNERS: Final = {
    "Secret": Manner.ONCE,
    "JobSet": Manner.WHILE_INACTIVE,
    "PodGroup": Manner.WHILE_INACTIVE,
}


@dataclass(frozen=True, slots=True)
class Sent:
    """A child as the API server answered when it was sent."""

    uid: str
    version: str
    generation: int
    digest: bytes
    at: datetime


def child_of(obj: Json) -> Child:
    """What to remember of an object that the compiler made."""
    name = obj["metadata"]["name"]
    text = orjson.dumps(obj, option=orjson.OPT_SORT_KEYS)
    digest = hashlib.blake2b(text, digest_size=16).digest()
    return Child(obj["apiVersion"], obj["kind"], name, digest)


def sent_as(child: Child, answer: Json, now: datetime) -> Sent:
    """What to remember of an answer."""
    metadata = answer["metadata"]
    version = metadata["resourceVersion"]
    return Sent(metadata["uid"], version, metadata.get("generation", 0), child.digest, now)


def owner_of(seen: Json, job: Json) -> Owner:
    """Whose the object is, from the view of a TrainJob."""
    reference = controller_of(seen)
    if reference is None or reference.get("kind") != "TrainJob":
        return Owner.OTHER
    if reference.get("uid") == job["metadata"]["uid"]:
        return Owner.SELF
    return Owner.FORMER if reference.get("name") == job["metadata"]["name"] else Owner.OTHER


def verdict(
    child: Child,
    job: Json,
    seen: Json | None,
    sent: Sent | None,
    *,
    inactive: bool,
    with_jobset: bool,
    now: datetime,
) -> Verdict:
    """What to do with a child, by what the cache shows and what was sent before.

    `with_jobset` says that the JobSet is sent too. The job may run from then on, and a change that
    the cache has not shown by then could not be undone any more.
    """
    if seen is None:
        return _unseen(child, sent, now)
    owner = owner_of(seen, job)
    if owner is Owner.FORMER or seen["metadata"].get("deletionTimestamp"):
        return Verdict.WAIT
    if child.is_exclusive and owner is not Owner.SELF:
        return Verdict.CLASH
    match child.manner:
        case Manner.ONCE:
            return Verdict.LEAVE
        case Manner.WHILE_INACTIVE:
            is_current = sent is not None and not _changed_spec(seen, sent) and not with_jobset
            if not inactive or (is_current and sent is not None and sent.digest == child.digest):
                return Verdict.LEAVE
        case Manner.ALWAYS:
            is_current = sent is not None and not is_newer(_version(seen), sent.version)
            if is_current and sent is not None and sent.digest == child.digest:
                return Verdict.LEAVE
    return Verdict.SEND


def _unseen(child: Child, sent: Sent | None, now: datetime) -> Verdict:
    if sent is None or now - sent.at >= CACHE_DELAY:
        return Verdict.SEND
    is_same = sent.digest == child.digest or child.manner is Manner.ONCE
    return Verdict.LEAVE if is_same else Verdict.SEND


def _changed_spec(seen: Json, sent: Sent) -> bool:
    """Whether somebody else has written the spec after us."""
    metadata = seen["metadata"]
    is_other: bool = metadata.get("uid") != sent.uid
    return is_other or int(metadata.get("generation", 0)) > sent.generation


def _version(seen: Json) -> str:
    return str(seen["metadata"].get("resourceVersion", ""))


def is_newer(version: str, other: str) -> bool:
    """Whether a resourceVersion came after another one of the same kind of object."""
    if version.isdecimal() and other.isdecimal():
        return int(version) > int(other)
    return version != other
