"""Control groups that hold containers to their memory limits, where this user may make some.

A group is made below or beside the one that the agent is in. With version 2 that takes a group that
was delegated to the user, as systemd does for the services and scopes of a user; with version 1 a
group that may be written, as root has. Elsewhere limits are not enforced, and the agent says so.
"""

from __future__ import annotations

import os

from trainway.agent.base.kernel_files import read_text, write_text
from trainway.agent.kubelet.memory_limit import number_in
from trainway.agent.kubelet.oom_counter import GROUPS, OWN_GROUPS, OomCounter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

MEMBERS = "cgroup.procs"
PASSED_ON = "cgroup.subtree_control"
AGENT = "trainway-agent"
"""The group of the agent itself: in version 2 a group with members cannot limit others."""


class Version:
    """What the files of a version of control groups are called."""

    def __init__(self, limit: str, swap: tuple[str, str], counter: str, peak: str) -> None:
        self.limit = limit
        self.peak = peak
        """The most that was ever used; version 2 has it since Linux 5.19."""
        self.swap = swap
        """What must hold so that nobody swaps beyond the limit; `{}` stands for the limit."""
        self.counter = counter


V1 = Version(
    "memory.limit_in_bytes",
    ("memory.memsw.limit_in_bytes", "{}"),
    "memory.oom_control",
    "memory.max_usage_in_bytes",
)
V2 = Version("memory.max", ("memory.swap.max", "0"), "memory.events", "memory.peak")
ALL_DIE = "memory.oom.group"
"""In version 2, whether all of a group die of its limit, as all of a container do in a pod."""


class ControlGroup:
    """The group of one container."""

    def __init__(self, path: str, version: Version) -> None:
        self.path = path
        self._version = version
        self._counter = OomCounter([f"{path}/{version.counter}"])

    def ran_out_of_memory(self) -> bool:
        """Whether something in it was killed since this was asked last."""
        return self._counter.has_grown()

    @property
    def peak(self) -> int:
        """The most bytes that it had; 0: that is not known."""
        return number_in(f"{self.path}/{self._version.peak}")

    @property
    def limit(self) -> int:
        """The bytes that it may have."""
        return number_in(f"{self.path}/{self._version.limit}")

    def remove(self) -> None:
        """Take it away once nobody is in it."""
        _remove(self.path)


class ControlGroups:
    """Makes the groups of containers."""

    def __init__(self, own_groups: str = OWN_GROUPS, groups: str = GROUPS) -> None:
        self._own_groups = own_groups
        self._groups = groups
        self._place: tuple[str, Version] | None = None
        self._searched = False

    def available(self) -> bool:
        """Whether memory can be limited here."""
        if not self._searched:
            self._searched = True
            self._place = next(self._places(), None)
        return self._place is not None

    def make(self, name: str, limit: int) -> ControlGroup | None:
        """A group that may take so many bytes; None: that cannot be had here."""
        if not self.available() or self._place is None:
            return None
        parent, version = self._place
        path = f"{parent}/{name}"
        try:
            os.makedirs(path, exist_ok=True)
            write_text(f"{path}/{version.limit}", str(limit))
        except OSError:
            _remove(path)
            return None
        for file, text in (version.swap, (ALL_DIE, "1")):
            if os.path.exists(f"{path}/{file}"):
                _try_to_write(f"{path}/{file}", text.format(limit))
        return ControlGroup(path, version)

    def sweep(self, prefix: str) -> None:
        """Take away groups that an agent left which did not come to its end."""
        if not self.available() or self._place is None:
            return
        parent, _ = self._place
        for name in os.listdir(parent):
            if name.startswith(prefix):
                _remove(f"{parent}/{name}")

    def _places(self) -> Iterator[tuple[str, Version]]:
        """Groups in which others can be made that limit memory."""
        for line in read_text(self._own_groups).splitlines():
            _, controllers, path = line.split(":", 2)
            if "memory" in controllers.split(","):
                own = f"{self._groups}/memory{path}".rstrip("/")
                if _is_ours(own) and os.path.exists(f"{own}/{V1.limit}"):
                    yield own, V1
            elif not controllers:
                own = f"{self._groups}{path}".rstrip("/")
                if os.path.basename(own) == AGENT:
                    own = os.path.dirname(own)
                if _is_ours(own) and (_limits_memory(own) or _make_room(own)):
                    yield own, V2
                beside = os.path.dirname(own)
                if os.geteuid() and _is_ours(beside) and _limits_memory(beside):
                    yield beside, V2


def enter(path: str) -> None:
    """Become a member of a group, in the child that will be the container.

    A group that is gone limits nothing, which is no reason not to start.
    """
    _try_to_write(f"{path}/{MEMBERS}", "0")


def _is_ours(group: str) -> bool:
    return os.access(group, os.W_OK) and os.access(f"{group}/{MEMBERS}", os.W_OK)


def _limits_memory(group: str) -> bool:
    """Whether groups below this one have limits of memory."""
    return "memory" in read_text(f"{group}/{PASSED_ON}").split()


def _make_room(group: str) -> bool:
    """Have groups below limit memory, for which all members must leave this one.

    Those that are not the agent are moved only where the group was given away for that.
    """
    if "memory" not in read_text(f"{group}/cgroup.controllers").split():
        return False
    members = read_text(f"{group}/{MEMBERS}").split()
    if not all(map(_is_agent, members)) and not _is_delegated(group):
        return False
    try:
        os.makedirs(f"{group}/{AGENT}", exist_ok=True)
        for member in members:
            write_text(f"{group}/{AGENT}/{MEMBERS}", member)
        write_text(f"{group}/{PASSED_ON}", "+memory")
    except OSError:
        return False
    return True


def _is_agent(member: str) -> bool:
    """Whether a process is this one, or the one that started it and waits until it is ready."""
    own = read_text("/proc/self/cmdline")
    return member == str(os.getpid()) or own == read_text(f"/proc/{member}/cmdline") != ""


def _is_delegated(group: str) -> bool:
    """Whether systemd says that it leaves the group to whoever is in it."""
    for name in ("user.delegate", "trusted.delegate"):
        try:
            return os.getxattr(group, name) == b"1"
        except OSError:
            continue
    return False


def _try_to_write(path: str, text: str) -> None:
    try:
        write_text(path, text)
    except OSError:
        return


def _remove(path: str) -> None:
    try:
        os.rmdir(path)
    except OSError:
        return
