"""Durations as Kubernetes writes them: `15s`, `1m30s`, `500ms`."""

import re
from typing import Final

_UNIT_S: Final = {
    "ns": 1e-9,
    "us": 1e-6,
    "\u00b5s": 1e-6,
    "\u03bcs": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "m": 60.0,
    "h": 3600.0,
}
_PART: Final = re.compile(r"(\d+\.?\d*|\.\d+)(ns|us|\u00b5s|\u03bcs|ms|s|m|h)", re.ASCII)


def parse_duration(text: str) -> float | None:
    """The seconds of a duration; None if it is none."""
    sign, rest = (-1, text[1:]) if text[:1] == "-" else (1, text.removeprefix("+"))
    if rest == "0":
        return 0.0
    seconds, end = 0.0, 0
    while end < len(rest):
        part = _PART.match(rest, end)
        if part is None:
            return None
        seconds += float(part[1]) * _UNIT_S[part[2]]
        end = part.end()
    return sign * seconds if rest else None
