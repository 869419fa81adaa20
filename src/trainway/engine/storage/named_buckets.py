"""The buckets that the tasks of a job name: they were made for it if there were none."""

from collections.abc import Iterable
from dataclasses import dataclass

from trainway.api.task import task_object
from trainway.api.task.storage_mount import bucket_error, storage_mounts
from trainway.json_types import Json


@dataclass(frozen=True)
class NamedBucket:
    """One of them."""

    is_made: bool
    """Whether it was made when the job was submitted."""
    is_persistent: bool
    """Whether it is to stay when the job has ended."""


def named_buckets(objects: Iterable[Json]) -> dict[str, NamedBucket]:
    """All of them, by URI."""
    found: dict[str, NamedBucket] = {}
    for obj in objects:
        if obj.get("kind") != task_object.KIND or not obj.get("buckets"):
            continue
        told = obj["buckets"].get("made") if isinstance(obj["buckets"], dict) else ()
        made = told if isinstance(told, list) else ()
        job, _ = task_object.read(obj)
        for task in job.file.tasks if job else ():
            for mount in storage_mounts(task.file_mounts):
                uri, name = mount.bucket, mount.bucket.partition("://")[2]
                if mount.is_named and mount.scheme and not bucket_error(name):
                    stays = mount.is_persistent or (uri in found and found[uri].is_persistent)
                    found[uri] = NamedBucket(uri in made, stays)
    return found


def keys_of(objects: Iterable[Json]) -> dict[str, str]:
    """The variables with which the tasks of a job reach their buckets."""
    found: dict[str, str] = {}
    known = list(objects)
    for obj in known:
        job, _ = task_object.read(obj) if obj.get("kind") == task_object.KIND else (None, [])
        names = {keys.secret for keys in job.storage} if job else set()
        for other in known:
            metadata = other.get("metadata") or {}
            if other.get("kind") == "Secret" and metadata.get("name") in names:
                found |= {key: str(value) for key, value in (other.get("stringData") or {}).items()}
    return found
