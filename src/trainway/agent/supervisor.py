"""One job from its first pod to its end: what the controllers decide is done, and written down.

A turn: the JobSet controller looks at the Jobs, the Job controller at each Job and its pods, until
nothing changes any more; then pods are started and stopped, and what changed goes into the journal.
A Job is always written before the pods that it wants are started, so that a later agent knows of
every process that there can be.
"""

from __future__ import annotations

import os
import signal
from importlib import import_module

from trainway.agent import process_tree
from trainway.agent.command import Command
from trainway.agent.container_tool import LABEL
from trainway.agent.helper import Helper
from trainway.agent.job import Job
from trainway.agent.job_controller import sync
from trainway.agent.jobset import JobSet
from trainway.agent.jobset_controller import reconcile
from trainway.agent.node import Node
from trainway.agent.pod_registry import PodRegistry
from trainway.agent.processes import Listener, ProcessTable
from trainway.agent.recovery import AGENT_LOST, PURGE_SECONDS, LostPod, clear_containers
from trainway.agent.unsupported import not_honoured

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from trainway.agent.clock import Clock
    from trainway.agent.control import Answer, ControlServer
    from trainway.agent.directory import Directory
    from trainway.agent.event_loop import EventLoop, Timer
    from trainway.agent.journal import Journal
    from trainway.agent.plan import Plan
    from trainway.agent.pod import Pod
    from trainway.agent.recovery import Remembered
    from trainway.agent.status_endpoint import StatusEndpoint

    Json = dict[str, Any]

DRAIN_SECONDS = 2.0
"""How long clients may take to read the end of the journal."""
SWEEP_SECONDS = 0.05
SWEEPS = 200
JOURNAL_RETRY_SECONDS = 1.0
REMOVED_CHECK_SECONDS = 5.0


class Look:
    """When a Job was last looked at, what was wanted of it then, and when to look again."""

    def __init__(self, job: Job, again_at: float | None) -> None:
        self.wish = (job.suspend, job.deleting)
        self.again_at = again_at


