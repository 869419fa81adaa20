"""Volumes and buckets as they are stored and shown."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from trainway.api.task import volume
from trainway.compiler.named_volumes import NamedVolume
from trainway.json_types import Json
from trainway.schema.field import FieldError, forbidden, invalid

_NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_USUAL_MODE: Final = "ReadWriteOnce"
_NAME_RULE: Final = (
    "must have at most 63 lower-case letters, digits and '-', and begin and end with a letter or "
    "digit"
)


@dataclass(frozen=True)
class VolumeRecord:
    """A volume, as its file has it."""

    name: str
    spec: str
    """The file, as JSON."""
    created: str

    @property
    def data(self) -> Json:
        """The file."""
        found: Json = json.loads(self.spec)
        return found

    @property
    def is_made(self) -> bool:
        """Whether it is a claim that is made for it, and goes with it."""
        return str(self.data["type"]).lower() == volume.CLAIM and not self.data.get("use_existing")

    @property
    def named(self) -> NamedVolume:
        """What the name stands for."""
        data, config = self.data, self.data.get("config") or {}
        return NamedVolume(
            self.name,
            str(data["type"]).lower(),
            infra=str(data.get("infra") or ""),
            host_path=str(config.get("host_path") or ""),
            access_mode=str(config.get("access_mode") or (_USUAL_MODE if self.is_made else "")),
            size=str(data.get("size") or ""),
        )


@dataclass(frozen=True)
class BucketRecord:
    """A bucket that a task named."""

    uri: str
    job: str
    """The job that named it last."""
    is_made: bool
    """Whether it was made for a job; else it was there before."""
    is_persistent: bool
    state: str
    updated: str


def volume_errors(data: Any) -> Iterator[FieldError]:
    """What is wrong with a volume that is to be kept."""
    found = list(volume.file_errors(data))
    yield from found
    if found:
        return
    if not _NAME.fullmatch(data["name"]):
        yield invalid(("name",), data["name"], _NAME_RULE)
    kind = data["type"].lower()
    if kind.startswith("runpod"):
        yield forbidden(("type",), "there is no RunPod here")


def volume_view(record: VolumeRecord, used_by: list[str]) -> Json:
    """A volume as it is shown."""
    named = record.named
    return {
        "name": record.name,
        "type": named.type,
        "infra": named.place,
        "size": named.size,
        "hostPath": named.host_path,
        "accessMode": named.access_mode,
        "made": record.is_made,
        "created": record.created,
        "usedBy": used_by,
    }


def bucket_view(record: BucketRecord) -> Json:
    """A bucket as it is shown."""
    scheme, _, name = record.uri.partition("://")
    return {
        "name": name,
        "uri": record.uri,
        "store": {"s3": "S3", "gs": "GCS", "az": "AZURE", "r2": "R2"}.get(scheme, scheme),
        "job": record.job,
        "made": record.is_made,
        "persistent": record.is_persistent,
        "state": record.state,
        "updated": record.updated,
    }
