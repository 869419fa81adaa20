"""SkyPilot's calls for buckets: `sky.storage_ls` and `sky.storage_delete`."""

from trainway.json_types import Json
from trainway.sdk.buckets import chosen, delete
from trainway.sdk.sky.requests import RequestId
from trainway.sdk.storage_rest import StorageRest


def storage_ls() -> RequestId[list[Json]]:
    """The buckets that tasks have named; fields as `trainway storage ls -o json` has them."""
    return RequestId(StorageRest.connect().buckets())


def storage_delete(name: str) -> RequestId[None]:
    """Remove a bucket with everything in it; one that was there before is only forgotten."""
    rest = StorageRest.connect()
    (bucket,) = chosen(rest.buckets(), [name])
    delete(rest, bucket)
    return RequestId(None)
