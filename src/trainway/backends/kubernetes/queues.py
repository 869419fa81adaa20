"""The queues of Kueue: LocalQueues of a namespace, with the quota of their ClusterQueues."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from trainway.backends.kubernetes.session import readable
from trainway.backends.queues import Queue, Quota
from trainway.jobset.quantity import ZERO, Quantity
from trainway.jobset.status import conditions_of
from trainway.json_types import Json
from trainway.kube import resources
from trainway.kube.client import Client

_NO_CLUSTER_QUEUE: Final = "ClusterQueueDoesNotExist"
"""Its message says only that nothing can be submitted."""


async def read_queues(client: Client, namespace: str) -> list[Queue]:
    """What may be read of them; none where there is no Kueue."""
    local = await readable(client, resources.LOCAL_QUEUES, namespace)
    if not local:
        return []
    return queues_of(local, await readable(client, resources.CLUSTER_QUEUES))


def queues_of(local: Iterable[Json], cluster: Iterable[Json]) -> list[Queue]:
    """LocalQueues by name, each with the quota of its ClusterQueue. Pure."""
    known = {str(queue["metadata"]["name"]): queue for queue in cluster}
    found = [_queue(queue, known) for queue in local]
    return sorted(found, key=lambda queue: (queue.namespace, queue.name))


def _queue(queue: Json, known: Mapping[str, Json]) -> Queue:
    status = queue.get("status") or {}
    leads_to = str((queue.get("spec") or {}).get("clusterQueue") or "")
    return Queue(
        name=str(queue["metadata"]["name"]),
        namespace=str(queue["metadata"].get("namespace") or ""),
        cluster_queue=leads_to,
        pending=int(status.get("pendingWorkloads") or 0),
        admitted=int(status.get("admittedWorkloads") or 0),
        problem=_problem(queue, known.get(leads_to)),
        quotas=_quotas(known[leads_to]) if leads_to in known else (),
    )


def _problem(queue: Json, leads_to: Json | None) -> str:
    """Why it admits nothing: of a ClusterQueue that was stopped, Kueue says why only there."""
    told = (_inactivity(each) for each in (queue, leads_to) if each is not None)
    return ": ".join(dict.fromkeys(filter(None, told)))


def _inactivity(queue: Json) -> str:
    """Why its condition Active is false."""
    for condition in conditions_of(queue):
        if condition.get("type") == "Active" and condition.get("status") == "False":
            if condition.get("reason") == _NO_CLUSTER_QUEUE:
                return f"there is no ClusterQueue {(queue.get('spec') or {}).get('clusterQueue')}"
            return str(condition.get("message") or condition.get("reason") or "it is not active")
    return ""


def _quotas(queue: Json) -> tuple[Quota, ...]:
    used = {
        (flavor.get("name"), resource.get("name")): resource
        for flavor in (queue.get("status") or {}).get("flavorsUsage") or ()
        for resource in flavor.get("resources") or ()
    }
    return tuple(
        Quota(
            flavor=str(flavor.get("name")),
            resource=str(resource.get("name")),
            nominal=_amount(resource.get("nominalQuota")),
            used=_amount(_of(used, flavor, resource).get("total")),
            borrowed=_amount(_of(used, flavor, resource).get("borrowed")),
        )
        for group in (queue.get("spec") or {}).get("resourceGroups") or ()
        for flavor in group.get("flavors") or ()
        for resource in flavor.get("resources") or ()
    )


def _of(used: Mapping[tuple[Any, Any], Json], flavor: Json, resource: Json) -> Json:
    return used.get((flavor.get("name"), resource.get("name")), {})


def _amount(value: Any) -> Quantity:
    return ZERO if value is None else Quantity.parse(value)
