"""What a node uses of its machine, as people read it: `98 %`, `1.2 GiB`. Pure."""

from collections.abc import Mapping
from typing import Final

from trainway.json_types import Json

_UNITS: Final = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_WHOLE: Final = ("B", "KiB")
_STEP: Final = 1024
_MANY: Final = 100


def size(number: float) -> str:
    """Bytes with three digits or so."""
    unit = 0
    while number >= _STEP and unit < len(_UNITS) - 1:
        number /= _STEP
        unit += 1
    digits = 1 if _UNITS[unit] not in _WHOLE and number < _MANY else 0
    return f"{number:.{digits}f} {_UNITS[unit]}"


def node_usage(node: Json) -> dict[str, str]:
    """The cells of a node; those of the moment are empty unless it runs."""
    used: Json = node.get("usage") or {}
    is_running = node.get("phase") == "Running"
    now = used if is_running else {}
    gpus: Mapping[str, Json] = now.get("gpus") or {}
    return {
        "CPU": _percent(now.get("cpu")),
        "MEMORY": size(now["memory"]) if "memory" in now else "",
        "PEAK": size(used["peakMemory"]) if used.get("peakMemory") else "",
        "GPU": ", ".join(_percent(gpu.get("utilization")) or "?" for gpu in gpus.values()),
        "GPU-MEMORY": ", ".join(_gpu_memory(gpu) for gpu in gpus.values()),
    }


def usage_line(node: Json) -> str:
    """`CPU 98 %, 1.2 GiB, GPU 97 % of 80 GiB`; empty unless it is known."""
    cells = node_usage(node)
    parts = [f"CPU {cells['CPU']}"] if cells["CPU"] else []
    parts += [cells["MEMORY"]] if cells["MEMORY"] else []
    parts += [f"GPU {cells['GPU']}"] if cells["GPU"] else []
    parts += [cells["GPU-MEMORY"]] if cells["GPU-MEMORY"] else []
    return ", ".join(parts)


def _percent(value: float | None) -> str:
    return "" if value is None else f"{value:.0f} %"


def _gpu_memory(gpu: Json) -> str:
    if "memory" not in gpu:
        return "?"
    of_all = f" of {size(gpu['memoryTotal'])}" if gpu.get("memoryTotal") else ""
    return f"{size(gpu['memory'])}{of_all}"
