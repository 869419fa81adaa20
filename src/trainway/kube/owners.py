"""Owner references: which object another belongs to, and goes away with."""

from collections.abc import Mapping
from typing import Any

from trainway.json_types import Json


def owner_reference(obj: Mapping[str, Any], controller: bool = True) -> Json:
    """What a child carries to belong to the object."""
    metadata = obj["metadata"]
    reference: Json = {
        "apiVersion": obj["apiVersion"],
        "kind": obj["kind"],
        "name": metadata["name"],
        "uid": metadata["uid"],
    }
    if controller:
        reference |= {"controller": True, "blockOwnerDeletion": True}
    return reference


def controller_of(obj: Mapping[str, Any]) -> Json | None:
    """The reference to the one owner that controls the object."""
    references: list[Json] = (obj.get("metadata") or {}).get("ownerReferences") or []
    return next((reference for reference in references if reference.get("controller")), None)


def is_controlled_by(obj: Mapping[str, Any], uid: str) -> bool:
    """Whether the owner with this uid controls the object."""
    reference = controller_of(obj)
    return reference is not None and reference.get("uid") == uid
