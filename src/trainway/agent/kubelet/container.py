"""One container of a pod: its process, its probes and hooks, how it is started and stopped."""

from __future__ import annotations

from abc import ABC, abstractmethod

from trainway.agent.kubelet.command import CANNOT_START, Command
from trainway.agent.kubelet.container_tool import start_error
from trainway.agent.kubelet.handlers import handler_command
from trainway.agent.kubelet.helper import Helper
from trainway.agent.kubelet.log_writer import STDERR
from trainway.agent.kubelet.memory_limit import figures, outer_limit
from trainway.agent.kubelet.probes import Probe, Prober
from trainway.agent.kubelet.processes import Listener
from trainway.agent.kubelet.restart_policy import CrashBackoff, restarts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from trainway.agent.base.event_loop import Timer
    from trainway.agent.kubelet.container_tool import Contained
    from trainway.agent.kubelet.control_group import ControlGroup
    from trainway.agent.kubelet.log_writer import LogWriter
    from trainway.agent.kubelet.node import Node
    from trainway.agent.kubelet.processes import Process
    from trainway.json_types import Json


KILLED = 137
"""The exit code of a program that SIGKILL ended, or of a shell around it."""
OOM_KILLED = "OOMKilled"
OUT_OF_MEMORY = "it used more memory than it has"
INIT, SIDECAR, MAIN = "init", "sidecar", "main"
LAST_ERRORS = 4096
REMOVAL_SECONDS = 60.0
LEAST_GRACE = 2.0
"""How long a container has between SIGTERM and SIGKILL whatever a hook has used up, in seconds."""
HEAD_START = 0.2
"""Seconds that a sidecar without a probe runs before what comes next is started.

A kubelet takes up to a second to see that it runs, and programs count on being first.
"""


class Owner(ABC):
    """The pod, as far as its containers know it."""

    restart_policy = "Never"
    grace = 30.0
    """How long the container has between SIGTERM and SIGKILL, in seconds."""

    @abstractmethod
    def changed(self) -> None:
        """A container started, ended or became ready."""

    @abstractmethod
    def peak_memory(self) -> int:
        """The most bytes of memory that the pod was seen to have; 0: that is not known."""

    @abstractmethod
    def tell(self, type_: str, reason: str, message: str) -> None:
        """Report an event of the pod."""


