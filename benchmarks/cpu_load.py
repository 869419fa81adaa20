"""How busy the machine was meanwhile: figures of a busy one say little."""

import json
import os
import time
from pathlib import Path
from typing import Final

from benchmarks.workbench import trainway

_TICKS: Final = os.sysconf("SC_CLK_TCK")


class Load:
    """The CPU time from now on: of the server, of this process and its children, and of all."""

    def __init__(self) -> None:
        self._server = int(json.loads(trainway("server", "status", "-o", "json"))["pid"])
        self._begun = time.monotonic()
        self._before = self._times()

    def text(self, times: int) -> str:
        """What was used, the first two for each of so many times."""
        server, own, everybody = (
            now - then for now, then in zip(self._times(), self._before, strict=True)
        )
        cores = len(os.sched_getaffinity(0))
        others = (everybody - server - own) / (time.monotonic() - self._begun) / cores * 100
        return (
            f"CPU of server {server / times:.2f} s, of browser {own / times:.2f} s;"
            f" others {max(0.0, others):.0f} % of {cores} cores"
        )

    def _times(self) -> tuple[float, float, float]:
        own = own_cpu_s(besides=self._server)
        words = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
        idle = int(words[3]) + int(words[4])
        busy = sum(map(int, words[:8])) - idle
        return _cpu_s(self._server), own, busy / _TICKS


def own_cpu_s(besides: int = 0) -> float:
    """What this process and all that it has started have used, but for one of them."""
    return sum(_cpu_s(pid) for pid in _tree(os.getpid()) if pid != besides)


def _tree(root: int) -> set[int]:
    """A process and all that it has started, and these have."""
    parents = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            fields = _fields(int(folder.name))
            if fields:
                parents[int(folder.name)] = int(fields[1])
    tree = {root}
    while more := {pid for pid, parent in parents.items() if parent in tree} - tree:
        tree |= more
    return tree


def _cpu_s(pid: int) -> float:
    """What a process has used, with those of its children that have ended."""
    fields = _fields(pid)
    return sum(map(int, fields[11:15])) / _TICKS if fields else 0.0


def _fields(pid: int) -> list[str]:
    """What follows the name in /proc/PID/stat; empty: it has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []
