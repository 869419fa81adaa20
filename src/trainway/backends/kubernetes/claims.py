"""The PersistentVolumeClaims of volumes: those that we have made carry the name of the volume.

Imports the client, and is itself imported only when a cluster is used.
"""

from typing import Final

from trainway.backends.claims import Claim
from trainway.backends.kubernetes.api_failure import worded
from trainway.errors import ConflictError, InvalidError
from trainway.jobset.labels import VOLUME_NAME
from trainway.jobset.quantity import Quantity
from trainway.json_types import Json
from trainway.kube.client import Client
from trainway.kube.errors import AlreadyExists, ApiError, InvalidObject, ObjectNotFound
from trainway.kube.resources import PERSISTENT_VOLUME_CLAIMS as CLAIMS

_MANAGER: Final = "trainway"


def claim_object(claim: Claim, namespace: str) -> Json:
    """What is sent for a claim. Pure."""
    spec: Json = {
        "accessModes": [claim.access_mode],
        "resources": {"requests": {"storage": claim.size}},
    }
    if claim.storage_class:
        spec["storageClassName"] = claim.storage_class
    labels = {**claim.labels, VOLUME_NAME: claim.name}
    metadata = {"name": claim.name, "namespace": namespace, "labels": labels}
    return {
        "apiVersion": CLAIMS.api_version,
        "kind": CLAIMS.kind,
        "metadata": metadata,
        "spec": spec,
    }


def is_ours(found: Json, claim: Claim) -> bool:
    """Whether a claim was made for this volume. Pure."""
    return (found["metadata"].get("labels") or {}).get(VOLUME_NAME) == claim.name


def difference(found: Json, claim: Claim) -> str:
    """What of a claim cannot be changed and is another; empty: nothing. Pure."""
    spec = found.get("spec") or {}
    if spec.get("accessModes") != [claim.access_mode]:
        return f"its access mode is {', '.join(spec.get('accessModes') or ())}"
    own = spec.get("storageClassName") or ""
    if claim.storage_class and own != claim.storage_class:
        return f"its storage class is {own or 'none'}"
    if size_of(found) > Quantity.parse(claim.size):
        return f"it has {spec['resources']['requests']['storage']}, and cannot be made smaller"
    return ""


def size_of(found: Json) -> Quantity:
    """How much a claim asks for. Pure."""
    return Quantity.parse(found["spec"]["resources"]["requests"]["storage"])


async def make(client: Client, context: str, namespace: str, claim: Claim) -> None:
    """Have the claim in a namespace, as large as it should be."""
    with worded(context):
        try:
            await client.create(CLAIMS, claim_object(claim, namespace), field_manager=_MANAGER)
        except AlreadyExists:
            await _adjust(client, namespace, claim)
        except InvalidObject as error:
            raise InvalidError([error.message]) from None


async def _adjust(client: Client, namespace: str, claim: Claim) -> None:
    where = f"the claim {claim.name} of namespace {namespace}"
    found = await client.get(CLAIMS, claim.name, namespace)
    if not is_ours(found, claim):
        raise ConflictError(
            f"{where} is there already, and was not made by trainway volumes apply",
            hint="set use_existing: true to use it, or choose another name",
        )
    if "deletionTimestamp" in found["metadata"]:
        raise ConflictError(f"{where} is being removed", hint="try again when it is gone")
    if why := difference(found, claim):
        raise ConflictError(
            f"{where} cannot be changed: {why}",
            hint="delete the volume with trainway volumes delete, and apply it anew",
        )
    if size_of(found) < Quantity.parse(claim.size):
        larger = {"spec": {"resources": {"requests": {"storage": claim.size}}}}
        try:
            await client.patch(CLAIMS, claim.name, namespace, larger)
        except ApiError as error:
            raise ConflictError(f"{where} cannot be made larger: {error.message}") from None


async def remove(client: Client, context: str, namespace: str, claim: Claim) -> None:
    """Remove the claim, if it is ours; what uses it still keeps it until then."""
    with worded(context):
        try:
            found = await client.get(CLAIMS, claim.name, namespace)
            if is_ours(found, claim):
                await client.delete(CLAIMS, claim.name, namespace)
        except ObjectNotFound:
            return
