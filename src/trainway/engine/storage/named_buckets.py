"""The buckets that the tasks of a job name: they were made for it if there were none."""

from collections.abc import Iterable

from trainway.api.task import task_object
from trainway.api.task.storage_mount import storage_mounts
from trainway.json_types import Json


def named_buckets(objects: Iterable[Json]) -> dict[str, bool]:
    """Their URIs, and whether they are to stay when the job has ended."""
    found: dict[str, bool] = {}
    for obj in objects:
        if obj.get("kind") != task_object.KIND or not obj.get("buckets"):
            continue
        job, _ = task_object.read(obj)
        for task in job.file.tasks if job else ():
            for mount in storage_mounts(task.file_mounts):
                if mount.is_named:
                    uri = f"{mount.scheme}://{mount.place.partition('/')[0]}"
                    found[uri] = found.get(uri, False) or mount.is_persistent
    return found
