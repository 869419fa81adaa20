"""The machine, for the pods of one attempt of one job that others may be part of."""

from __future__ import annotations

import os

from trainway.agent.host import cluster_directory
from trainway.agent.host.interfaces import defaults
from trainway.agent.host.machine import HOST_MARK
from trainway.agent.kubelet.log_writer import LogWriter
from trainway.agent.kubelet.node import Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from trainway.agent.base.directory import Directory
    from trainway.agent.base.plan import Plan
    from trainway.agent.base.pod_identity import PodIdentity
    from trainway.agent.host.machine import Machine
    from trainway.agent.kubelet.node import Recorder
    from trainway.json_types import Json


TOKEN = "TRAINWAY_FENCING_TOKEN"  # noqa: S105 - the name of a variable
WORK_DIRECTORY = "TRAINWAY_WORK_DIR"


class TokenJournal:
    """Writes records with the token that their pods were started with."""

    def __init__(self, journal: Recorder, token: int | str) -> None:
        self._journal = journal
        self._token = token

    def append(self, type_: str, fields: Mapping[str, object]) -> int:
        """Add a record."""
        return self._journal.append(type_, {"token": self._token, **fields})


class Assignment:
    """What is said about a pod when it is started."""

    def __init__(self, frame: Json) -> None:
        self.devices: Json = frame.get("devices") or {}
        self.env = {str(key): str(value) for key, value in (frame.get("env") or {}).items()}


class HostedNode(Node):
    """A node whose pods have an assignment each, and peers elsewhere."""

    holds_prepared_pods = True

    def __init__(
        self,
        plan: Plan,
        directory: Directory,
        machine: Machine,
        journal: Recorder,
        token: int | str,
    ) -> None:
        super().__init__(
            plan,
            directory,
            machine.loop,
            machine.processes,
            TokenJournal(journal, token),
            machine.clock,
        )
        self._machine = machine
        self._token = token
        self._places: Mapping[str, str] = {}
        self._machines: Mapping[str, str] = {}
        self._network: dict[str, str] = {}
        self.assignments: dict[str, Assignment] = {}
        """What each pod was started with, by the uid of the pod."""
        self.status_variables: dict[str, str] = {}
        self.on_log: Callable[[str], None] = lambda _file: None
        """Called with the name of a log file after something was written to it."""

    def locate(self, addresses: Mapping[str, str], machines: Mapping[str, str]) -> None:
        """Learn where the pods of the job are."""
        self._places = addresses
        self._machines = machines
        self._network = defaults(self.plan.host_ip, set(addresses.values()))

    @property
    def addresses(self) -> Mapping[str, str]:
        """Where each pod of the job is."""
        return self._places

    @property
    def machines(self) -> Mapping[str, str]:
        """The hosts of the job."""
        return self._machines

    def environment(self, pod: PodIdentity) -> Mapping[str, str]:
        """The host's, the network's, the plan's, and what came with the start."""
        assigned = self.assignments[pod.uid].env
        env = {**self._network, **self.plan.env, **self.status_variables, **assigned}
        if "PATH" in assigned:
            programs = self._machine.home.join("bin")
            env["PATH"] = f"{programs}:{assigned['PATH']}"
        return env

    def marks(self, pod: PodIdentity) -> Mapping[str, str]:
        """The fencing token, a directory of the pod's own, and which agent runs it."""
        return {
            TOKEN: str(self._token),
            WORK_DIRECTORY: self.work_directory(pod),
            HOST_MARK: self._machine.home.path,
        }

    def work_directory(self, pod: PodIdentity) -> str:
        """Where a pod may have files of its own, or share those of its cluster."""
        if cluster_directory.is_cluster(self.plan.cluster):
            return cluster_directory.path_of(self._machine.home, self.plan.cluster)
        return self.directory.join("work", pod.key)

    def devices(self, pod: PodIdentity) -> Json:
        """The devices that came with the start."""
        return self.assignments[pod.uid].devices

    def can_mount(self) -> bool:
        """Whether processes may have mounts of their own, found out once for the machine."""
        if self.plan.mounts != "namespace" or not self._machine.can_mount:
            return False
        self.directory.make("volumes/root")
        return True

    def log_writer(self, fd: int, name: str) -> LogWriter:
        """What writes to an open log file, and tells of it."""
        return WatchedLog(fd, self, lambda: self.on_log(f"{name}.log"))


class WatchedLog(LogWriter):
    """A log file that tells when it has grown."""

    def __init__(self, fd: int, node: Node, on_log: Callable[[], None]) -> None:
        super().__init__(fd, node.on_dropped, limit=node.log_limit)
        self._on_log = on_log

    def feed(self, stream: bytes, data: bytes) -> None:
        """Take what a stream gave."""
        super().feed(stream, data)
        self._on_log()

    def finish(self, stream: bytes) -> None:
        """Complete the last line of a stream that ended."""
        super().finish(stream)
        self._on_log()


def make_work_directory(node: HostedNode, pod: PodIdentity) -> None:
    """Make the pod's own directory; one that cannot be made is missed by those that use it."""
    try:
        os.makedirs(node.work_directory(pod), exist_ok=True)
        if node.plan.cluster:
            cluster_directory.link(node.work_directory(pod), os.path.expanduser("~"))
    except OSError as error:
        message = f"{node.work_directory(pod)}: {error.strerror}"
        node.tell_once("Warning", "NoWorkDirectory", message)
