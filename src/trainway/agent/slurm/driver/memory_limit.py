"""Whether the kernel killed something of a task because it took more memory than it had asked for.

Slurm gives each task a control group where a cluster limits memory. The program that is killed, or
the shell around it, only has an exit status; the group has the number of those killings.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

OWN_GROUPS = "/proc/self/cgroup"
GROUPS = "/sys/fs/cgroup"


class MemoryLimit:
    """The limit on this process and what it starts; there may be none."""

    def __init__(self, own_groups: str = OWN_GROUPS, groups: str = GROUPS) -> None:
        self._counters = list(counters(_text(own_groups), groups))
        self._killings = self._count()

    def was_exceeded(self) -> bool:
        """Whether something was killed since this was asked last."""
        before, self._killings = self._killings, self._count()
        return self._killings > before

    def _count(self) -> int:
        return max((killings(_text(path)) for path in self._counters), default=0)


def counters(own_groups: str, groups: str) -> Iterator[str]:
    """The files that count, of either version of control groups."""
    for line in own_groups.splitlines():
        _, controllers, path = line.split(":", 2)
        if not controllers:
            yield f"{groups}{path}/memory.events"
        elif "memory" in controllers.split(","):
            yield f"{groups}/memory{path}/memory.oom_control"


def killings(text: str) -> int:
    """The number in such a file."""
    for line in text.splitlines():
        name, _, number = line.partition(" ")
        if name == "oom_kill":
            return int(number)
    return 0


def _text(path: str) -> str:
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return ""
