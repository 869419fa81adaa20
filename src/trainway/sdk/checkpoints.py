"""`checkpoint`: the folder of a bucket that a job's output is mirrored to. Pure."""

from collections.abc import Sequence
from typing import Final

from trainway.data.uri import OBJECT_STORES, parse
from trainway.errors import UsageError
from trainway.jobset.labels import CHECKPOINT
from trainway.json_types import Json
from trainway.sdk.manifests import JOB_KINDS

_KINDS: Final = (*JOB_KINDS, "Task")


def with_checkpoint(objects: Sequence[Json], uri: str | None) -> list[Json]:
    """The objects, with the folder on the job among them; None: as they are."""
    if uri is None:
        return list(objects)
    location = parse(uri)
    if location.scheme not in OBJECT_STORES or not location.key:
        raise UsageError(
            f"{uri} is not a folder of a bucket", field="checkpoint", hint="write s3://BUCKET/RUN"
        )
    return [_with(obj, uri) if obj.get("kind") in _KINDS else obj for obj in objects]


def _with(obj: Json, uri: str) -> Json:
    metadata = obj.get("metadata")
    given = metadata if isinstance(metadata, dict) else {}
    known = given.get("annotations") if isinstance(given.get("annotations"), dict) else {}
    return {**obj, "metadata": {**given, "annotations": {**(known or {}), CHECKPOINT: uri}}}
