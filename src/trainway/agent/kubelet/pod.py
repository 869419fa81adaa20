"""One pod: the kubelet's part, on this machine.

Init containers run one after the other; sidecars among them stay. Then all main containers run
together, each restarted by its own rules; the pod ends when the last of them has ended for good,
and its sidecars are stopped after them, last one first. Stopping a pod goes the same way, with its
grace period. Every look at the containers starts from how they are, not from what happened last.
"""

from __future__ import annotations

from trainway.agent.base.clock import rfc3339
from trainway.agent.base.pod_status import TERMINAL, PodStatus
from trainway.agent.kubelet.container import INIT, MAIN, SIDECAR, Container, Owner
from trainway.agent.kubelet.health.check import HealthCheck
from trainway.agent.kubelet.pod_environment import FAILED, PodEnvironment
from trainway.agent.kubelet.pod_setup import PodSetup, SetupError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from trainway.agent.base.event_loop import Timer
    from trainway.agent.base.pod_identity import PodIdentity
    from trainway.agent.base.records import ContainerRecord, PodRecord
    from trainway.agent.kubelet.node import Node
    from trainway.json_types import Json


DEFAULT_GRACE = 30


class Pod(Owner):
    """A pod from its first container to its last."""

    def __init__(
        self, identity: PodIdentity, node: Node, on_change: Callable[[Pod], object]
    ) -> None:
        self.identity = identity
        self._node = node
        self._on_change = on_change
        spec = identity.role.pod_spec
        self.restart_policy = str(spec.get("restartPolicy") or "OnFailure")
        grace = spec.get("terminationGracePeriodSeconds")
        self.grace = float(DEFAULT_GRACE if grace is None else grace)
        self.phase = "Pending"
        self.reason = ""
        self.message = ""
        self.deleted = False
        self.finished_at = 0.0
        self._failed = False
        self._stop_at: float | None = None
        """When the grace period ends, once the pod is being stopped."""
        self._setup = PodSetup(identity, node)
        self._first = [
            Container(item, SIDECAR if item.get("restartPolicy") == "Always" else INIT, self, node)
            for item in spec.get("initContainers") or []
        ]
        self._main = [Container(item, MAIN, self, node) for item in spec.get("containers") or []]
        seconds = identity.plan.health_seconds
        self._check = None if seconds is None else HealthCheck(identity, seconds, self, node)
        """What has to end well before anything else starts; it is no container of the pod."""
        self._environment = PodEnvironment(identity, node, self)
        self._of_template = [*self._first, *self._main]
        """The containers of the template."""
        if self._environment.is_wanted:
            self._first.insert(0, self._environment.container)
        self._deadline: Timer | None = None
        self._scheduled = False
        self._published: Json = {}

    @property
    def containers(self) -> list[Container]:
        """Init containers, then main ones."""
        return [*self._first, *self._main]

    @property
    def _running(self) -> list[Container]:
        """All that may have a process."""
        return self.containers if self._check is None else [self._check, *self.containers]

    @property
    def terminal(self) -> bool:
        """Whether it ended."""
        return self.phase in TERMINAL

    def status(self) -> PodStatus:
        """The pod as the Job controller sees it."""
        ended = [item for item in (*self._main, *self._first) if item.state == "terminated"]
        indexed = self.identity.role.job.indexed
        return PodStatus(
            self.identity.uid,
            name=self.identity.name,
            index=self.identity.slot if indexed else None,
            phase=self.phase,
            ready=self._is_ready(),
            deleted=self.deleted,
            exit_codes=[(item.name, item.exit_code) for item in ended],
            restart_times=[moment for item in self.containers for moment in item.restart_times],
            finished_at=self.finished_at,
        )

    def start(self) -> None:
        """Prepare everything and start the first containers."""
        self._publish()
        if self.deleted:
            self._advance()
            return
        try:
            self._setup.make_volumes()
            if self._check is not None:
                self._check.prepare()
            for container in self._of_template:
                container.command = self._setup.command(container.spec)
            self._environment.prepare(self._main)
            for container in self.containers:
                name = f"{self.identity.key}.{container.name}.{self.identity.attempt}"
                container.log = self._node.open_log(name)
        except SetupError as error:
            self.tell("Warning", error.reason, str(error))
            self._fail(error.reason, str(error))
        except OSError as error:
            self._fail("FailedCreate", f"{error.strerror}: {error.filename}")
        if not self._failed:
            self._node.usage.add(self)
        deadline = self.identity.role.pod_spec.get("activeDeadlineSeconds")
        if deadline is not None:
            self._deadline = self._node.loop.call_later(float(deadline), self._on_deadline)
        self._advance()

    def let_go(self) -> None:
        """Start what waited for the environments of other pods."""
        self._environment.let_go()
        self.changed()

    def delete(self) -> None:
        """Stop it, with its grace period; it counts as deleted from now on."""
        if not self.deleted and not self.terminal:
            self.deleted = True
            self.changed()

    def interrupt(self, reason: str) -> None:
        """Stop it for a reason that is not its own."""
        if not self.terminal:
            self._fail(reason, "")
            self.delete()

    def fence(self, reason: str, message: str) -> None:
        """Kill it, now, for a reason that is not its own; it counts as failed."""
        if self.terminal:
            return
        self._fail(reason, message)
        for container in self._running:
            container.kill()
        self.changed()

    def kill(self) -> None:
        """Stop it without waiting for anything."""
        self.deleted = True
        for container in self._running:
            container.kill()
        self.changed()

    def changed(self) -> None:
        """Look at the containers anew, in the next turn of the loop."""
        if not self._scheduled:
            self._scheduled = True
            self._node.loop.call_soon(self._advance)

    def peak_memory(self) -> int:
        """The most that was sampled."""
        return self._node.usage.peak(self.identity.uid)

    def tell(self, type_: str, reason: str, message: str) -> None:
        """Report an event of the pod."""
        self._node.tell(type_, reason, message, f"Pod/{self.identity.key}")

    def _on_deadline(self) -> None:
        if not self.terminal:
            message = "Pod was active on the node longer than the specified deadline"
            self._fail("DeadlineExceeded", message)
            self.changed()

    def _fail(self, reason: str, message: str) -> None:
        self._failed = True
        self.reason, self.message = reason, message

    def _advance(self) -> None:
        """Do what the state of the containers asks for."""
        self._scheduled = False
        if self.terminal:
            return
        if not self._is_over() and self._is_healthy() and self._initialize():
            self._run_main()
        if self._is_over():
            self._wind_down()
        elif self.phase == "Pending" and all(item.was_running for item in self._main):
            self.phase = "Running"
        self._publish()

    def _is_over(self) -> bool:
        """Whether nothing is to be started any more."""
        if self.deleted or self._failed:
            return True
        return all(item.state == "terminated" and not item.runs_again for item in self._main)

    def _is_healthy(self) -> bool:
        """Go on with the health check, if there is one; whether all else may start."""
        check = self._check
        if check is None:
            return True
        if check.untouched:
            check.start()
        elif check.state == "terminated" and check.exit_code:
            self.tell("Warning", check.failure, check.answer)
            self._fail(check.failure, check.answer)
        elif check.state == "terminated":
            self._check = None
            if not self.identity.slot:
                self.tell("Normal", "HealthChecked", check.answer)
        return self._check is None

    def _initialize(self) -> bool:
        """Go on with the init containers; whether the main ones may run."""
        for item in self._first:
            if item.untouched:
                item.start()
                return False
            if item.runs_again:
                item.restart_later()
            if item.kind == SIDECAR:
                if not item.was_started:
                    return False
            elif item.state != "terminated" or item.runs_again:
                return False
            elif item is self._environment.container:
                if not self._environment.adopt(self._of_template):
                    if self._environment.failure:
                        self._fail(FAILED, self._environment.failure)
                    return False
            elif item.exit_code:
                message = f"Init container {item.name} failed with exit code {item.exit_code}"
                self._fail("InitContainerFailed", message)
                return False
        return True

    def _run_main(self) -> None:
        for item in self._main:
            if item.untouched:
                item.start()
            elif item.runs_again:
                item.restart_later()

    def _wind_down(self) -> None:
        """Stop what still runs: sidecars only after all others, and in reverse order."""
        now = self._node.now()
        if self._stop_at is None:
            self._stop_at = now + self.grace
        remaining = max(0.0, self._stop_at - now)
        sidecars = [item for item in self._first if item.kind == SIDECAR]
        others = [item for item in self._running if item.kind != SIDECAR]
        for item in (*others, *(item for item in sidecars if not item.busy)):
            item.stop(remaining)
        if any(item.busy for item in others):
            return
        for item in reversed(sidecars):
            if item.busy:
                item.stop(remaining)
                return
        self._end()

    def _end(self) -> None:
        codes = [item.exit_code for item in self._main if item.state == "terminated"]
        good = not self._failed and len(codes) == len(self._main) and not any(codes)
        self.phase = "Succeeded" if good else "Failed"
        self.finished_at = self._node.now()
        self._node.usage.remove(self)
        if self._deadline is not None:
            self._deadline.cancel()
        self._environment.release()
        for item in self.containers:
            if item.log is not None:
                item.log.close()

    @property
    def temporary(self) -> list[str]:
        """Directories that are of no use once the pod has ended."""
        return self._setup.volumes.temporary

    def _is_ready(self) -> bool:
        staying = [item for item in self.containers if item.kind != INIT]
        return self.phase == "Running" and all(item.ready for item in staying)

    def _publish(self) -> None:
        """Write the pod into the journal where it changed, and let the Job controller know."""
        record = self.record()
        if record != self._published:
            self._published = record
            self._node.journal.append("pod", record)
            self._on_change(self)

    def record(self) -> Json:
        """The pod as the journal has it."""
        record: PodRecord = {
            "pod": self.identity.key,
            "job": self.identity.job_name,
            "slot": self.identity.slot,
            "uid": self.identity.uid,
            "name": self.identity.name,
            "attempt": self.identity.attempt,
            "phase": self.phase,
            "ready": self._is_ready(),
            "containers": [_record(item) for item in self.containers],
        }
        if self._environment.is_ready:
            record["prepared"] = True
        if self.reason:
            record["reason"] = self.reason
        if self.message:
            record["message"] = self.message
        if self.deleted:
            record["deleted"] = True
        return dict(record)


def _record(item: Container) -> ContainerRecord:
    record: ContainerRecord = {"name": item.name, "state": item.state, "restarts": item.restarts}
    if item.kind != MAIN:
        record["kind"] = item.kind
    if item.state == "running":
        record["pid"] = item.pid
        record["ready"] = item.ready
    if item.state == "terminated":
        record["exitCode"] = item.exit_code
        if item.signal:
            record["signal"] = item.signal
    if item.state != "waiting" and item.started_at is not None:
        record["startedAt"] = rfc3339(item.started_at)
    if item.finished_at is not None:
        record["finishedAt"] = rfc3339(item.finished_at)
    if item.reason:
        record["reason"] = item.reason
    if item.message:
        record["message"] = item.message
    if item.last_state:
        record["lastState"] = item.last_state
    if item.log is not None and item.log.dropped:
        record["logBytesDropped"] = item.log.dropped
    return record
