"""What a job used of its machines, as series beside those that its own code reports. Pure.

Their names begin with `system/`, so that they can be told apart: `system/cpu@node-0`,
`system/gpu1.power@node-0`. A job with so many GPUs that the series of each would be too many has
one for all GPUs of a node: `system/gpu.utilization@node-0`.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainway.engine.metrics.report import NAME_LIMIT, Report, seconds_of
from trainway.json_types import Json

PREFIX: Final = "system/"
SERIES_LIMIT: Final = 200
"""The most of these series that a job keeps, beside 200 of its own; further nodes have none."""
GPU_FIGURES: Final = ("utilization", "memory", "power", "temperature")
_ADDED_UP: Final = ("memory", "power")
"""Figures of several GPUs whose sum says something; the average of the others does."""
_OF_NODE: Final = ("cpu", "memory")
_GPU: Final = re.compile(rf"{PREFIX}gpu(?P<gpu>[^.@]*)\.(?P<figure>\w+)@(?P<node>.+)")


def is_system(name: str) -> bool:
    """Whether a series says what a job used."""
    return name.startswith(PREFIX)


def usage_report(record: Mapping[str, Any], nodes: Mapping[str, Json]) -> Report | None:
    """What a record of usage says, of those nodes of a job that there is room for."""
    moment = seconds_of(str(record.get("time") or ""))
    pods: Json = record.get("pods") or {}
    values: dict[str, float] = {}
    gpus = max((len(used.get("gpus") or {}) for used in pods.values()), default=0)
    is_detailed = len(nodes) * (len(_OF_NODE) + gpus * len(GPU_FIGURES)) <= SERIES_LIMIT
    for key, used in pods.items():
        if key in nodes:
            for name, value in _figures(used, is_detailed=is_detailed):
                values[_name(name, nodes[key])] = value
    return Report(moment, values) if values and moment is not None else None


def _figures(used: Json, *, is_detailed: bool) -> Iterator[tuple[str, float]]:
    for name in _OF_NODE:
        if name in used:
            yield name, float(used[name])
    gpus: Mapping[str, Json] = used.get("gpus") or {}
    for name in GPU_FIGURES:
        known = {index: float(found[name]) for index, found in gpus.items() if name in found}
        if is_detailed:
            yield from ((f"gpu{index}.{name}", value) for index, value in known.items())
        elif known:
            total = sum(known.values())
            yield f"gpu.{name}", total if name in _ADDED_UP else total / len(known)


def gpu_figure(name: str) -> tuple[str, str, str] | None:
    """The GPU, the figure and the node of a series; an empty GPU: all of the node. None: others."""
    found = _GPU.fullmatch(name)
    return None if found is None else (found["gpu"], found["figure"], found["node"])


def node_name(node: Json) -> str:
    """What a node is called in the names of series, if that is not too long."""
    of_job = f"{node['job']}-" if node.get("job") else ""
    return f"{node['role']}-{of_job}{node['rank']}"


def _name(figure: str, node: Json) -> str:
    """The end of a node's name tells it from others, so that this is what stays of a long one."""
    start = f"{PREFIX}{figure}@"
    return start + node_name(node)[-(NAME_LIMIT - len(start)) :]
