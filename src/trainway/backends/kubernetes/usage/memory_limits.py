"""What is said of a container that ran out of memory: its limit, and what it used. Pure."""

from collections.abc import Mapping
from typing import Any, Final

from trainway.agent.kubelet.memory_limit import figures, size_text
from trainway.jobset.quantity import InvalidQuantityError, Quantity
from trainway.json_types import Json

OOM_KILLED: Final = "OOMKilled"
_OUT_OF_MEMORY: Final = "it used more memory than it has"
_OVER: Final = ("Succeeded", "Failed")


def memory_limit(container: Mapping[str, Any]) -> Any:
    """The limit of a container, as its pod has it; None: it has none."""
    resources = container.get("resources") or {}
    return (resources.get("limits") or {}).get("memory")


def limits_of(spec: Mapping[str, Any]) -> dict[str, int]:
    """The bytes that the containers of a pod may have, as far as they have a limit, by name."""
    found = {}
    for container in (*(spec.get("initContainers") or ()), *(spec.get("containers") or ())):
        try:
            found[container["name"]] = Quantity.parse(memory_limit(container) or 0).ceil()
        except InvalidQuantityError:
            continue
    return found


def out_of_memory(limit: int) -> str:
    """`it used more memory than it has: its limit is 2.0 GiB`."""
    return f"{_OUT_OF_MEMORY}: {figures(0, limit)}" if limit else _OUT_OF_MEMORY


def with_highest_sample(record: Json, highest: int) -> Json:
    """The record of a pod, which says how much it was seen to use if it ended for memory.

    The last moments before that are in no sample, so that it is no peak.
    """
    is_over = record["phase"] in _OVER and record.get("reason") == OOM_KILLED
    if not is_over or not highest:
        return record
    joint = " and " if record["message"] != _OUT_OF_MEMORY else ": "
    seen = f"its highest sample was {size_text(highest)}"
    return record | {"message": f"{record['message']}{joint}{seen}"}
