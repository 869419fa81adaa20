"""The bucket that a job names for its checkpoints. Pure but for what is installed."""

from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from typing import Any, Final, Protocol

from trainway.data.uri import OBJECT_STORES, Location, parse
from trainway.errors import UsageError
from trainway.jobset.labels import CHECKPOINT
from trainway.json_types import Json
from trainway.schema.field import FieldError, invalid

NOTE: Final = "checkpoint.json"
"""What is known of the mirror of a job's output, in a file beside the output."""


class Owner(Protocol):
    """What counts of the record of a job."""

    @property
    def name(self) -> str:
        """Its name."""
        ...

    @property
    def run(self) -> str | None:
        """The run that it belongs to."""
        ...


def checkpoint_of(job: Mapping[str, Any]) -> str:
    """The URI that a job names; empty: it names none."""
    metadata = job.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, Mapping) else None
    value = annotations.get(CHECKPOINT) if isinstance(annotations, Mapping) else None
    return value if isinstance(value, str) else ""


def location_of(objects: Iterable[Json], record: Owner) -> Location | None:
    """Where the job among these objects has its checkpoints, which has been checked.

    Jobs of a run name one folder together, and each of them has a folder of its own in it.
    """
    named = next(filter(None, map(checkpoint_of, objects)), "")
    if named and record.run:
        return parse(f"{named.removesuffix('/')}/{record.name}")
    return parse(named) if named else None


def checkpoint_errors(job: Mapping[str, Any]) -> list[FieldError]:
    """What is wrong with the annotation, or why it cannot be followed."""
    uri = checkpoint_of(job)
    problem = _problem(uri) if uri else ""
    path = ("metadata", "annotations", (CHECKPOINT,))
    return [invalid(path, uri[:200], problem)] if problem else []


def _problem(uri: str) -> str:
    try:
        location = parse(uri)
    except UsageError as error:
        return error.sentence
    if location.scheme not in OBJECT_STORES:
        known = ", ".join(f"{scheme}://" for scheme in OBJECT_STORES)
        return f"must be in a bucket: {known}"
    if not location.key:
        return f"must name a folder of the bucket, such as {uri.rstrip('/')}/run-1"
    if find_spec("obstore") is None:
        return "the server has no obstore, which buckets need: pip install 'trainway[data]'"
    return ""
