"""How much memory there was for a container that ran out of it, and how much it took."""

from __future__ import annotations

import os

from trainway.agent.base.kernel_files import read_text
from trainway.agent.kubelet.oom_counter import GROUPS, OWN_GROUPS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB")
_STEP = 1024.0


def number_in(path: str) -> int:
    """The number in a file of a control group; 0: there is none, or no limit."""
    text = read_text(path).strip()
    return int(text) if text.isdigit() else 0


def outer_limit(own_groups: str = OWN_GROUPS, groups: str = GROUPS) -> int:
    """The bytes that this process and all it starts may have, by its groups or the machine."""
    machine: int = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    limits = [number_in(path) for path in _limit_files(read_text(own_groups), groups)]
    return min([machine, *(limit for limit in limits if limit)])


def _limit_files(own_groups: str, groups: str) -> Iterator[str]:
    """Those of the group and of all above it, of either version."""
    for line in own_groups.splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        root, name = (
            (f"{groups}/memory", "memory.limit_in_bytes") if controllers else (groups, "memory.max")
        )
        while True:
            yield f"{root}{path.rstrip('/')}/{name}"
            if path in ("", "/"):
                break
            path = os.path.dirname(path)


def figures(peak: int, limit: int) -> str:
    """`its peak was 1.9 GiB and its limit is 2.0 GiB`, as far as that is known."""
    said = [f"its peak was {size_text(peak)}"] if peak else []
    said += [f"its limit is {size_text(limit)}"] if limit else []
    return " and ".join(said)


def size_text(number: float) -> str:
    """`1.9 GiB`, `500 bytes`."""
    unit = 0
    while number >= _STEP and unit < len(_UNITS) - 1:
        number /= _STEP
        unit += 1
    return f"{number:.1f} {_UNITS[unit]}" if unit else f"{number:.0f} bytes"
