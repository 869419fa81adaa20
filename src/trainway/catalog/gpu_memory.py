"""How much memory an accelerator has, for those who ask for `80GB+` instead of a name. Pure.

Catalogs are of little help: some give the memory of all GPUs together, some of a part of one, some
GiB for MiB. So what is known by name counts first.
"""

import re
from collections.abc import Mapping
from typing import Final

_GIB: Final[Mapping[str, float]] = {
    "a10": 24, "a100": 40, "a10g": 24, "a16": 16, "a30": 24, "a40": 48, "a4000": 16, "a5000": 24,
    "a6000": 48, "b200": 180, "b300": 270, "gaudi2": 96, "gh200": 96, "h100": 80, "h100-mega": 80,
    "h100-nvl": 94, "h200": 141, "k80": 12, "l4": 24, "l40": 48, "l40s": 48, "m4000": 8, "m60": 8,
    "mi300x": 192, "p100": 16, "p4": 8, "p4000": 8, "rtx3060": 12, "rtx3090": 24, "rtx4090": 24,
    "rtx5090": 32, "t4": 16, "t4g": 16, "v100": 16,
}  # fmt: skip
_IN_NAME: Final = re.compile(r"[- ]([0-9]+)GB?\b")
_IN_INFO: Final = re.compile(r"'SizeInMiB': ([0-9]+)")
_MEBIBYTES: Final = 1024


def accelerator_gib(name: str, info: str) -> float:
    """The memory of one accelerator of that name; 0: nobody says."""
    known = _GIB.get(name.lower())
    if known is not None:
        return known
    found = _IN_NAME.search(name)
    if found is not None:
        return float(found[1])
    found = _IN_INFO.search(info)
    if found is None:
        return 0
    size = float(found[1])
    return size if size < _MEBIBYTES else float(round(size / _MEBIBYTES))
