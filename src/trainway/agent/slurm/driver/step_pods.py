"""The pods of a job in an allocation: tasks of steps that the driver starts.

Pods of one Job whose turn comes together are one step. A pod that takes the place of one whose step
still runs has a step of its own, which shares what that one holds. Where all pods of a step have
ended, it is waited for first: then its resources are free.
"""

from __future__ import annotations

from trainway.agent.slurm.commands import clean_environment
from trainway.agent.slurm.driver.recorder import last_record
from trainway.agent.slurm.driver.step import FOLDER, Step
from trainway.agent.slurm.fencing import INTERRUPT
from trainway.agent.slurm.srun import HOSTFILE, Call, command
from trainway.agent.supervisor.recovery import ALLOCATION_LOST
from trainway.agent.supervisor.remote_pod import RemotePod, is_disrupted
from trainway.agent.supervisor.remote_pods import RemotePods

TYPE_CHECKING = False
if TYPE_CHECKING:
    from abc import abstractmethod
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Protocol

    from trainway.agent.base.clock import Clock
    from trainway.agent.base.directory import Directory
    from trainway.agent.base.event_loop import EventLoop
    from trainway.agent.base.journal import Journal
    from trainway.agent.controllers.job import Job
    from trainway.agent.slurm.driver.task_frames import BeginStep, TaskOrder
    from trainway.agent.slurm.fencing import Token
    from trainway.agent.slurm.srun import Line
    from trainway.agent.supervisor.pod_registry import PodRegistry
    from trainway.agent.supervisor.remote_pods import PodsOwner
    from trainway.json_types import Json

    class StepOwner(PodsOwner, Protocol):
        """The driver, as far as its pods know it."""

        @property
        def token(self) -> Token:
            """The attempt that they belong to."""

        @abstractmethod
        def on_record(self, pod: RemotePod, record: Json) -> None:
            """A task says something about its pod."""

        @abstractmethod
        def has_ended(self, pod: RemotePod) -> bool:
            """Whether the end of a pod is known, even if it does not count yet."""

        @abstractmethod
        def on_vanished(self, pods: Sequence[RemotePod], errors: str) -> None:
            """A step ended, and nobody knows how these pods did."""

        @abstractmethod
        def on_step_over(self) -> None:
            """A step ended."""


LATE_BEATS = 5


class StepPod(RemotePod):
    """A pod that is a task."""

    def interrupt(self, reason: str) -> None:
        """Have it stopped with its grace period, through no fault of its own."""
        if self.terminal:
            return
        if not self.host:
            self.lose(reason, "")
            return
        self.how = INTERRUPT
        self._stop()


class Ground:
    """What the driver knows of the allocation."""

    def __init__(
        self,
        lines: Mapping[str, Line],
        places: Mapping[str, str],
        addresses: Mapping[str, str],
        environ: Mapping[str, str],
        agent: Sequence[str],
    ) -> None:
        self.lines = lines
        """The lines of srun that start pods, by role."""
        self.places = places
        """The node of each pod that may run at once with others."""
        self.addresses = addresses
        """The addresses of the nodes."""
        self.environ = environ
        """The environment that srun is called with."""
        self.agent = list(agent)
        """The words that run an agent."""
        self.jobs: dict[str, str] = {}
        """The numbers of the annexes of an elastic job, by their nodes."""
        self.annex: list[str] = []
        """The options of sbatch that get an elastic job another node; empty: it does not grow."""
        self.requeues = True
        """Whether Slurm may begin the job anew."""
        self.sick: set[str] = set()
        """The nodes that failed a health check of the job."""
        self.own = ""
        """The node of the driver."""
        self.groups: dict[str, int] = {}
        """Which part of the job nodes are in, where it has several."""
        self.peers: Json = {}
        """What pods have to know to reach each other."""
        self.is_apart = False
        """Whether its nodes share no files."""
        self.silence = 0.0
        """How long Slurm waits for a node."""

    def pod_addresses(self) -> dict[str, str]:
        """Where each pod is."""
        return {key: self.addresses.get(node, "") for key, node in self.places.items()}


