"""`slurm pod JOBDIR`: be one task of a step, which is one pod of the job.

The driver speaks over standard input, one JSON object a line. First it says what the step is, with
the pods in the order of its tasks; then come orders: `ping`, `echo`, `go`, and `stop` with `how`
(delete, kill, interrupt, fence). A pod whose driver is not heard any more kills itself; one that
Slurm asks to end, before a preemption say, ends with its grace period and tells the driver first.
"""

from __future__ import annotations

import json
import os
import signal

from trainway.agent.base import linux
from trainway.agent.base.clock import Clock
from trainway.agent.base.directory import Directory
from trainway.agent.base.event_loop import EventLoop
from trainway.agent.base.own_program import agent_program
from trainway.agent.base.pod_identity import PodIdentity
from trainway.agent.base.removal import remove_trees
from trainway.agent.host.facts import base_environment
from trainway.agent.host.hosted_node import Assignment, make_work_directory
from trainway.agent.host.hosted_plan import hosted_plan
from trainway.agent.host.join_server import JoinServer
from trainway.agent.host.machine import Machine
from trainway.agent.host.progress import Progress
from trainway.agent.kubelet import process_tree
from trainway.agent.kubelet.pod import Pod
from trainway.agent.kubelet.processes import ProcessTable
from trainway.agent.slurm.driver import rsh
from trainway.agent.slurm.driver.peers import write_home, write_peers
from trainway.agent.slurm.driver.recorder import Recorder
from trainway.agent.slurm.driver.step_node import StepNode, pod_environment
from trainway.agent.slurm.fencing import FENCE, INTERRUPT, TICK_SECONDS, Pulse
from trainway.agent.slurm.files.job_files import SCRATCH
from trainway.agent.supervisor.recovery import ALLOCATION_LOST, FENCED
from trainway.agent.transfer.file_names import PLAN
from trainway.agent.transfer.job_place import opened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from trainway.json_types import Json


