"""One attempt of a job on this host: its directory, its journal, and the pods that run here.

The directory has what another daemon needs to go on: the plan, the journal, and in `host.json` who
owns the job and which tokens count. A pod is started because the owner says so and for no other
reason; what becomes of it is written into the journal, for the owner to read.
"""

from __future__ import annotations

import json
import os

from trainway.agent.base.directory import Directory
from trainway.agent.base.journal import Journal
from trainway.agent.base.pod_identity import PodIdentity
from trainway.agent.base.pod_status import TERMINAL
from trainway.agent.host.hosted_node import Assignment, HostedNode, make_work_directory
from trainway.agent.host.hosted_plan import hosted_plan
from trainway.agent.host.progress import Progress
from trainway.agent.kubelet import process_tree
from trainway.agent.kubelet.pod import Pod
from trainway.agent.supervisor.recovery import LostPod, clear_containers, kill_until_gone
from trainway.agent.transfer.blobs import references
from trainway.agent.transfer.feed import Feed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from trainway.agent.base.records import EventRecord, ProgressRecord
    from trainway.agent.host.machine import Machine
    from trainway.agent.transfer.blobs import Blobs
    from trainway.agent.transfer.feed import Position
    from trainway.json_types import Json


STATE = "host.json"
PLAN = "plan.json"
FOLDERS = ("logs", "output", "volumes")
LOOK_SECONDS = 1.0
LOOK_SHARE = 20.0
"""The part of the time that looking for output may take."""


class RefusedError(Exception):
    """Something that an owner asked for is not done. The message says why."""


