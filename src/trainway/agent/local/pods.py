"""Pods as processes of this agent, and what becomes of all they leave behind."""

from __future__ import annotations

import os

from trainway.agent.base.removal import remove_trees
from trainway.agent.kubelet import process_tree
from trainway.agent.kubelet.command import Command
from trainway.agent.kubelet.container_tool import LABEL, ContainerTool
from trainway.agent.kubelet.helper import Helper
from trainway.agent.kubelet.node import Node
from trainway.agent.kubelet.pod import Pod
from trainway.agent.kubelet.processes import Listener, ProcessTable
from trainway.agent.supervisor.pod_registry import Workplace
from trainway.agent.supervisor.recovery import PURGE_SECONDS, LostPod, clear_containers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from trainway.agent.base.clock import Clock
    from trainway.agent.base.directory import Directory
    from trainway.agent.base.event_loop import EventLoop
    from trainway.agent.base.journal import Journal
    from trainway.agent.base.plan import Plan
    from trainway.agent.base.pod_identity import PodIdentity
    from trainway.agent.controllers.job import Job
    from trainway.agent.supervisor.pod_registry import AnyPod, PodRegistry
    from trainway.json_types import Json


SWEEP_SECONDS = 0.05
SWEEPS = 200


class LocalPods(Workplace):
    """The machine, for the pods of one job. All children of the process count as the job's."""

    def __init__(
        self, plan: Plan, directory: Directory, loop: EventLoop, journal: Journal, clock: Clock
    ) -> None:
        self._plan = plan
        self._loop = loop
        self._journal = journal
        self._processes = ProcessTable(loop)
        self.node = Node(plan, directory, loop, self._processes, journal, clock)

    def make(self, identity: PodIdentity, on_change: Callable[[AnyPod], object]) -> Pod:
        """A pod of processes."""

        def changed(pod: Pod) -> None:
            if pod.terminal:
                self._discard(pod.temporary)
            on_change(pod)

        return Pod(identity, self.node, changed)

    def recover(self, pods: PodRegistry, job: Job, records: Sequence[Json], now: float) -> None:
        """Pods of an agent that died are lost: it took their processes with it."""
        lost = [LostPod(record, indexed=job.spec.indexed, now=now) for record in records]
        pods.add_lost(job.name, lost)
        for pod in lost:
            if not pod.was_over:
                self._journal.append("pod", pod.record)

    def clear(self, done: Callable[[], object]) -> None:
        """Remove every container and kill every process that can have come from the job."""

        def swept() -> None:
            self.node.sweep_groups()
            done()

        self._purge(lambda: self._sweep(swept))

    def abandon(self) -> None:
        """Kill everything without waiting for any of it."""
        process_tree.signal_all(self._offspring())
        clear_containers(self._plan)

    def _purge(self, done: Callable[[], object]) -> None:
        if not self._plan.containers:
            done()
            return
        tool = ContainerTool(self._plan.containers)
        command = Command(tool.purge(self._plan.id), env=self._plan.env)

        def answer(passed: bool) -> None:
            if not passed:
                message = f"not all containers with the label {LABEL}={self._plan.id} were removed"
                self.node.tell_once("Warning", "ContainersLeft", message)
            done()

        self.node.help(Helper(answer), command, PURGE_SECONDS)

    def _sweep(self, done: Callable[[], object], sweeps: int = SWEEPS) -> None:
        """Kill every process that can have come from the job, whatever became of its parents."""
        left = self._offspring()
        if left and not sweeps:
            message = f"processes that cannot be killed: {left}"
            self.node.tell_once("Warning", "ProcessesLeft", message)
        if not left or not sweeps:
            done()
            return
        helpers = self._processes.pids
        process_tree.signal_all(pid for pid in left if pid not in helpers)
        self._loop.call_later(SWEEP_SECONDS, lambda: self._sweep(done, sweeps - 1))

    def _offspring(self) -> list[int]:
        """All processes below this one, and all with the mark of the job."""
        found = [*process_tree.descendants([os.getpid()]), *process_tree.marked(self._plan.id)]
        return sorted({pid for pid in found if process_tree.is_alive(pid)})

    def _discard(self, paths: list[str]) -> None:
        """Remove directories of a pod that ended, in a child since they may be large."""
        if paths:
            command = Command([], env={}, function=lambda: remove_trees(paths))
            self._processes.start(command, Listener(), with_output=False)
