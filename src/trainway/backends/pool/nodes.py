"""The hosts of a pool as nodes, as its agent or the hosts themselves say. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

from trainway.backends.base import Capacity, Check
from trainway.backends.nodes import Node
from trainway.backends.pool.capacity import pool_of
from trainway.backends.pools import Pool
from trainway.json_types import Json

_UP: Final = "up"
_CONNECTING: Final = "connecting"
_UNREACHED: Final = "not reached"


def of_agent(hosts: Iterable[Mapping[str, Any]]) -> list[Node]:
    """Hosts as the pool agent's `status` has them; one that is new has nothing yet."""
    return [
        _drained(
            _node(pool_of(host), str(host["state"]), _problem(host)),
            {"why": host.get("drained"), **(host.get("drainTerms") or {})},
        )
        for host in hosts
    ]


def with_drained(nodes: Iterable[Node], drained: Mapping[str, Json], now: datetime) -> list[Node]:
    """The nodes, with why some are set aside; those whose time is up are not any more."""
    found = []
    for node in nodes:
        aside = _drained(node, drained.get(node.name, {}))
        if aside.drained_until is not None and aside.drained_until <= now:
            aside = node
        found.append(replace(aside, problem=node.problem or _set_aside(aside.drained)))
    return found


def _drained(node: Node, terms: Mapping[str, Any]) -> Node:
    return replace(
        node,
        drained=str(terms.get("why") or ""),
        drained_by=str(terms.get("by") or ""),
        drained_since=_moment(terms.get("since")),
        drained_until=_moment(terms.get("until")),
    )


def _moment(seconds: float | None) -> datetime | None:
    return datetime.fromtimestamp(seconds, UTC) if seconds else None


def of_survey(hosts: Iterable[Json], checks: Iterable[Check], capacity: Capacity) -> list[Node]:
    """Hosts as they reported themselves, where no agent runs."""
    pools = {pool.name: pool for pool in capacity.pools}
    wrong = {check.name: check for check in checks if not check.ok}
    found = []
    for host in hosts:
        name = str(host["name"])
        pool = pools.get(name)
        check = wrong.get(f"host {name}")
        problem = _sentence(check.detail, check.fix) if check else ""
        found.append(_node(pool or Pool(name, 1), _UP if pool else _UNREACHED, problem))
    return found


def _node(pool: Pool, state: str, problem: str) -> Node:
    return Node(
        pool.name,
        state,
        problem,
        cpus=pool.cpus,
        free_cpus=pool.free_cpus,
        memory=pool.memory,
        free_memory=pool.free_memory,
        gpus=sum(pool.gpus.values()),
        free_gpus=sum(pool.free_gpus.values()),
    )


def _problem(host: Mapping[str, Any]) -> str:
    if host.get("message"):
        return _sentence(str(host["message"]), str(host.get("hint") or ""))
    if host.get("retired"):
        return "it is no longer configured, and stays until its jobs have ended"
    if host["state"] not in (_UP, _CONNECTING):
        return f"it is {host['state']}"
    return _set_aside(str(host.get("drained") or ""))


def _set_aside(why: str) -> str:
    return f"it is set aside: {why}" if why else ""


def _sentence(message: str, hint: str) -> str:
    return f"{message} ({hint})" if hint else message
