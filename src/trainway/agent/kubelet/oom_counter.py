"""How many processes the kernel killed for want of memory, as control groups count them.

The program that is killed, or the shell around it, only has an exit status; the group that it was
in has the number of such killings.
"""

from __future__ import annotations

from trainway.agent.base.kernel_files import read_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

OWN_GROUPS = "/proc/self/cgroup"
GROUPS = "/sys/fs/cgroup"


class OomCounter:
    """Tells whether something was killed since it was asked last."""

    def __init__(self, files: Sequence[str]) -> None:
        self._files = files
        self._killings = self._count()

    @classmethod
    def of_this_process(cls, own_groups: str = OWN_GROUPS, groups: str = GROUPS) -> OomCounter:
        """The counter of the group that this process is in, and what it starts; maybe of none."""
        return cls(list(counters(read_text(own_groups), groups)))

    def has_grown(self) -> bool:
        """Whether something was killed since this was asked last."""
        before, self._killings = self._killings, self._count()
        return self._killings > before

    def _count(self) -> int:
        return max((killings(read_text(path)) for path in self._files), default=0)


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