READ_SIZE = 1 << 16
EXIT_FAILED = 1
DEVICES = ("CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "ZE_AFFINITY_MASK")
"""The variables by which Slurm says which devices a task has."""
UNHEARD = "the driver of the job does not answer any more"
GONE = "the driver of the job is gone"
STALE = "a newer attempt of the job has started"
ASKED = "Slurm takes the allocation away"


def main(arguments: Sequence[str]) -> int:
    """Be the task; its exit status is that of the pod."""
    (path,) = arguments
    try:
        directory = opened(path)
        plan: Json = json.loads(directory.read(PLAN))
    except FileNotFoundError as error:
        os.write(2, f"this node does not see the job's directory: {error.filename}\n".encode())
        return EXIT_FAILED
    except OSError as error:
        os.write(2, f"the job's directory cannot be used on this node: {error}\n".encode())
        return EXIT_FAILED
    orders = Orders()
    frame = orders.first()
    if not frame:
        os.write(2, f"{GONE}\n".encode())
        return EXIT_FAILED
    if frame["peers"]:  # nobody else could put them here
        from trainway.agent.transfer.parcel import hold  # noqa: PLC0415 - few clusters need it

        write_peers(directory, frame["peers"])
        hold(directory)
    os.umask(0o022)
    try:
        linux.become_subreaper()
    except linux.SystemCallError as error:
        os.write(2, f"orphans cannot be adopted here: {error}\n".encode())
    home = new_home(os.environ)
    try:
        task = StepTask(directory, Directory(home), plan, frame, os.environ)
        return task.run(orders)
    finally:
        remove_trees([home])


def new_home(environ: Mapping[str, str]) -> str:
    """A directory of the task's own; `tempfile` would take longer to import than all else here.

    An image need not have what the variables of its node name.
    """
    named = (environ.get("SLURM_TMPDIR"), environ.get("TMPDIR"))
    folder = next((name for name in named if name and os.path.isdir(name)), SCRATCH)
    path = f"{folder}/trainway-{os.urandom(8).hex()}"
    os.mkdir(path, 0o700)
    return path


def exit_status(pod: Pod) -> int:
    """0, or the status of the first main container that failed; 1 where none says why."""
    if pod.phase == "Succeeded":
        return 0
    codes = [code for _, code in pod.status().exit_codes if code]
    return codes[0] if codes else EXIT_FAILED


class Orders:
    """What the driver says."""

    def __init__(self) -> None:
        self._received = b""

    def first(self) -> Json:
        """What this is a task of; empty where there is nobody to say so."""
        while b"\n" not in self._received:
            data = os.read(0, READ_SIZE)
            if not data:
                return {}
            self._received += data
        os.set_blocking(0, False)
        line, _, self._received = self._received.partition(b"\n")
        frame: Json = json.loads(line)
        return frame

    def read(self) -> list[Json] | None:
        """The orders that have come; None: there will be no more."""
        try:
            data = os.read(0, READ_SIZE)
        except BlockingIOError:
            return []
        except OSError:
            data = b""
        if not data:
            return None
        *lines, self._received = (self._received + data).split(b"\n")
        return [json.loads(line) for line in lines]


class StepTask:
    """A pod, and its agent's way to the driver."""

    def __init__(
        self,
        directory: Directory,
        home: Directory,
        data: Json,
        frame: Json,
        environ: Mapping[str, str],
    ) -> None:
        told: Json = frame["pods"][int(environ.get("SLURM_PROCID") or 0)]
        self._loop = EventLoop()
        clock = Clock()
        uid, key = str(told["pod"]["uid"]), str(told["key"])
        self._recorder = Recorder(directory, uid, self._loop, clock.now)
        processes = ProcessTable(self._loop)
        base = base_environment(pod_environment(environ), home.join("bin"))
        self._machine = Machine(home, self._loop, processes, clock, base)
        addresses: dict[str, str] = frame["addresses"]
        plan = hosted_plan(data, directory, self._machine, addresses, addresses.get(key, ""))
        token = str(frame["token"])
        self._node = StepNode(plan, directory, self._machine, self._recorder, token, uid)
        self._node.locate(addresses, frame["machines"])
        self._node.assignments[uid] = Assignment(told)
        self._node.share_logs(key)
        identity = PodIdentity.from_json(plan, told["pod"])
        make_work_directory(self._node, identity)
        files = (data.get("status") or {}).get("files") or {}
        self._progress = Progress(home, self._node, files, self._on_progress)
        rsh.install(home, agent_program(), directory.path)
        self._pod = Pod(identity, self._node, self._on_pod)
        self._joins = JoinServer(home, self._loop, processes, self._find)
        write_home(directory, key, home.path)
        self._devices = {name: environ[name] for name in DEVICES if name in environ}
        self._pulse = Pulse()
        self._is_ending = False
        self._warn_of_names = plan.names_replaced

    def run(self, orders: Orders) -> int:
        """Run the pod to its end; the exit status."""
        self._recorder.say("place", devices=self._devices)
        if self._warn_of_names:
            message = "nothing can be mounted here: names of pods are replaced by addresses"
            self._node.tell_once("Warning", "NamesReplaced", message)
        for number in (signal.SIGTERM, signal.SIGINT):
            self._loop.on_signal(number, self._on_signal)
        self._loop.watch(0, on_readable=lambda: self._on_order(orders.read()))
        self._loop.call_later(TICK_SECONDS, self._tick)
        try:
            self._pod.start()
            self._loop.run()
        except Exception as error:
            self._recorder.say("failed", message=f"the agent of the pod failed: {error!r}")
            raise
        return exit_status(self._pod)

    def _find(self, _job: str, key: str) -> Pod | None:
        return self._pod if key == self._pod.identity.key else None

    def _tick(self) -> None:
        if self._pulse.tick():
            self._pod.fence(FENCED, UNHEARD)
        self._loop.call_later(TICK_SECONDS, self._tick)

    def _on_signal(self) -> None:
        self._recorder.say("signal")
        self._interrupt(ASKED)

    def _interrupt(self, message: str) -> None:
        if not self._pod.terminal:
            self._pod.interrupt(ALLOCATION_LOST)
            self._pod.message = message

    def _on_order(self, orders: list[Json] | None) -> None:
        if orders is None:
            self._loop.forget(0)
            self._pod.fence(FENCED, GONE)
            return
        self._pulse.heard()
        for order in orders:
            if order.get("uid") in (None, self._pod.identity.uid):
                self._obey(order)

    def _obey(self, order: Json) -> None:
        operation, how = order.get("op"), order.get("how")
        if operation == "ping":
            self._recorder.say("pong")
        elif operation == "echo":
            self._recorder.say("echo")
        elif operation == "go":
            self._pod.let_go()
        elif operation != "stop" or self._pod.terminal:
            return
        elif how == INTERRUPT:
            self._interrupt(str(order.get("message") or ASKED))
        elif how == FENCE:
            self._pod.fence(FENCED, STALE)
        elif how == "kill":
            self._pod.kill()
        else:
            self._pod.delete()

    def _on_progress(self, status: Json) -> None:
        self._recorder.append("progress", {"trainerStatus": status})

    def _on_pod(self, pod: Pod) -> None:
        self._joins.look()
        if pod.terminal and not self._is_ending:
            self._is_ending = True
            self._progress.close()
            self._joins.close()
            self._loop.call_soon(self._sweep)

    def _sweep(self) -> None:
        uid = self._pod.identity.uid
        self._machine.sweep(lambda: process_tree.of_pod(uid), self._on_swept)

    def _on_swept(self, left: list[int]) -> None:
        if left:
            self._pod.tell("Warning", "ProcessesLeft", f"processes that cannot be killed: {left}")
        hosts = self._node.directory.join(self._node.hosts_path)
        remove_trees([*self._pod.temporary, hosts])
        self._recorder.finish(self._loop.stop)
