"""Samples what the pods of a job use here, and writes it into the journal now and then.

Samples are taken every five seconds, or less often where that would take more than a quarter of a
percent of a core. What is written is their average. The older a job is and the more pods it has,
the less often it is written, so that a journal grows by little in a week; see `pause`.
"""

from __future__ import annotations

import time

from trainway.agent.kubelet.usage.averages import SAMPLE_SECONDS, Average, pause
from trainway.agent.kubelet.usage.gpu_monitor import GpuMonitor, is_driver_here, of_pod
from trainway.agent.kubelet.usage.idle_gpus import IdleGpus, busy_message, idle_message
from trainway.agent.kubelet.usage.process_usage import ProcessUsage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from typing import Protocol

    from trainway.agent.base.event_loop import EventLoop, Timer
    from trainway.agent.base.plan import Plan
    from trainway.agent.base.pod_identity import PodIdentity
    from trainway.agent.base.records import GpuUsage, PodUsage, UsageRecord
    from trainway.agent.kubelet.processes import ProcessTable
    from trainway.agent.kubelet.usage.gpu_monitor import Gpu, GpuFigure
    from trainway.agent.kubelet.usage.process_usage import Used

    class Started(Protocol):
        """A container."""

        @property
        def pid(self) -> int | None:
            """The number of its process while it runs."""

    class Pod(Protocol):
        """A pod, as far as it is sampled."""

        identity: PodIdentity

        @property
        def containers(self) -> Sequence[Started]:
            """All of them."""

        def tell(self, type_: str, reason: str, message: str) -> None:
            """Report an event of the pod."""

    class Recorder(Protocol):
        """What records are written to."""

        def append(self, type_: str, fields: Mapping[str, object]) -> int:
            """Add a record; its number."""
            ...

    class Node(Protocol):
        """The machine, for one job."""

        plan: Plan
        loop: EventLoop
        processes: ProcessTable
        now: Callable[[], float]

        @property
        def journal(self) -> Recorder:
            """Where to write."""

        def gpus(self, pod: PodIdentity) -> list[str]:
            """The GPUs of NVIDIA that are assigned to a pod."""
            ...


FIRST_SECONDS = 2.0
LARGEST_SHARE = 1 / 400
"""The part of a core that sampling may take."""


class SampledPod:
    """What is known of one pod."""

    def __init__(self, pod: Pod, now: float) -> None:
        self.pod = pod
        self.peak = 0
        """The most memory that it was seen to have."""
        self.idle = IdleGpus()
        self._cpu_seconds = 0.0
        self._since = now
        """When the CPU time was that."""
        self._used: Used | None = None
        self._memory = Average()
        self._gpus: dict[str, dict[GpuFigure, Average]] = {}
        self._pids: set[int] = set()

    def roots(self) -> list[int]:
        """The first processes of its containers."""
        return [item.pid for item in self.pod.containers if item.pid is not None]

    def note(self, used: Used) -> None:
        """Take in what its processes use."""
        self._used = used
        self._memory.add(used.memory)
        self.peak = max(self.peak, used.memory)

    def note_gpus(self, gpus: Collection[Gpu]) -> None:
        """Take in what its GPUs do."""
        for gpu in gpus:
            known = self._gpus.setdefault(gpu.index, {})
            for name, value in gpu.figures.items():
                known.setdefault(name, Average()).add(value)

    def summary(self, now: float) -> PodUsage | None:
        """What it used since the last time; None: nothing is known of that."""
        used, passed = self._used, now - self._since
        if used is None or passed <= 0:
            return None
        spent = max(0.0, used.cpu_seconds - self._cpu_seconds)
        found: PodUsage = {
            "cpu": round(100 * spent / passed, 1),
            "memory": round(self._memory.value),
            "peakMemory": self.peak,
        }
        gpus = {index: _figures(known) for index, known in self._gpus.items()}
        if gpus:
            found["gpus"] = gpus
        self._cpu_seconds, self._since = used.cpu_seconds, now
        self._used, self._memory, self._gpus = None, Average(), {}
        return found


