"""Which place a job has in its queue, where Kueue serves its visibility API."""

from typing import Any, Final

from trainway.kube.client import Client
from trainway.kube.errors import ApiError

Json = dict[str, Any]

_VERSIONS: Final = ("v1beta2", "v1beta1")
_GROUP: Final = "visibility.kueue.x-k8s.io"


def path(version: str, namespace: str, queue: str) -> str:
    """Where the workloads are listed that wait in a LocalQueue."""
    place = f"namespaces/{namespace}/localqueues/{queue}/pendingworkloads"
    return f"/apis/{_GROUP}/{version}/{place}?limit=1000"


def position_in(answer: Json, name: str) -> int | None:
    """The position of a Workload, from 1 on; None: it does not wait there."""
    for item in answer.get("items") or ():
        if item["metadata"]["name"] == name:
            return int(item.get("positionInLocalQueue") or 0) + 1
    return None


async def position(client: Client, workload: Json) -> int | None:
    """The position of a Workload in its queue; None where that cannot be known."""
    queue = (workload.get("spec") or {}).get("queueName")
    if not queue:
        return None
    metadata = workload["metadata"]
    for version in _VERSIONS:
        try:
            answer = await client.raw("GET", path(version, metadata["namespace"], queue))
        except ApiError:
            continue
        return position_in(answer, metadata["name"])
    return None
