"""The buckets that tasks have named: listed by the server, removed by whoever owns them."""

from collections.abc import Sequence

from trainway.errors import NotFoundError
from trainway.json_types import Json
from trainway.schema.validation import closest
from trainway.sdk.storage_rest import StorageRest


def chosen(known: Sequence[Json], names: Sequence[str]) -> list[Json]:
    """The buckets of these names, or URIs; all of them must be known."""
    found = []
    for name in names:
        match = [each for each in known if name in (each["name"], each["uri"])]
        if not match:
            meant = closest(name, [str(each["name"]) for each in known])
            hint = f"did you mean {meant}?" if meant else "trainway storage ls lists them"
            raise NotFoundError(f"no task has named a bucket {name}", hint=hint)
        found += match
    return found


def delete(rest: StorageRest, bucket: Json) -> bool:
    """Remove a bucket with all that is in it, with our own credentials; it may be gone already.

    One that was there before any job is only forgotten; False says so.
    """
    from trainway.data.bucket_removal import remove_all  # noqa: PLC0415 - only to remove

    if bucket["made"]:
        remove_all(str(bucket["uri"]))
    rest.forget_bucket(str(bucket["uri"]))
    return bool(bucket["made"])
