"""Who waits in the queues of Kueue, in which order and why.

Kueue serves the order itself where its visibility API is there. Where it is not, Workloads are
put in the order that a ClusterQueue has by default.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from trainway.backends.kubernetes.queues import read_queues
from trainway.backends.kubernetes.session import readable
from trainway.backends.kubernetes.waiting import why_pending
from trainway.backends.queues import Queue, QueueState, Waiter
from trainway.json_types import Json
from trainway.kube import resources
from trainway.kube.client import Client
from trainway.kube.queue_position import QueuePositions, rank

Positions = Mapping[str, int]
"""The positions of Workloads in one queue by their names."""


async def read_states(client: Client, namespace: str) -> list[QueueState]:
    """The queues of a namespace as they are now; none where there is no Kueue."""
    queues = await read_queues(client, namespace)
    if not queues:
        return []
    workloads = await readable(client, resources.WORKLOADS, namespace)
    asked = QueuePositions(client)
    found = {
        queue.name: await asked.of_queue(queue.namespace, queue.name)
        for queue in queues
        if queue.pending
    }
    return states_of(queues, workloads, found)


def states_of(
    queues: Iterable[Queue], workloads: Iterable[Json], positions: Mapping[str, Positions]
) -> list[QueueState]:
    """Each queue with the Workloads that it has not admitted. Pure."""
    pending: dict[str, list[tuple[Json, str]]] = {}
    for workload in workloads:
        why = why_pending(workload)
        queue = str((workload.get("spec") or {}).get("queueName") or "")
        if why is not None and queue:
            pending.setdefault(queue, []).append((workload, why))
    return [
        QueueState(queue, _waiting(pending.get(queue.name, []), positions.get(queue.name, {})))
        for queue in queues
    ]


def _waiting(found: list[tuple[Json, str]], positions: Positions) -> tuple[Waiter, ...]:
    ordered = sorted(found, key=lambda item: _order(item[0], positions))
    return tuple(
        _waiter(workload, place, why) for place, (workload, why) in enumerate(ordered, start=1)
    )


def _order(workload: Json, positions: Positions) -> tuple[Any, ...]:
    """Those first whose position Kueue tells; it has none for those that it does not consider.

    Those that were deactivated are passed by, so they come last and take nobody's place.
    """
    place = positions.get(str(workload["metadata"]["name"]))
    is_out = (workload.get("spec") or {}).get("active") is False
    return (is_out, place is None, place or 0, *rank(workload))


def _waiter(workload: Json, place: int, why: str) -> Waiter:
    metadata = workload["metadata"]
    owners = metadata.get("ownerReferences") or ()
    owner: Json = next((each for each in owners if each.get("controller")), next(iter(owners), {}))
    return Waiter(
        name=str(metadata["name"]),
        position=place,
        reason=why,
        since=str(metadata.get("creationTimestamp") or ""),
        priority=_priority(workload),
        owner=f"{owner['kind']} {owner['name']}" if owner else "",
        top=str(owner.get("name") or ""),
    )


def _priority(workload: Json) -> int:
    return int((workload.get("spec") or {}).get("priority") or 0)
