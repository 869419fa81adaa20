"""What all pods of an agent share: the machine, the plan, and where things are written."""

from __future__ import annotations

import os

from trainway.agent.base import log_limit
from trainway.agent.base.log_limit import LogLimit
from trainway.agent.base.quantity import times
from trainway.agent.kubelet import mounts
from trainway.agent.kubelet.bindings import Binding, needed
from trainway.agent.kubelet.control_group import ControlGroups
from trainway.agent.kubelet.host_names import HOSTS, hosts_file, mentions_pods
from trainway.agent.kubelet.log_writer import LogWriter
from trainway.agent.kubelet.mounts import MountView
from trainway.agent.kubelet.objects import Objects
from trainway.agent.kubelet.oom_counter import OomCounter
from trainway.agent.kubelet.usage.sampler import UsageSampler

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Protocol

    from trainway.agent.base.clock import Clock
    from trainway.agent.base.directory import Directory
    from trainway.agent.base.event_loop import EventLoop
    from trainway.agent.base.plan import Plan
    from trainway.agent.base.pod_identity import PodIdentity
    from trainway.agent.base.records import EventRecord
    from trainway.agent.kubelet.command import Command
    from trainway.agent.kubelet.control_group import ControlGroup
    from trainway.agent.kubelet.helper import Helper
    from trainway.agent.kubelet.processes import ProcessTable
    from trainway.json_types import Json

    class Recorder(Protocol):
        """What records are written to."""

        def append(self, type_: str, fields: Mapping[str, object]) -> int:
            """Add a record; its number."""
            ...


STAGE = "volumes/root"
HOSTS_FILE = "volumes/hosts"
READABLE = 0o644
UID_DIGITS = 8
NO_ROOM = "/dev/full"
"""What stands in for a log file that cannot be made: every write to it fails as on a full disk."""
SHARED_TREES = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108 - where mount points may be made


