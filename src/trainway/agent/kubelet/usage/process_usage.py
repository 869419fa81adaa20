"""What processes use of CPU and memory, by the pod that they belong to, as /proc has it.

One look at all processes serves all pods. To a pod belong the processes of its containers, all that
these have started, and orphans with its mark in their environment. Children that have ended count
with the CPU time that their parent knows of them.
"""

from __future__ import annotations

import os

from trainway.agent.kubelet.process_tree import CONTAINER_MARK, all_pids, read_file, stat_fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")
_PARENT, _TIMES, _STARTED = 1, slice(11, 15), 19
"""Where /proc/PID/stat has them, from the state on; the times are those of the process and of its
children that ended, in user and in system mode."""


class Used:
    """What the processes of a pod use."""

    def __init__(self, cpu_seconds: float, memory: int, pids: Collection[int] = ()) -> None:
        self.cpu_seconds = cpu_seconds
        """Since they started."""
        self.memory = memory
        """Bytes that they hold now."""
        self.pids = pids
        """Which they are."""


class ProcessUsage:
    """Looks at the processes of a machine; what the environment of one says is read once."""

    def __init__(self, *, finds_foreign: bool = False) -> None:
        self._finds_foreign = finds_foreign
        """Whether others than this process start some, as the daemon of a container tool does."""
        self._marks: dict[tuple[int, bytes], str] = {}
        """The pod's uid that the environment of an adopted process names, by number and start."""

    def of_pods(self, roots: Mapping[str, Collection[int]]) -> dict[str, Used]:
        """What each pod uses; `roots` are the first processes of its containers, by its uid."""
        found = ((pid, stat_fields(pid)) for pid in all_pids())
        stats = {pid: fields for pid, fields in found if len(fields) > _STARTED}
        below: dict[int, list[int]] = {}
        for pid, fields in stats.items():
            below.setdefault(int(fields[_PARENT]), []).append(pid)
        pods = {uid: set(_tree(pids, below)) for uid, pids in roots.items()}
        known = set().union(*pods.values())
        for pid, uid in self._marked(stats, known):
            if uid in pods:
                pods[uid].update(_tree([pid], below))
        return {uid: _used(pids & stats.keys(), stats) for uid, pids in pods.items()}

    def _marked(
        self, stats: Mapping[int, list[bytes]], known: Collection[int]
    ) -> Iterator[tuple[int, str]]:
        """Orphans that this process has adopted, or all others, with what their marks say."""
        own = os.getpid()
        seen = {}
        for pid, fields in stats.items():
            if pid in known or not (self._finds_foreign or int(fields[_PARENT]) == own):
                continue
            key = pid, fields[_STARTED]
            mark = self._marks.get(key)
            if mark is None:
                mark = _mark(pid)
            if mark is not None:
                seen[key] = mark
            if mark:
                yield pid, mark
        self._marks = seen


def _tree(pids: Collection[int], below: Mapping[int, list[int]]) -> Iterator[int]:
    level = list(pids)
    while level:
        yield from level
        level = [child for pid in level for child in below.get(pid, ())]


def _used(pids: Collection[int], stats: Mapping[int, list[bytes]]) -> Used:
    return Used(sum(_ticks(stats[pid]) for pid in pids) / TICKS, _memory(pids), pids)


def _ticks(fields: list[bytes]) -> int:
    return sum(map(int, fields[_TIMES]))


def _memory(pids: Collection[int]) -> int:
    """What they hold for themselves, and the most that one of them shares with others."""
    own, shared = 0, 0
    for pid in pids:
        fields = read_file(f"/proc/{pid}/statm").split()
        if len(fields) > 2:
            own += int(fields[1]) - int(fields[2])
            shared = max(shared, int(fields[2]))
    return (max(own, 0) + shared) * PAGE


def _mark(pid: int) -> str | None:
    """The uid of the pod that a process was started for; empty: it says none.

    None: it has no environment, as in the middle of an exec, and may have one the next time.
    """
    environment = read_file(f"/proc/{pid}/environ")
    start = f"{CONTAINER_MARK}=".encode()
    for variable in environment.split(b"\0"):
        if variable.startswith(start):
            return variable[len(start) :].partition(b"/")[0].decode("utf-8", "replace")
    return "" if environment else None