class HostedJob:
    """A job with a token."""

    def __init__(self, machine: Machine, directory: Directory) -> None:
        self._machine = machine
        self.directory = directory
        state: Json = json.loads(directory.read(STATE))
        self.owner = str(state["owner"])
        self.token = int(state["token"])
        self.floor = int(state["floor"])
        """The lowest token with which a pod may start; lower ones are refused."""
        self._data: Json = json.loads(directory.read(PLAN))
        self.id = str(self._data["id"])
        self.journal = Journal(directory, machine.clock.now)
        self.feed: Feed | None = None
        self.on_news: Callable[[], None] = lambda: None
        """Called when there is something to send."""
        self.on_pod: Callable[[], None] = lambda: None
        """Called when a pod changed."""
        self._node: HostedNode | None = None
        self._progress: Progress | None = None
        self._pods: dict[str, Pod] = {}
        self._known = {str(record.get("uid")) for record in self.journal.records if _is_pod(record)}
        """The uids of all pods that were ever started."""
        self._unclear: set[str] = set()
        """The uids of pods that ended, while something of them may be left."""
        self._when_clear: list[Callable[[], None]] = []
        self._looking = False
        self._restored: dict[str, tuple[int, int]] = {}
        self.journal.subscribe(self._tell)

    @staticmethod
    def write(directory: Directory, blobs: Blobs, frame: Json, owner: str) -> None:
        """Put down what a job consists of."""
        plan: Json = frame["plan"]
        blobs.keep(references(plan.get("objects") or []), directory)
        for name in FOLDERS:
            directory.make(name)
        directory.replace(PLAN, json.dumps(plan).encode())
        token = int(frame["token"])
        state = {"owner": owner, "token": token, "floor": token}
        directory.replace(STATE, json.dumps(state).encode())

    @property
    def name(self) -> str:
        """The name of its JobSet."""
        metadata: Json = self._data["jobset"].get("metadata") or {}
        return str(metadata.get("name") or self._data.get("name"))

    @property
    def mpi(self) -> Json:
        """Names the Secret by whose key its launcher reaches its workers; empty: none does."""
        return self._data.get("mpi") or {}

    @property
    def objects(self) -> list[Json]:
        """Its ConfigMaps and Secrets, some values as references."""
        return self._data.get("objects") or []

    @property
    def is_removed(self) -> bool:
        """Whether somebody removed its files, so that nobody will ever know what becomes of it."""
        return self.journal.is_removed

    @property
    def live(self) -> list[Pod]:
        """The pods that have not ended."""
        return [pod for pod in self._pods.values() if not pod.terminal]

    def recover(self) -> None:
        """Clear away what a daemon left that died, and note what was lost."""
        left = kill_until_gone(lambda: self._machine.of_job(self.id))
        if left:
            os.write(2, f"processes that cannot be killed: {left}\n".encode())
        last: dict[str, Json] = {}
        for record in self.journal.records:
            if _is_pod(record):
                last[str(record.get("uid"))] = record
        self.journal.records = []
        lost = [item for item in last.values() if item.get("phase") not in TERMINAL]
        if not lost:
            return
        plan = hosted_plan(self._data, self.directory, self._machine, {}, "")
        clear_containers(plan)
        for name in os.listdir(self.directory.join("logs")):
            _complete(self.directory, f"logs/{name}")
        for record in lost:
            pod = LostPod(record, indexed=True, now=self._machine.clock.now())
            self.journal.append("pod", {**pod.record, "disrupted": True}, durable=True)

    def warn(self, reason: str, message: str) -> None:
        """Write an event about the job as a whole."""
        fields: EventRecord = {
            "token": self.token,
            "eventType": "Warning",
            "reason": reason,
            "message": message,
            "object": f"JobSet/{self.name}",
        }
        self.journal.append("event", fields)

    def start(self, frame: Json) -> None:
        """Start a pod, unless it was started before."""
        token, asked = int(frame["token"]), frame["pod"]
        if token < self.floor or token != self.token:
            raise RefusedError(
                f"token {token} is out of date: {max(self.token, self.floor)} is current"
            )
        uid = str(asked["uid"])
        if uid in self._known:
            return
        addresses, machines = _texts(frame.get("addresses")), _texts(frame.get("machines"))
        key = f"{asked['role']}-{asked['job_index']}-{asked['slot']}"
        node = self._prepare(addresses, addresses.get(key, ""))
        node.locate(addresses, machines)
        node.assignments[uid] = Assignment(frame)
        try:
            identity = PodIdentity.from_json(node.plan, asked)
        except KeyError as error:
            raise RefusedError(f"the job has no role {asked['role']}") from error
        make_work_directory(node, identity)
        if self._progress is None:
            files = (self._data.get("status") or {}).get("files") or {}
            self._progress = Progress(self.directory, node, files, self._on_progress)
        pod = Pod(identity, node, self._on_pod)
        self._pods[uid] = pod
        self._known.add(uid)
        pod.start()
        self._look_later()

    def _prepare(self, addresses: dict[str, str], own: str) -> HostedNode:
        """What the pods of this attempt have in common."""
        if self._node is None:
            plan = hosted_plan(self._data, self.directory, self._machine, addresses, own)
            self._node = HostedNode(plan, self.directory, self._machine, self.journal, self.token)
            self._node.on_log = self._on_log
            if plan.names_replaced:
                message = "nothing can be mounted here: names of pods are replaced by addresses"
                self._node.tell_once("Warning", "NamesReplaced", message)
        return self._node

    def stop(self, uid: str, how: str) -> None:
        """Stop a pod that runs."""
        if uid not in self._known:
            raise RefusedError("the pod has never been here")
        pod = self._pods.get(uid)
        if pod is None or pod.terminal:
            return
        if how == "kill":
            pod.kill()
        else:
            pod.delete()

    def let_go(self, uid: str) -> None:
        """Start a pod that waits for others."""
        pod = self._pods.get(uid)
        if pod is not None:
            pod.let_go()

    def find(self, key: str) -> Pod | None:
        """The pod of that key that runs."""
        return next((pod for pod in self.live if pod.identity.key == key), None)

    def fence(self, token: int) -> None:
        """Refuse lower tokens from now on, whatever happens to this machine."""
        if token > self.floor:
            self.floor = token
            state = {"owner": self.owner, "token": self.token, "floor": token}
            self.directory.replace(STATE, json.dumps(state).encode(), durable=True)

    @property
    def fenced(self) -> bool:
        """Whether its own token counts no more."""
        return self.token < self.floor

    def kill(self, reason: str, message: str) -> None:
        """Kill all pods, through no fault of theirs."""
        for pod in self.live:
            pod.fence(reason, message)

    def when_clear(self, done: Callable[[], None]) -> None:
        """Call back when nothing of the job runs here."""
        self._when_clear.append(done)
        self._check_clear()

    def _check_clear(self) -> None:
        if self._when_clear and not self.live and not self._unclear:
            waiting, self._when_clear = self._when_clear, []
            self._machine.sweep(self._all, lambda _left: self._on_all_clear(waiting))

    def _on_all_clear(self, waiting: list[Callable[[], None]]) -> None:
        if self._node is not None:
            self._node.sweep_groups()
        _call_all(waiting)

    def _rest(self, uid: str) -> list[int]:
        """What a pod left; all that the job left, once no pod of it runs."""
        return process_tree.of_pod(uid) if self.live else self._all()

    def _all(self) -> list[int]:
        return [*self._machine.of_job(self.id), *self._machine.strays()]

    def _on_pod(self, pod: Pod) -> None:
        uid = pod.identity.uid
        if pod.terminal and uid in self._pods:
            del self._pods[uid]
            self._unclear.add(uid)
            self._machine.discard(pod.temporary)
            self._machine.sweep(lambda: self._rest(uid), lambda left: self._on_clear(pod, left))
        self.on_pod()

    def _on_clear(self, pod: Pod, left: list[int]) -> None:
        self._unclear.discard(pod.identity.uid)
        if left:
            message = f"processes that cannot be killed: {left}"
            pod.tell("Warning", "ProcessesLeft", message)
        if self._node is not None:
            self._node.assignments.pop(pod.identity.uid, None)
        if not self.live and self._progress is not None:
            self._progress.close()
            self._progress = None
        self._tell()
        self._check_clear()

    def _on_progress(self, status: Json) -> None:
        fields: ProgressRecord = {"token": self.token, "trainerStatus": status}
        self.journal.append("progress", fields)

    def _on_log(self, file: str) -> None:
        if self.feed is not None:
            self.feed.logs.touched(file)
            self.on_news()

    def _tell(self) -> None:
        if self.feed is not None:
            self.on_news()

    def follow(self, position: Position) -> None:
        """Have somebody get what comes after that position."""
        self.unfollow()
        self.feed = Feed(
            self.directory,
            self.journal,
            position,
            is_clear=lambda uid: uid not in self._unclear and uid not in self._pods,
            with_outputs=self._data.get("outputs") != "keep",
        )
        for path, version in self._restored.items():
            self.feed.outputs.know(path, version)
        self.feed.now = self._machine.clock.now
        self.feed.quiet = lambda: not self.live
        self._look_later()
        self.on_news()

    def restored(self, path: str, version: tuple[int, int]) -> None:
        """A file came from the receiver, which need not get it back."""
        self._restored[path] = version
        if self.feed is not None:
            self.feed.outputs.know(path, version)

    def unfollow(self) -> None:
        """Nobody listens any more."""
        if self.feed is not None:
            self.feed.close()
            self.feed = None

    def _look_later(self, delay: float = LOOK_SECONDS) -> None:
        """Look for output from time to time, as long as there is somebody to send it to."""
        if not self._looking and self.feed is not None and self.live:
            self._looking = True
            self._machine.loop.call_later(delay, self._look)

    def _look(self) -> None:
        self._looking = False
        if self.feed is None:
            return
        before = self._machine.clock.now()
        self.feed.look()
        self.on_news()
        took = self._machine.clock.now() - before
        self._look_later(max(LOOK_SECONDS, took * LOOK_SHARE))

    def close(self) -> None:
        """Let go of the files."""
        self.unfollow()
        self.journal.unsubscribe(self._tell)
        self.journal.close()
        self.directory.close()


def _is_pod(record: Json) -> bool:
    return record.get("type") == "pod"


def _call_all(callbacks: list[Callable[[], None]]) -> None:
    for callback in callbacks:
        callback()


def _complete(directory: Directory, path: str) -> None:
    """End a log with a whole line, though its writer died."""
    fd = directory.open(path, os.O_RDWR | os.O_APPEND)
    try:
        size = os.fstat(fd).st_size
        if size and os.pread(fd, 1, size - 1) != b"\n":
            os.write(fd, b"\n")
    finally:
        os.close(fd)


def _texts(values: Json | None) -> dict[str, str]:
    return {str(key): str(value) for key, value in (values or {}).items()}
