"""Which place a job has in its queue: as Kueue's visibility API says, or as Kueue would count.

Many clusters do not serve that API. Whoever may read the Workloads of a namespace can put them in
order as Kueue does: by priority, then by age.
"""

from collections.abc import Iterable
from typing import Final

from trainway.json_types import Json
from trainway.kube.client import Client
from trainway.kube.errors import ApiError, ObjectNotFound

_VERSIONS: Final = ("v1beta2", "v1beta1")
_GROUP: Final = "visibility.kueue.x-k8s.io"


def path(version: str, namespace: str, queue: str) -> str:
    """Where the workloads are listed that wait in a LocalQueue."""
    place = f"namespaces/{namespace}/localqueues/{queue}/pendingworkloads"
    return f"/apis/{_GROUP}/{version}/{place}?limit=1000"


def positions_in(answer: Json) -> dict[str, int]:
    """The positions of all Workloads that wait there, from 1 on."""
    items = answer.get("items") or ()
    return {
        str(item["metadata"]["name"]): int(item.get("positionInLocalQueue") or 0) + 1
        for item in items
    }


def position_in(answer: Json, name: str) -> int | None:
    """The position of a Workload, from 1 on; None: it does not wait there."""
    return positions_in(answer).get(name)


def position_among(workloads: Iterable[Json], name: str) -> int | None:
    """The position of a Workload among those of its namespace; None: it does not wait."""
    waiting = [each for each in workloads if _waits(each)]
    mine = next((each for each in waiting if each["metadata"]["name"] == name), None)
    if mine is None:
        return None
    queue = mine["spec"].get("queueName")
    beside = [each for each in waiting if each["spec"].get("queueName") == queue]
    return sorted(beside, key=rank).index(mine) + 1


def _waits(workload: Json) -> bool:
    conditions = (workload.get("status") or {}).get("conditions") or ()
    held = any(
        each.get("type") in ("QuotaReserved", "Finished") and each.get("status") == "True"
        for each in conditions
    )
    return workload["spec"].get("active") is not False and not held


def rank(workload: Json) -> tuple[int, str, str]:
    """What comes first in a queue; a gang that never got ready waits from its eviction on."""
    metadata = workload["metadata"]
    since = str(metadata.get("creationTimestamp") or "")
    for each in (workload.get("status") or {}).get("conditions") or ():
        told = (each.get("type"), each.get("status"), each.get("reason"))
        if told == ("Evicted", "True", "PodsReadyTimeout"):
            since = str(each.get("lastTransitionTime") or since)
    return -int(workload["spec"].get("priority") or 0), since, str(metadata.get("uid") or "")


class QueuePositions:
    """Asks a cluster for positions, if it is one that tells them."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._version: str | None = None

    async def of(self, workload: Json) -> int | None:
        """The position of a Workload in its queue; None where that cannot be known."""
        queue = (workload.get("spec") or {}).get("queueName")
        if not queue:
            return None
        metadata = workload["metadata"]
        return (await self.of_queue(metadata["namespace"], queue)).get(metadata["name"])

    async def of_queue(self, namespace: str, queue: str) -> dict[str, int]:
        """The positions of all Workloads of a LocalQueue; none where they cannot be known."""
        try:
            if self._version is None:
                self._version = await self._served()
            if not self._version:
                return {}
            answer = await self._client.raw("GET", path(self._version, namespace, queue))
        except ApiError:
            return {}
        return positions_in(answer)

    async def _served(self) -> str:
        """The newest version of the visibility API that the cluster has; empty: none."""
        for version in _VERSIONS:
            try:
                await self._client.raw("GET", f"/apis/{_GROUP}/{version}")
            except ObjectNotFound:
                continue
            return version
        return ""
