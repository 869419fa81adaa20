"""Nodes that take no new pods: what `kubectl cordon` does.

Imports the client, and is itself imported only when a cluster is used.
"""

from trainway.backends.kubernetes.api_failure import worded
from trainway.errors import NotFoundError
from trainway.json_types import Json
from trainway.kube import resources
from trainway.kube.client import Client
from trainway.kube.errors import ObjectNotFound


def cordon_patch(*, is_cordoned: bool) -> Json:
    """The change of a node."""
    return {"spec": {"unschedulable": True if is_cordoned else None}}


async def cordon(client: Client, context: str, node: str, *, is_cordoned: bool) -> None:
    """Have the scheduler leave a node alone, or not any more."""
    with worded(context):
        try:
            await client.patch(resources.NODES, node, "", cordon_patch(is_cordoned=is_cordoned))
        except ObjectNotFound:
            raise NotFoundError(f"the cluster of context {context} has no node {node}") from None
