"""The calls of `sky.volumes`."""

from collections.abc import Sequence

from trainway.json_types import Json
from trainway.sdk.sky.requests import RequestId
from trainway.sdk.storage_rest import StorageRest


def apply(volume: Json) -> RequestId[Json]:
    """Name a volume, as its file has it, or change the one of its name."""
    return RequestId(StorageRest.connect().apply_volume(volume))


def ls() -> RequestId[list[Json]]:
    """All volumes, by name, with the jobs that use them."""
    return RequestId(StorageRest.connect().volumes())


def delete(names: Sequence[str]) -> RequestId[None]:
    """Forget volumes; what is in them stays."""
    rest = StorageRest.connect()
    for name in names:
        rest.delete_volume(name)
    return RequestId(None)
