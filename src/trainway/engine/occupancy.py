"""Which jobs are on which node, and what they were last seen to do with its GPUs. Pure.

Backends know what is held of a node, but only jobs know how busy they keep their GPUs.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from trainway.engine.metrics.store import Summary
from trainway.engine.metrics.usage_series import gpu_figure, node_name
from trainway.engine.observation import NODES
from trainway.engine.record import JobRecord

_OVER: Final = ("Succeeded", "Failed")
_FIGURES: Final = ("utilization", "memory")


@dataclass
class Occupant:
    """What a job has on one node."""

    id: str
    name: str
    pods: int = 0
    gpus: dict[str, dict[str, float]] = field(default_factory=dict)
    """Utilization and memory of its GPUs by their index; of an empty one: of all of them."""


def occupants(
    records: Iterable[JobRecord], series: Mapping[str, Mapping[str, Summary]], alone: str = ""
) -> dict[str, list[Occupant]]:
    """The jobs of each node by its name; pods without one are on the node that is `alone`."""
    found: dict[str, dict[str, Occupant]] = {}
    for record in records:
        hosts: dict[str, str] = {}
        for node in (record.observed_data.get(NODES) or {}).values():
            host = str(node.get("host") or alone)
            if not host or node.get("phase") in _OVER:
                continue
            hosts[node_name(node)] = host
            new = Occupant(record.id, record.name)
            found.setdefault(host, {}).setdefault(record.id, new).pods += 1
        for name, summary in series.get(record.id, {}).items():
            figure = gpu_figure(name)
            if figure is not None and figure[1] in _FIGURES and figure[2] in hosts:
                gpus = found[hosts[figure[2]]][record.id].gpus
                gpus.setdefault(figure[0], {})[figure[1]] = summary.last
    return {host: list(jobs.values()) for host, jobs in found.items()}
