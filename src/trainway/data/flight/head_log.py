"""How a cache stands, as the log of its head says: for those who cannot ask the head itself.

A server sees the logs of all its jobs, but has no way to the ports of hosts behind a login node or
of pods. How many clients read is not in the log. Pure.
"""

import re
from collections.abc import Iterable
from typing import Any, Final

from trainway.data.flight.contract import HEAD_LISTENS

_READY: Final = re.compile(
    r"\bready: ([0-9]{1,18}) files, ([0-9]{1,18}) bytes, ([0-9]{1,18}) rows$"
)
_NOT_READY: Final = re.compile(r"\bnot ready any more: (.*)$")
_ERROR: Final = re.compile(r" ERROR (.*)$")
_LOADING: Final = "its workers are loading the table"


def told_in_log(lines: Iterable[str]) -> dict[str, Any] | None:
    """What the head said of itself last, as its `/status` would say it; None: nothing yet."""
    told: dict[str, Any] | None = None
    for line in lines:
        if found := HEAD_LISTENS.search(line):
            told = {"ready": False, "reason": _LOADING, "host": found[1]}
        elif found := _READY.search(line):
            files, size, rows = map(int, found.groups())
            now = {"ready": True, "reason": "", "files": files, "bytes": size, "rows": rows}
            told = {**(told or {}), **now}
        elif found := _NOT_READY.search(line) or _ERROR.search(line):
            told = {**(told or {}), "ready": False, "reason": found[1]}
    return told