class Container(Listener, Prober):
    """A container, through all its restarts within one pod."""

    def __init__(self, spec: Json, kind: str, owner: Owner, node: Node) -> None:
        self.spec = spec
        self.name = str(spec["name"])
        self.kind = kind
        self._owner = owner
        self._node = node
        self.command: Command | None = None
        """The command, which the pod sets before the first start."""
        self.log: LogWriter | None = None
        self.state = "waiting"
        self.reason = ""
        self.message = ""
        self.exit_code = 0
        self.last_state: Json = {}
        """How it ended before it was started again, as Kubernetes has it."""
        self.signal = 0
        self.restarts = 0
        self.restart_times: list[float] = []
        self.started_at: float | None = None
        self.finished_at: float | None = None
        self.started = False
        """Whether the container runs and its startup probe has passed."""
        self.was_started = False
        """Whether that was so at least once."""
        self.ready = False
        self.stopping = False
        self._restart_wanted = False
        self._backoff = CrashBackoff()
        self._process: Process | None = None
        self._group: ControlGroup | None = None
        """The control group that holds it to its memory limit while it runs."""
        self._removing = False
        """Whether its process has ended and what the container tool left is being removed."""
        self._errors = b""
        """The last words of the container tool."""
        self._probes: list[Probe] = []
        self._helpers: list[Helper] = []
        self._kill_timer: Timer | None = None
        self._restart_timer: Timer | None = None

    @property
    def pid(self) -> int | None:
        """The number of its process while it runs."""
        return self._process.pid if self._process is not None else None

    @property
    def busy(self) -> bool:
        """Whether there is a process."""
        return self._process is not None

    @property
    def untouched(self) -> bool:
        """Whether it never was started."""
        return self.state == "waiting" and not self.busy and self.started_at is None

    @property
    def was_running(self) -> bool:
        """Whether its program was started at least once, or could not be."""
        return self.state in ("running", "terminated") or self.restarts > 0

    @property
    def runs_again(self) -> bool:
        """Whether it ended but not for good."""
        if self.state != "terminated":
            return False
        if self._restart_wanted:
            return True
        return restarts(self.spec, self._owner.restart_policy, self.exit_code)

    def start(self) -> None:
        """Start its program."""
        if self.command is None or self.busy:
            return
        if self.started_at is not None:
            self.restarts += 1
            self.restart_times.append(self._node.now())
            self.last_state = {"exitCode": self.exit_code, "reason": self.reason}
            if self.message:
                self.last_state["message"] = self.message
        self.state, self.reason, self.message = "waiting", "", ""
        self.started_at, self.finished_at = self._node.now(), None
        self.stopping = self._restart_wanted = False
        self._errors = b""
        self._group = self._node.control_group(self.spec, self.command.mark)
        self.command.group = self._group.path if self._group is not None else ""
        try:
            self._process = self._node.processes.start(self.command, self, with_output=True)
        except OSError as error:
            self._note_end(CANNOT_START, f"{error.strerror}")
            self._owner.changed()

    def restart_later(self) -> None:
        """Start again when its back-off has passed."""
        if self._restart_timer is not None or self.started_at is None or self.finished_at is None:
            return
        delay = self._backoff.delay(self.finished_at - self.started_at)
        if delay:
            message = f"Back-off {delay:g}s restarting failed container {self.name}"
            self._owner.tell("Warning", "BackOff", message)
        self._restart_timer = self._node.loop.call_later(delay, self._restart)

    def _restart(self) -> None:
        self._restart_timer = None
        self.start()
        self._owner.changed()

    def stop(self, grace: float) -> None:
        """Ask it to end, after its preStop hook, and kill it when its time is up."""
        if self._restart_timer is not None:
            self._restart_timer.cancel()
            self._restart_timer = None
        if self._process is None or self.stopping or self._removing:
            return
        self.stopping = True
        self._stop_probes()
        process, deadline = self._process, self._node.now() + grace
        hook = (self.spec.get("lifecycle") or {}).get("preStop")
        if hook and grace > 0 and self.state == "running":
            self.ask(hook, grace, lambda _passed: self._terminate(process, deadline))
        else:
            self._terminate(process, deadline)

    def _terminate(self, process: Process, deadline: float) -> None:
        if self._process is not process:
            return
        self._node.processes.terminate(process)
        grace = max(deadline - self._node.now(), LEAST_GRACE)
        kill = self._node.processes.kill
        self._kill_timer = self._node.loop.call_later(grace, lambda: kill(process))

    def kill(self) -> None:
        """End it at once."""
        self.stop(0.0)
        if self._process is not None and not self._removing:
            self._node.processes.kill(self._process)

    def on_started(self) -> None:
        """The program runs: begin with hooks and probes."""
        self.state, self.reason = "running", ""
        self.started_at = self._node.now()
        hook = (self.spec.get("lifecycle") or {}).get("postStart")
        if hook and not self.stopping:
            process = self._process
            self.ask(hook, None, lambda passed: self._on_post_start(process, passed))
        startup = self.spec.get("startupProbe")
        if startup and not self.stopping:
            self._probe(startup, self._on_startup)
        elif self.kind == SIDECAR and not self.was_started:
            run = self.restarts
            self._node.loop.call_later(HEAD_START, lambda: self._on_head_start(run))
        else:
            self._mark_started()
        self._owner.changed()

    def _on_head_start(self, run: int) -> None:
        if self.state == "running" and self.restarts == run:
            self._mark_started()
            self._owner.changed()

    def _on_post_start(self, process: Process | None, passed: bool) -> None:
        if not passed and self._process is process:
            self._fail_check("FailedPostStartHook", "PostStartHook failed", {})

    def _mark_started(self) -> None:
        self.started = self.was_started = True
        readiness, liveness = self.spec.get("readinessProbe"), self.spec.get("livenessProbe")
        self.ready = not readiness
        if readiness and not self.stopping:
            self._probe(readiness, self._on_readiness)
        if liveness and not self.stopping:
            self._probe(liveness, self._on_liveness)

    def _probe(self, spec: Json, on_turn: Callable[[bool], None]) -> None:
        probe = Probe(spec, self, on_turn)
        self._probes.append(probe)
        probe.start()

    def _on_startup(self, passed: bool) -> None:
        if passed and not self.started:
            self._stop_probes()
            self._mark_started()
            self._owner.changed()
        elif not passed:
            self._fail_check("Unhealthy", "Startup probe failed", self.spec["startupProbe"])

    def _on_readiness(self, passed: bool) -> None:
        if passed != self.ready:
            self.ready = passed
            if not passed:
                message = f"Readiness probe failed: container {self.name}"
                self._owner.tell("Warning", "Unhealthy", message)
            self._owner.changed()

    def _on_liveness(self, passed: bool) -> None:
        if not passed:
            self._fail_check("Unhealthy", "Liveness probe failed", self.spec["livenessProbe"])

    def _fail_check(self, reason: str, what: str, probe: Json) -> None:
        """Stop a container that is not well; it runs again unless its policy is Never."""
        self._owner.tell("Warning", reason, f"{what}: container {self.name}")
        policy = self.spec.get("restartPolicy") or self._owner.restart_policy
        self._restart_wanted = policy != "Never"
        grace = probe.get("terminationGracePeriodSeconds")
        self.stop(self._owner.grace if grace is None else float(grace))

    def ask(self, handler: Json, timeout: float | None, answer: Callable[[bool], None]) -> None:
        """Carry out a handler of a probe or hook beside the container.

        One that may take all the time there is also waits for the container to run.
        """
        if self.command is None:
            return
        host = self._node.plan.host_ip
        command = handler_command(handler, self.spec, self.command, host, wait=timeout is None)
        helper = Helper(answer)
        self._node.help(helper, command, timeout)
        self._helpers = [item for item in self._helpers if not _is_done(item)] + [helper]

    def join(
        self, argv: Sequence[str], listener: Listener, stdio: tuple[int, int, int]
    ) -> Process | None:
        """Start another program in its place, which ends with it; None while it does not run."""
        if self.command is None or self._process is None or self.state != "running":
            return None
        handler = {"exec": {"command": list(argv)}}
        command = handler_command(handler, self.spec, self.command, self._node.plan.host_ip)
        return self._node.processes.start_guest(command, listener, self._process, stdio)

    def call_later(self, delay: float, callback: Callable[[], object]) -> Timer:
        """Wait, for a probe."""
        return self._node.loop.call_later(delay, callback)

    def on_output(self, stream: bytes, data: bytes) -> None:
        """Put what it wrote into its log."""
        if stream == STDERR and self.command is not None and self.command.contained is not None:
            self._errors = (self._errors + data)[-LAST_ERRORS:]
        if self.log is None:
            return
        if data:
            self.log.feed(stream, data)
        else:
            self.log.finish(stream)

    def on_gone(self, process: Process) -> None:
        """Note how it ended."""
        self._stop_probes()
        if self._kill_timer is not None:
            self._kill_timer.cancel()
        for helper in self._helpers:
            if helper.process is not None and not _is_done(helper):
                self._node.processes.kill(helper.process)
        complaint = start_error(process.exit_code, self._errors)
        contained = self.command.contained if self.command is not None else None
        if contained is not None and (process.signal or complaint):
            # The tool did not see its container to the end.
            self._remove(contained, lambda: self._finish(process, complaint))
        else:
            self._finish(process, complaint)

    def _remove(self, contained: Contained, done: Callable[[], None]) -> None:
        """Make sure that a container is gone."""

        def answer(passed: bool) -> None:
            if not passed:
                text = f"container {self.name} could not be removed"
                self._owner.tell("Warning", "ContainerLeft", text)
            done()

        self._removing = True
        command = Command(contained.remove(), env=self._node.plan.env)
        self._node.help(Helper(answer), command, REMOVAL_SECONDS)

    def _finish(self, process: Process, complaint: str) -> None:
        self._process, self._removing = None, False
        self.signal = process.signal
        self._note_end(process.exit_code, process.reason.decode("utf-8", "replace") or complaint)
        self._owner.changed()

    def _note_end(self, exit_code: int, why_not_started: str) -> None:
        self.state = "terminated"
        self.started = self.ready = False
        self.exit_code = exit_code
        self.finished_at = self._node.now()
        self.reason = "Completed" if exit_code == 0 else "Error"
        group, self._group = self._group, None
        peak, limit = (group.peak, group.limit) if group is not None else (0, 0)
        if self._ran_out_of_memory(group):
            peak, limit = peak or self._owner.peak_memory(), limit or outer_limit()
            said = f"{OUT_OF_MEMORY}: {figures(peak, limit)}"
            self.reason, self.message = OOM_KILLED, said
            self._owner.tell("Warning", OOM_KILLED, f"container {self.name}: {said}")
        if why_not_started:
            self.reason, self.message = "StartError", why_not_started
            text = f"Error: failed to start container {self.name}: {self.message}"
            self._owner.tell("Warning", "Failed", text)

    def _ran_out_of_memory(self, group: ControlGroup | None) -> bool:
        """Whether it failed because it, or all of the agent's, took more memory than it may."""
        own = group is not None and group.ran_out_of_memory()
        if group is not None:
            group.remove()
        if not self.exit_code:
            return False
        is_killed = self.exit_code == KILLED and not self.stopping
        outer = self._node.ran_out_of_memory(is_killed=is_killed)
        return own or outer

    def _stop_probes(self) -> None:
        for probe in self._probes:
            probe.stop()
        self._probes = []


def _is_done(helper: Helper) -> bool:
    return helper.process is not None and helper.process.exited