class StepPods(RemotePods):
    """All pods that have not ended, and the steps they are in."""

    kind = StepPod

    def __init__(
        self,
        owner: StepOwner,
        directory: Directory,
        ground: Ground,
        loop: EventLoop,
        journal: Journal,
        clock: Clock,
    ) -> None:
        super().__init__(owner, loop, journal, clock)
        self._driver = owner
        self._directory = directory
        self._ground = ground
        self.has_other_nodes = ground.requeues and not ground.is_apart and not ground.groups
        self._turns = loop
        self._steps: list[Step] = []
        self._number = 0
        self._devices: dict[str, Json] = {}
        """Which devices the place of a pod has, as Slurm chose them."""
        self._unreleased: set[str] = set()
        """Places that Slurm may count as taken for ever: by a step that had to be killed, since one
        of its nodes lost it."""
        self._is_scheduled = False
        self.on_start: Callable[[str], None] = lambda _node: None
        """Called with the node of each pod that is started."""
        self.inherited: list[RemotePod] = []
        """The pods that an earlier attempt left."""
        directory.make(FOLDER)

    def recover(self, pods: PodRegistry, job: Job, records: Sequence[Json], now: float) -> None:
        """Pods of an earlier attempt: those that ended by themselves did so, whoever was told.

        Those that were ended for it count as running until the driver says that they are lost.
        """
        known = [
            {**record, "phase": "Running"} if is_disrupted(record) else record for record in records
        ]
        super().recover(pods, job, known, now)
        for record in known:
            pod = self.get(str(record["uid"]))
            self.inherited += [] if pod is None else [pod]
            last = last_record(self._directory, str(record["uid"]))
            if pod is not None and last is not None and not is_disrupted(last):
                pod.take(last)

    def has_place(self, pod: RemotePod) -> bool:
        """An elastic job may have lost nodes of its allocation."""
        is_elastic = pod.identity.role.job.minimum is not None
        return not is_elastic or self.place_of(pod) in self._ground.places

    def places_in_use(self) -> set[str]:
        """Those that something runs in, or may."""
        held = {place for step in self._steps for place in step.places}
        return held | {pod.place for pod in self.sent()}

    @property
    def is_quiet(self) -> bool:
        """Whether no step runs any more."""
        return not self._steps

    def order(self, order: TaskOrder) -> None:
        """Tell all tasks something."""
        for step in self._steps:
            step.order(order)

    def ask(self, uid: str) -> None:
        """Have the task of a pod answer with `echo`."""
        self.order({"op": "echo", "uid": uid})

    def remember_devices(self, pod: RemotePod, devices: Json) -> None:
        """Note what Slurm chose for a pod, for those that take its place."""
        if not any(step.shares for step in self._steps if pod in step.pods):
            self._devices[pod.place] = devices

    def end_late_steps(self) -> None:
        """End steps that go on without any pod: a node of theirs does not answer."""
        for step in list(self._steps):
            step.delay = step.delay + 1 if step.is_over else 0
            if step.delay > LATE_BEATS:
                self._unreleased |= step.places
                step.kill()

    def wake(self) -> None:
        """Start, in the next turn, all pods whose turn has come."""
        if not self._is_scheduled:
            self._is_scheduled = True
            self._turns.call_soon(self._start_waiting)

    def kill(self) -> None:
        """End all steps, at once."""
        for step in list(self._steps):
            step.kill()

    def _start_waiting(self) -> None:
        self._is_scheduled = False
        together: dict[str, list[RemotePod]] = {}
        for pod in self.waiting():
            place = self.place_of(pod)
            if place not in self._ground.places:
                continue  # all of its Job's are taken; the end of a pod wakes us again
            holders = [step for step in self._steps if place in step.places]
            if any(step.is_over for step in holders):
                continue  # its end wakes us again
            pod.sent_to(self._ground.places[place], place)
            if holders:
                self._start([pod], shares=True)
            else:
                # A lost node takes its step along: those of an elastic job have one each.
                is_elastic = pod.identity.role.job.minimum is not None
                group = pod.identity.key if is_elastic else pod.identity.job_name
                together.setdefault(group, []).append(pod)
        for pods in together.values():
            self._start(pods, shares=any(pod.place in self._unreleased for pod in pods))

    def _start(self, pods: Sequence[RemotePod], *, shares: bool) -> None:
        self._number += 1
        name = f"{self._driver.token}-{self._number}"
        line = self._ground.lines[pods[0].identity.role.name]
        nodes = [pod.host for pod in pods]
        gpus = line.gpus * self._neighbours(pods[0]) if shares else 0
        call = Call(_label(pods), nodes, shares=shares, gpus=gpus)
        frame = self._frame(pods, shares=bool(gpus))
        environ = dict(self._ground.environ)
        annex = self._ground.jobs.get(nodes[0], "")
        if annex:
            call.job, environ = annex, clean_environment(environ)
        if len(pods) > 1:
            hostfile = f"{FOLDER}/{name}.hosts"
            self._directory.write(hostfile, "".join(f"{node}\n" for node in nodes).encode())
            environ[HOSTFILE] = self._directory.join(hostfile)
        agent = ["python3", *self._ground.agent[1:]] if line.is_contained else self._ground.agent
        program = [*agent, "slurm", "pod", self._directory.path]
        step = Step(pods, shares=shares, on_record=self._driver.on_record, on_end=self._on_end)
        self._steps.append(step)
        try:
            step.start(self._turns, command(line, call, program), environ, frame)
        except OSError as error:
            self._on_end(step, f"srun: {error.strerror}")
            return
        for node in dict.fromkeys(nodes):
            self.on_start(node)

    def _frame(self, pods: Iterable[RemotePod], *, shares: bool) -> BeginStep:
        """What the tasks of a step are told first."""
        return {
            "token": str(self._driver.token),
            "addresses": {
                **self._ground.pod_addresses(),
                **{pod.identity.key: self._ground.addresses.get(pod.host, "") for pod in pods},
            },
            "machines": dict(self._ground.addresses),
            "peers": self._ground.peers if self._ground.is_apart else {},
            "pods": [
                {
                    "key": pod.identity.key,
                    "pod": pod.identity.to_json(),
                    "env": self._devices.get(pod.place, {}) if shares else {},
                }
                for pod in pods
            ],
        }

    def _neighbours(self, pod: RemotePod) -> int:
        """How many places of its role are on a pod's node, its own among them."""
        role = f"{pod.identity.role.name}-"
        places = self._ground.places.items()
        return sum(node == pod.host and key.startswith(role) for key, node in places)

    def _on_end(self, step: Step, errors: str) -> None:
        if step in self._steps:
            self._steps.remove(step)
        for pod in step.pods:
            if not self._driver.has_ended(pod):
                last = last_record(self._directory, pod.identity.uid)
                if last is not None:
                    self._driver.on_record(pod, last)
        left = [pod for pod in step.pods if not self._driver.has_ended(pod)]
        if left:
            self._driver.on_vanished(left, errors)
        self._driver.on_step_over()
        self.wake()

    def send_stop(self, pod: RemotePod) -> None:
        """Have the task of a pod stop it."""
        for step in self._steps:
            if pod in step.pods:
                step.order({"op": "stop", "uid": pod.identity.uid, "how": pod.how})
                return
        pod.lose(ALLOCATION_LOST, "")

    def send_go(self, pod: RemotePod) -> bool:
        """Have the task of a pod start it."""
        for step in self._steps:
            if pod in step.pods:
                step.order({"op": "go", "uid": pod.identity.uid})
                return True
        return False


def _label(pods: Sequence[RemotePod]) -> str:
    """What the accounting calls a step: its pod, or the Job of its pods."""
    first = pods[0].identity
    return first.key if len(pods) == 1 else f"{first.role.name}-{first.job_index}"