class Supervisor:
    """Runs a plan."""

    def __init__(
        self, plan: Plan, directory: Directory, loop: EventLoop, journal: Journal, clock: Clock
    ) -> None:
        self.plan = plan
        self._directory = directory
        self._loop = loop
        self._journal = journal
        self._clock = clock
        self._processes = ProcessTable(loop)
        self._node = Node(plan, directory, loop, self._processes, journal, clock)
        self._pods = PodRegistry(self._node, self._on_pod)
        self._jobset = JobSet(plan)
        self._job_states: dict[str, Json] = {}
        self._looks: dict[str, Look] = {}
        self._status: Json = {}
        self._control: ControlServer | None = None
        self._status_endpoint: StatusEndpoint | None = None
        self._timer: Timer | None = None
        self._scheduled = False
        self._leaving = False
        self._ending = False
        self._ended = False
        self._cancels: list[Answer] = []
        loop.on_signal(signal.SIGTERM, self.leave)
        loop.on_signal(signal.SIGINT, self.leave)

    def start(self, remembered: Remembered | None = None, *, cancelled: bool = False) -> None:
        """Begin, or go on from what is remembered; a job that was cancelled only ends."""
        if remembered is not None:
            self._restore(remembered)
        else:
            for name in ("logs", "output", "volumes"):
                self._directory.make(name)
        if cancelled:
            self.cancel()
        self._reconcile()
        if self._ended:
            return
        ignored = not_honoured(self.plan)
        if ignored:
            contained = self.plan.container_tool is not None
            where = "on this machine" if contained else "without containers"
            message = f"{where} these have no effect: {', '.join(ignored)}"
            self._node.tell_once("Normal", "NotHonoured", message)

    def listen(self) -> None:
        """Open the control socket: after the first pods, since importing sockets takes its time."""
        control = import_module("trainway.agent.control")
        self._control = control.ControlServer(
            self._directory, self._loop, self._journal, self._handle
        )
        if self.plan.status:
            self._take_progress()
        self._check_removed()

    def _check_removed(self) -> None:
        """End a job whose directory was removed: nobody could ever reach it any more."""
        if self._journal.is_removed:
            self.cancel()
        else:
            self._loop.call_later(REMOVED_CHECK_SECONDS, self._check_removed)

    def _take_progress(self) -> None:
        """Let the job's processes report how far they are."""
        endpoint = import_module("trainway.agent.status_endpoint").StatusEndpoint
        try:
            self._status_endpoint = endpoint(
                self._directory, self._loop, self.plan.status, self._on_progress
            )
        except OSError as error:
            message = f"progress cannot be reported: {error.strerror}"
            self._node.tell_once("Warning", "NoProgress", message)

    def _on_progress(self, status: Json) -> None:
        self._journal.append("progress", {"trainerStatus": status})

    def _restore(self, remembered: Remembered) -> None:
        self._jobset.restore(remembered.status)
        self._status = self._jobset.status()
        if remembered.suspend is not None:
            self._jobset.suspend = remembered.suspend
        now = self._clock.now()
        for name, state in remembered.jobs.items():
            spec = self.plan.role(state["role"]).job
            job = Job.restored(name, spec, state)
            job.namespace = self.plan.namespace
            self._jobset.jobs[name] = job
            records = remembered.pods.get(name, {}).values()
            pods = [LostPod(record, indexed=spec.indexed, now=now) for record in records]
            self._pods.add_lost(name, pods)
            for pod in pods:
                if not pod.was_over:
                    self._journal.append("pod", pod.record)

    def _on_pod(self, pod: Pod) -> None:
        """A pod changed."""
        if pod.terminal:
            self._discard(pod.temporary)
        self._looks.pop(pod.identity.job_name, None)
        self.wake()

    def wake(self) -> None:
        """Let the controllers look again, in the next turn of the loop."""
        if not self._scheduled:
            self._scheduled = True
            self._loop.call_soon(self._reconcile)

    def _reconcile(self) -> None:
        self._scheduled = False
        if self._leaving:
            self._check_left()
            return
        if self._ending:
            return
        if self._timer is not None:
            self._timer.cancel()
        now = self._clock.now()
        changed = True
        while changed:
            reconcile(self._jobset, now)
            jobs = [job for job in self._jobset.jobs.values() if self._is_due(job, now)]
            changes = [self._sync(job, now) for job in jobs]
            changed = any(changes)
        self._publish()
        self._pods.start_waiting()
        moments = [look.again_at for look in self._looks.values() if look.again_at is not None]
        if moments:
            self._timer = self._loop.call_later(min(moments) - now, self.wake)
        if self._jobset.finished and not self._pods.live():
            self._end()

    def _is_due(self, job: Job, now: float) -> bool:
        """Whether there is news for a Job since the last look at it."""
        look = self._looks.get(job.name)
        if look is None or look.wish != (job.suspend, job.deleting):
            return True
        return look.again_at is not None and look.again_at <= now

    def _sync(self, job: Job, now: float) -> bool:
        """Look at one Job; whether that changed anything about it."""
        decision = sync(job, self._pods.statuses(job.name), now)
        self._looks[job.name] = Look(job, decision.wake_at)
        self._pods.delete(job.name, decision.delete)
        self._pods.forget_counted(job)
        for index in decision.create:
            self._pods.create(job, index)
        for type_, reason, message in decision.events:
            self._node.tell(type_, reason, message, f"Job/{job.name}")
        if job.deleting and not self._pods.of(job.name):
            del self._jobset.jobs[job.name]
            self._job_states.pop(job.name, None)
            self._looks.pop(job.name, None)
            self._journal.append("job", {"job": job.name, "gone": True})
            return True
        state = job.state()
        if state == self._job_states.get(job.name):
            return False
        self._job_states[job.name] = state
        self._looks.pop(job.name, None)
        self._journal.append("job", {"job": job.name, "state": state})
        return True

    def _publish(self) -> None:
        """Write the JobSet's status and events, where there is something new."""
        events, self._jobset.events = self._jobset.events, []
        for type_, reason, message in events:
            self._node.tell(type_, reason, message, f"JobSet/{self._jobset.name}")
        status = self._jobset.status()
        if status != self._status:
            weighty = any(
                status[key] != self._status.get(key) for key in ("conditions", "restarts")
            )
            durable = weighty and bool(self._status)
            self._status = status
            fields: Json = {"jobset": status, "suspend": self._jobset.suspend}
            self._journal.append("status", fields, durable=durable)

    def _handle(self, request: Json, answer: Answer) -> None:
        """Carry out a request of a client."""
        operation = request.get("op")
        if operation == "status":
            pods = [pod.record() for pod in self._pods.live()]
            answer({"ok": True, "pid": os.getpid(), "jobset": self._jobset.status(), "pods": pods})
        elif operation == "cancel" and self._ended:
            answer({"ok": True, "jobset": self._jobset.status()})
        elif operation == "cancel":
            self._cancels.append(answer)
            self.cancel(hurry=request.get("grace") == 0)
        elif operation not in ("suspend", "resume"):
            answer({"ok": False, "error": f"no such operation: {operation}"})
        elif self._jobset.finished:
            answer({"ok": False, "error": "the job has ended"})
        else:
            self._jobset.suspend = operation == "suspend"
            self._reconcile()
            answer({"ok": True, "jobset": self._jobset.status()})

    def cancel(self, *, hurry: bool = False) -> None:
        """End the job: every pod is stopped."""
        if not self._jobset.finished:
            now = self._clock.now()
            self._jobset.end("Failed", "Cancelled", "the job was cancelled", now)
        if hurry:
            for pod in self._pods.live():
                pod.kill()
        self.wake()

    def leave(self) -> None:
        """Stop all pods and go, without an end: the next agent recovers the job."""
        if self._leaving or self._ending:
            return
        self._leaving = True
        self._journal.append("agent", {"event": "stopping", "pid": os.getpid()}, durable=True)
        for pod in self._pods.live():
            pod.interrupt(AGENT_LOST)
        self._check_left()

    def _check_left(self) -> None:
        if not self._pods.live() and not self._ending:
            self._ending = True
            self._purge(lambda: self._sweep(self._flush_and_stop))

    def _end(self) -> None:
        """Write how it ended, once nothing runs any more, and go."""
        self._ending = True
        self._purge(lambda: self._sweep(self._write_end))

    def _purge(self, done: Callable[[], None]) -> None:
        """Remove every container that can have come from the job."""
        if self.plan.container_tool is None:
            done()
            return
        command = Command(self.plan.container_tool.purge(self.plan.id), env=self.plan.env)

        def answer(passed: bool) -> None:
            if not passed:
                message = f"not all containers with the label {LABEL}={self.plan.id} were removed"
                self._node.tell_once("Warning", "ContainersLeft", message)
            done()

        self._node.help(Helper(answer), command, PURGE_SECONDS)

    def _sweep(self, done: Callable[[], None], sweeps: int = SWEEPS) -> None:
        """Kill every process that can have come from the job, whatever became of its parents."""
        left = self._offspring()
        if left and not sweeps:
            message = f"processes that cannot be killed: {left}"
            self._node.tell_once("Warning", "ProcessesLeft", message)
        if not left or not sweeps:
            done()
            return
        helpers = self._processes.pids
        process_tree.signal_all(pid for pid in left if pid not in helpers)
        self._loop.call_later(SWEEP_SECONDS, lambda: self._sweep(done, sweeps - 1))

    def _offspring(self) -> list[int]:
        """All processes below this one, and all with the mark of the job."""
        found = [*process_tree.descendants([os.getpid()]), *process_tree.marked(self.plan.id)]
        return sorted({pid for pid in found if process_tree.is_alive(pid)})

    def _write_end(self) -> None:
        succeeded, reason, message = self._jobset.outcome()
        fields: Json = {"succeeded": succeeded, "reason": reason, "message": message}
        self._journal.append("end", fields, durable=True)
        self._ended = True
        for answer in self._cancels:
            answer({"ok": True, "jobset": self._jobset.status()})
        self._flush_and_stop()

    def _flush_and_stop(self) -> None:
        """Go when the journal is on disk and all watchers have read it."""
        if not self._journal.flush():
            self._loop.call_later(JOURNAL_RETRY_SECONDS, self._flush_and_stop)
        elif self._control is None:
            self._loop.stop()
        else:
            self._loop.call_later(DRAIN_SECONDS, self._loop.stop)
            self._control.drain(self._loop.stop)

    def fail(self, message: str) -> None:
        """Give up after an error of our own: nothing may be left running, nor start again."""
        process_tree.signal_all(self._offspring())
        clear_containers(self.plan)
        now = self._clock.now()
        self._jobset.end("Failed", "AgentError", message, now)
        self._publish()
        fields: Json = {"succeeded": False, "reason": "AgentError", "message": message}
        self._journal.append("end", fields, durable=True)

    def _discard(self, paths: list[str]) -> None:
        """Remove directories of a pod that ended, in a child since they may be large."""
        if paths:
            command = Command([], env={}, function=lambda: _remove_trees(paths))
            self._processes.start(command, Listener(), with_output=False)


def _remove_trees(paths: list[str]) -> int:
    for path in paths:
        import_module("shutil").rmtree(path, ignore_errors=True)
    return 0
