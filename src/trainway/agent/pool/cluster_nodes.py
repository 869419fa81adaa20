"""The nodes of a cluster as its hosts are: which are there, lost, or take no new pods. Pure."""

from __future__ import annotations

from trainway.agent.pool.lease import LOST, SILENT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from trainway.agent.pool.allocation import Allocation
    from trainway.agent.pool.placement import Placement
    from trainway.agent.supervisor.answers import ClusterNode

    HostOf = Callable[[str], Any]
    """Finds a host of the pool by its name; None: there is none."""

_ABSENT = {SILENT: "does not answer", LOST: "was lost"}


def nodes(allocation: Allocation, host_of: HostOf) -> list[ClusterNode]:
    """What whoever watches a cluster is told of its nodes; nothing while it has none."""
    held = allocation.placement
    if held is None:
        return []
    return [_node(held.hosts[key], held.names(key), host_of) for key in allocation.keys]


def _node(name: str, gpus: list[str], host_of: HostOf) -> ClusterNode:
    host = host_of(name)
    node: ClusterNode = {
        "host": name,
        "address": getattr(host, "address", "") or "",
        "gpus": gpus,
    }
    if getattr(host, "state", "") == LOST:
        node["lost"] = True
    if getattr(host, "notice", None):
        node["notice"] = dict(host.notice)
    return node


def unusable(held: Placement, host_of: HostOf) -> dict[str, str]:
    """The hosts of a cluster that take no new pods, and what is to be said of each.

    A gang that has lost a host would else begin again on the others alone.
    """
    found = {}
    for name in held.hosts.values():
        host = host_of(name)
        state = getattr(host, "state", "")
        if why := getattr(host, "drained", ""):
            found[name] = f"{name} is set aside: {why}"
        elif state in _ABSENT:
            found[name] = f"{name} {_ABSENT[state]}"
    return found