class UsageSampler:
    """Samples all pods of a job on this machine, while there are any."""

    def __init__(
        self,
        node: Node,
        *,
        processes: ProcessUsage | None = None,
        monitor: GpuMonitor | None = None,
        cost: Callable[[], float] = time.thread_time,
    ) -> None:
        self._node = node
        self._cost = cost
        self._processes = processes
        self._monitor = monitor
        self._pods: dict[str, SampledPod] = {}
        """By uid."""
        self._started: float | None = None
        self._written = 0.0
        self._timer: Timer | None = None

    def add(self, pod: Pod) -> None:
        """Sample a pod from now on."""
        now = self._node.now()
        self._pods[pod.identity.uid] = SampledPod(pod, now)
        if self._started is None:
            self._started = now
        if self._timer is None:
            self._timer = self._node.loop.call_later(FIRST_SECONDS, self._on_time)
        if self._node.gpus(pod.identity) or is_driver_here():
            self._watch_gpus()

    def remove(self, pod: Pod) -> None:
        """Sample a pod no more; what is known of it is written."""
        sampled = self._pods.pop(pod.identity.uid, None)
        if sampled is not None:
            self._write([sampled], self._node.now())
        if self._pods:
            return
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._monitor is not None:
            self._monitor.stop()

    def peak(self, uid: str) -> int:
        """The most memory that a pod was seen to have, in bytes; 0: it was not seen."""
        sampled = self._pods.get(uid)
        return 0 if sampled is None else sampled.peak

    def _watch_gpus(self) -> None:
        if self._monitor is None:
            node = self._node
            self._monitor = GpuMonitor(node.loop, node.processes, SAMPLE_SECONDS)
        self._monitor.start()

    def _on_time(self) -> None:
        before = self._cost()
        now = self._node.now()
        self.sample(now)
        started = now if self._started is None else self._started
        pods = sum(role.replicas * role.job.pods for role in self._node.plan.roles)
        # Half a sample early is not late: timers do not ring to the millisecond.
        if now - self._written >= pause(now - started, pods) - SAMPLE_SECONDS / 2:
            self._written = now
            self._write(list(self._pods.values()), now)
        spent = self._cost() - before
        delay = max(SAMPLE_SECONDS, spent / LARGEST_SHARE)
        self._timer = self._node.loop.call_later(delay, self._on_time)

    def sample(self, now: float) -> None:
        """Look at everything once."""
        if self._processes is None:
            self._processes = ProcessUsage(finds_foreign=bool(self._node.plan.containers))
        roots = {uid: sampled.roots() for uid, sampled in self._pods.items()}
        used = self._processes.of_pods(roots)
        gpus = self._monitor.take() if self._monitor is not None else []
        for uid, sampled in self._pods.items():
            if used[uid].pids:
                sampled.note(used[uid])
            if gpus:
                assigned = self._node.gpus(sampled.pod.identity)
                self._note_gpus(sampled, of_pod(gpus, assigned, used[uid].pids), now)

    def _note_gpus(self, sampled: SampledPod, gpus: Collection[Gpu], now: float) -> None:
        sampled.note_gpus(gpus)
        busiest: dict[str, float] = {}
        for gpu in gpus:
            percent = gpu.figures.get("utilization")
            if percent is not None:
                busiest[gpu.index] = max(busiest.get(gpu.index, 0.0), percent)
        idle, busy = sampled.idle.note(busiest, now)
        if idle:
            sampled.pod.tell("Warning", "GPUIdle", idle_message(idle))
        if busy:
            sampled.pod.tell("Normal", "GPUBusy", busy_message(busy))

    def _write(self, pods: Collection[SampledPod], now: float) -> None:
        found = {sampled.pod.identity.key: sampled.summary(now) for sampled in pods}
        known = {key: used for key, used in found.items() if used is not None}
        if known:
            fields: UsageRecord = {"pods": known}
            self._node.journal.append("usage", fields)


def _figures(known: dict[GpuFigure, Average]) -> GpuUsage:
    figures: GpuUsage = {}
    for name, average in known.items():
        figures[name] = round(average.value, 1)
    return figures
