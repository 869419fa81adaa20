"""Taking a Workload out of its queue, and putting it back.

Kueue serves Workloads in two versions. In the older one its rules refuse every change of a Workload
that has its quota and names no priority class, so the newer one is tried first.
"""

from typing import Final

from trainway.json_types import Json
from trainway.kube.client import Client
from trainway.kube.errors import ObjectNotFound
from trainway.kube.resources import NEWER_WORKLOADS, WORKLOADS

_MANAGER: Final = "trainway"


async def set_active(client: Client, workload: Json, *, active: bool) -> None:
    """Let a Workload wait and run, or neither."""
    metadata = workload["metadata"]
    place = (metadata["name"], metadata["namespace"])
    change: Json = {"spec": {"active": active}}
    try:
        await client.patch(NEWER_WORKLOADS, *place, change, field_manager=_MANAGER)
    except ObjectNotFound:  # a Kueue before 0.15, or the Workload is gone
        await client.patch(WORKLOADS, *place, change, field_manager=_MANAGER)
