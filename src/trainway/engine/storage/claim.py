"""The disk that a volume asks for, where it is not there already. Pure."""

import math
from typing import Final

from trainway.api.task.amounts import gigabytes
from trainway.backends.claims import Claim
from trainway.engine.storage.record import VolumeRecord
from trainway.families.builtin import PODS

_MIB: Final = 1024


def claim_of(record: VolumeRecord) -> Claim | None:
    """The claim that is made for a volume; None: it needs none, or uses one that is there."""
    data = record.data
    if not record.is_made:
        return None
    config = data.get("config") or {}
    return Claim(
        record.name,
        size=_size(data["size"]),
        access_mode=record.named.access_mode,
        namespace=str(config.get("namespace") or ""),
        storage_class=str(config.get("storage_class_name") or ""),
        labels={str(name): str(text) for name, text in (data.get("labels") or {}).items()},
    )


def place_of(record: VolumeRecord) -> str:
    """The backend that has the claim, by its name; without an infra that of the current context."""
    _, _, target = str(record.data.get("infra") or "").partition("/")
    return f"{PODS}/{target}".rstrip("/")


def _size(said: int | str) -> str:
    found = gigabytes(said)
    return f"{int(found)}Gi" if found == int(found) else f"{math.ceil(found * _MIB)}Mi"
