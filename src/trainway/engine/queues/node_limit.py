"""How many nodes an elastic job may have, once it had to give up some for another job.

The limit is in its record before its agent is told, and is told again by every server until the
agent has written it down: so a server that is killed at any moment is followed by one that does the
rest. What the job holds is its demand, which becomes smaller only when the processes of those nodes
are gone, and larger before it is told that it may have more. Pure.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any, Final

from trainway.backends.demand import Demand, with_nodes
from trainway.engine.observation import Observation
from trainway.engine.record import JobRecord

GROWING: Final = "Growing"
"""What happens to a job that gets back nodes."""
_OVER: Final = ("Succeeded", "Failed")


@dataclass(frozen=True)
class NodeLimit:
    """The most nodes that a job may have, for whom it does with these, and since when."""

    most: int
    job: str = ""
    name: str = ""
    time: str = ""


@lru_cache(10_000)
def _read(text: str) -> NodeLimit:
    return NodeLimit(**json.loads(text))


def node_limit(record: JobRecord) -> NodeLimit | None:
    """That of a job; None: nobody has ever asked it for a node."""
    return _read(record.node_limit) if record.node_limit else None


def limited(nodes: int, job: str = "", name: str = "", time: str = "") -> dict[str, Any]:
    """The columns of a job that is told, at a time, to do with so many nodes for another job."""
    return {"node_limit": json.dumps(asdict(NodeLimit(nodes, job, name, time)))}


def grown(demand: Demand, nodes: int) -> dict[str, Any]:
    """The columns of a job that may have more nodes again, which are its own from now on."""
    return {**limited(nodes), "demand": with_nodes(demand, nodes).to_dict()}


def given_up(record: JobRecord, demand: Demand, observed: Observation) -> dict[str, Any]:
    """The columns of a job whose agent has ended the nodes that it was to give up."""
    limit, elastic = node_limit(record), demand.elastic
    if limit is None or elastic is None or limit.most >= elastic.nodes:
        return {}
    if observed.most_nodes != limit.most:
        return {}
    left = sum(_is_there(node, elastic.role) for node in observed.nodes.values())
    return {"demand": with_nodes(demand, limit.most).to_dict()} if left <= limit.most else {}


def _is_there(node: Mapping[str, Any], role: str) -> bool:
    """Whether a pod of the role may have processes."""
    is_begun = node["phase"] == "Running" or bool(node.get("stopped"))
    return node["role"] == role and is_begun and node["phase"] not in _OVER


def is_giving(record: JobRecord, demand: Demand) -> bool:
    """Whether it still holds nodes that it is to give up."""
    limit = node_limit(record)
    return limit is not None and demand.elastic is not None and limit.most < demand.elastic.nodes