class Node:
    """The machine, for one job."""

    holds_prepared_pods = False
    """Whether a pod that has its environment waits until it is let go: others may not have it."""

    def __init__(
        self,
        plan: Plan,
        directory: Directory,
        loop: EventLoop,
        processes: ProcessTable,
        journal: Recorder,
        clock: Clock,
    ) -> None:
        self.plan = plan
        self.directory = directory
        self.loop = loop
        self.processes = processes
        self.journal = journal
        self.objects = Objects(plan.objects)
        self.now: Callable[[], float] = clock.now
        self._can_mount: bool | None = None
        self._calls_by_name: bool | None = None
        self._told: set[str] = set()
        self._log_limit: LogLimit | None = None
        self._killings = OomCounter.of_this_process()
        self._groups = ControlGroups()
        self.hosts_path = HOSTS_FILE
        """Where the hosts file of the job is, in its directory."""
        self.usage = UsageSampler(self)

    @property
    def output(self) -> str:
        """Where a job leaves what shall remain: the same in every attempt."""
        return self.directory.join("output")

    def capacity(self) -> dict[str, str]:
        """What the machine has."""
        pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        return {"cpu": str(os.cpu_count() or 1), "memory": str(pages)}

    def environment(self, pod: PodIdentity) -> Mapping[str, str]:  # noqa: ARG002 - for others
        """What a pod's processes start from."""
        return self.plan.env

    def marks(self, pod: PodIdentity) -> Mapping[str, str]:  # noqa: ARG002 - for others
        """Variables that a container cannot change, beside those of every job."""
        return {}

    def devices(self, pod: PodIdentity) -> Json:
        """The devices that are assigned to a pod."""
        return self.plan.devices.get(pod.key) or {}

    def gpus(self, pod: PodIdentity) -> list[str]:
        """The GPUs of NVIDIA that are assigned to a pod, by their indices or ids."""
        kinds = self.devices(pod).items()
        return [str(name) for kind, names in kinds if "amd.com/" not in kind for name in names]

    def ran_out_of_memory(self, *, is_killed: bool) -> bool:
        """Whether a container without a group of its own failed for want of memory.

        `is_killed`: SIGKILL ended it, and not ours.
        """
        return self._killings.has_grown() and is_killed

    def control_group(self, container: Json, mark: str) -> ControlGroup | None:
        """What holds a container to its memory limit; None: it has none, or nothing does."""
        limit = _memory_limit(container)
        if not limit or self.plan.containers:
            return None
        name = mark[:UID_DIGITS] + mark[mark.index("/") :].replace("/", "-")
        group = self._groups.make(f"{self._group_prefix}{name}", times(limit, 1))
        if group is None:
            why = "no control group is delegated to this user"
            self.tell_once(
                "Normal", "MemoryNotLimited", f"memory limits are not enforced here: {why}"
            )
        return group

    def sweep_groups(self) -> None:
        """Take away what an earlier agent left of the job's control groups."""
        pods = [role.pod_spec for role in self.plan.roles]
        lists = [pod.get(part) or () for pod in pods for part in ("initContainers", "containers")]
        if any(_memory_limit(container) for containers in lists for container in containers):
            self._groups.sweep(self._group_prefix)

    @property
    def _group_prefix(self) -> str:
        return f"trainway-{self.plan.id}-"

    @property
    def addresses(self) -> Mapping[str, str]:
        """Where pods are that are not on this machine."""
        return {}

    @property
    def machines(self) -> Mapping[str, str]:
        """The addresses of the machines that pods are on, by their own names."""
        return {}

    def tell(self, type_: str, reason: str, message: str, about: str) -> None:
        """Write an event."""
        fields: EventRecord = {
            "eventType": type_,
            "reason": reason,
            "message": message,
            "object": about,
        }
        self.journal.append("event", fields)

    def tell_once(self, type_: str, reason: str, message: str) -> None:
        """Write an event about the job unless there was one with that reason before."""
        if reason not in self._told:
            self._told.add(reason)
            self.tell(type_, reason, message, f"JobSet/{self.plan.name}")

    def open_log(self, name: str) -> LogWriter:
        """The log file of a container, to append to."""
        try:
            fd = self.directory.open_regular(
                f"logs/{name}.log", os.O_RDWR | os.O_CREAT | os.O_APPEND
            )
        except OSError as error:
            self.on_dropped(error)
            fd = os.open(NO_ROOM, os.O_RDWR)
        return self.log_writer(fd, name)

    def log_writer(self, fd: int, name: str) -> LogWriter:  # noqa: ARG002 - for others
        """What writes to an open log file."""
        return LogWriter(fd, self.on_dropped, limit=self.log_limit)

    @property
    def log_limit(self) -> LogLimit:
        """What all logs of the job on this machine may take; earlier agents have had some of it."""
        if self._log_limit is None:
            used = log_limit.used_in(self.directory)
            self._log_limit = LogLimit(self.plan.log_limit, used, self.on_log_limit)
        return self._log_limit

    def on_log_limit(self, message: str) -> None:
        """Tell that a log goes no further."""
        self.tell_once("Warning", log_limit.REASON, message)

    def on_dropped(self, error: OSError) -> None:
        """Tell why a log is not written."""
        message = f"log lines are lost while they cannot be written: {error.strerror}"
        self.tell_once("Warning", "LogsDropped", message)

    def help(self, helper: Helper, command: Command, timeout: float | None) -> None:
        """Run something beside the containers, for as long as it may take."""
        try:
            process = self.processes.start(command, helper, with_output=False)
        except OSError:
            helper.answer(False)
            return
        helper.process = process
        if timeout is not None:
            kill = self.processes.kill
            helper.timer = self.loop.call_later(timeout, lambda: kill(process))

    def view(self, bindings: Sequence[Binding]) -> MountView | None:
        """How a process gets to see its volumes; None where nothing needs to be mounted."""
        wanted = needed([*bindings, *self._host_names()])
        if not wanted:
            return None
        home = self.plan.env.get("HOME") or "/root"
        own = (self.plan.workdir, home, self.directory.path, *SHARED_TREES)
        trees = [tree for tree in own if tree.strip("/")]
        return MountView(wanted, trees, self.directory.join(STAGE))

    def _host_names(self) -> list[Binding]:
        """The hosts file of the job, where its pods call each other by name."""
        if self._calls_by_name is None:
            self._calls_by_name = mentions_pods(self.plan) and self.can_mount()
            if self._calls_by_name:
                own = self.directory.read(HOSTS).decode(errors="replace")
                text = hosts_file(self.plan, own, self.addresses, self.machines).encode()
                self.directory.write(self.hosts_path, text, READABLE)
        if not self._calls_by_name:
            return []
        return [Binding(self.directory.join(self.hosts_path), HOSTS, read_only=True)]

    def can_mount(self) -> bool:
        """Whether processes may have mounts of their own; found out when first asked."""
        if self.plan.mounts != "namespace":
            return False
        if self._can_mount is None:
            self.directory.make(STAGE)
            self._can_mount = mounts.available(self.directory.join(STAGE))
        return self._can_mount


def _memory_limit(container: Json) -> str:
    limits = (container.get("resources") or {}).get("limits") or {}
    return str(limits.get("memory") or "")
