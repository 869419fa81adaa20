"""What a host is told to start a pod: who it is, what it may use, and where its peers are."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from trainway.agent.pool.gang_context import HostFacts
    from trainway.agent.pool.placement import Placement
    from trainway.agent.supervisor.remote_pod import RemotePod
    from trainway.agent.transfer.frames import Peer, StartPod


_NAME = re.compile(r"[A-Za-z0-9._-]+")
TOKEN_VARIABLE = "TRAINWAY_FENCING_TOKEN"  # noqa: S105 - the name of a variable


def start_frame(
    pod: RemotePod, placement: Placement, token: int, find: Callable[[str], HostFacts | None]
) -> StartPod:
    """The frame that starts a pod on its host."""
    identity = pod.identity
    hosts = {**placement.hosts, identity.key: pod.host}
    found = {name: find(name) for name in set(hosts.values())}
    own = found.get(pod.host)
    frame: StartPod = {
        "op": "start",
        "id": identity.plan.id,
        "token": token,
        "pod": identity.to_json(),
        "devices": dict(placement.devices.get(pod.place) or {}),
        "addresses": {key: _address(found.get(name)) for key, name in hosts.items()},
        "machines": _machines([host for host in found.values() if host is not None]),
        "env": {**(own.env if own is not None else {}), TOKEN_VARIABLE: str(token)},
    }
    if identity.plan.mpi:
        frame["peers"] = {key: _peer(name, found.get(name)) for key, name in hosts.items()}
    return frame


def _machines(hosts: Sequence[HostFacts]) -> dict[str, str]:
    """The addresses of hosts by the names that they have for themselves, where these differ."""
    found: dict[str, list[str]] = {}
    for host in hosts:
        found.setdefault(str(host.facts.get("name") or ""), []).append(host.address)
    return {
        name: addresses[0]
        for name, addresses in found.items()
        if _NAME.fullmatch(name) and name != "localhost" and len(addresses) == 1 and addresses[0]
    }


def _address(host: HostFacts | None) -> str:
    return "" if host is None else host.address


def _peer(name: str, host: HostFacts | None) -> Peer:
    if host is None:
        return {"host": name}
    if host.join:
        return {"host": name, "address": host.address, "join": host.join}
    return {
        "host": name,
        "address": host.address,
        "port": host.port,
        "user": str(host.facts.get("user") or ""),
        "host_keys": list(host.facts.get("host_keys") or []),
    }
