"""The metadata of an object that belongs to a job: whoever deletes the job deletes it too."""

from typing import Any

from trainway.api.model import ObjectMeta


def owned_metadata(
    api_version: str, kind: str, owner: ObjectMeta, name: str, **more: Any
) -> dict[str, Any]:
    """Name, namespace and controlling owner; `more` stands between, where it is not empty."""
    reference: dict[str, Any] = {"apiVersion": api_version, "kind": kind, "name": owner.name}
    if owner.uid:
        reference["uid"] = owner.uid
    reference |= {"controller": True, "blockOwnerDeletion": True}
    metadata: dict[str, Any] = {"name": name}
    if owner.namespace:
        metadata["namespace"] = owner.namespace
    metadata |= {key: value for key, value in more.items() if value}
    return metadata | {"ownerReferences": [reference]}
