"""One attempt of a job in one allocation of Slurm: its controllers here, its pods as steps.

Slurm alone begins a job anew elsewhere. Whatever takes the allocation away, be it a preemption, a
dead node or somebody's scancel, this driver stops its pods, leaves its journal open, and stays
until Slurm ends it; the driver of the next attempt goes on from there. Only what the job does by
itself, its time limit, and a wish of its user bring it to an end.
"""

from __future__ import annotations

import os
import signal

from trainway.agent.base.transitions import following
from trainway.agent.slurm.driver.driver_state import TRANSITIONS, DriverState
from trainway.agent.slurm.driver.elasticity import Elasticity
from trainway.agent.slurm.driver.pod_ends import PodEnds
from trainway.agent.slurm.driver.shutdown import Shutdown
from trainway.agent.slurm.driver.step_failure import SILENT, StepFailure
from trainway.agent.slurm.driver.step_pods import StepPods
from trainway.agent.slurm.fencing import BEAT_SECONDS, FENCE, TaskLiveness
from trainway.agent.slurm.files.job_files import DRIVER
from trainway.agent.slurm.job_facts import look
from trainway.agent.slurm.taken_away import begun_anew
from trainway.agent.supervisor.recovery import ALLOCATION_LOST, HOST_LOST, begun, why_unhealthy
from trainway.agent.supervisor.remote_pod import is_disrupted
from trainway.agent.supervisor.supervisor import Supervisor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from trainway.agent.base.clock import Clock
    from trainway.agent.base.event_loop import EventLoop
    from trainway.agent.base.journal import Journal
    from trainway.agent.base.plan import Plan
    from trainway.agent.slurm.commands import Commands
    from trainway.agent.slurm.driver.node_links import NodeLinks
    from trainway.agent.slurm.driver.step_pods import Ground
    from trainway.agent.slurm.driver.watchdog import Watchdog
    from trainway.agent.slurm.fencing import DriverLease, Token
    from trainway.agent.slurm.job_facts import JobFacts
    from trainway.agent.supervisor.recovery import Remembered
    from trainway.agent.supervisor.remote_pod import RemotePod
    from trainway.json_types import Json


REQUEUE, REQUEUE_HELD = "requeue", "requeuehold"
"""How Slurm is asked to begin a job anew; one that is held is released by the relay."""
WISH, STOPPED = "wish", "stopped"
CANCEL, SUSPEND, LEAVE = "cancel", "suspend", "leave"
EXIT_FAILED = 1
FLUSH_SECONDS = 1.0
LAST_SECONDS = 5.0
TIME_LIMIT = "TimeLimit"
UNHEARD = "neither Slurm nor the login node answers any more"


class Driver:
    """Runs a plan in an allocation."""

    def __init__(
        self,
        plan: Plan,
        lease: DriverLease,
        ground: Ground,
        loop: EventLoop,
        journal: Journal,
        clock: Clock,
        commands: Commands,
    ) -> None:
        self._directory = lease.directory
        self._lease = lease
        self._ground = ground
        self._loop = loop
        self._journal = journal
        self._commands = commands
        self._pods = StepPods(self, lease.directory, ground, loop, journal, clock)
        self._supervisor = Supervisor(plan, loop, journal, clock, self._pods, self._over)
        self._size = Elasticity(lease, ground, journal, commands, self._pods, self._supervisor)
        self._liveness = TaskLiveness()
        self._watchdog: Watchdog | None = None
        self._links: NodeLinks | None = None
        if ground.is_apart:
            self._go_apart(lease, ground, loop, commands)
        self._shutdown = Shutdown(
            lease, loop, commands, self._links, lambda: self._supervisor.suspended,
            {*ground.places.values()},
        )  # fmt: skip
        self._ends = PodEnds(self._pods, self._links, lambda: self._is_leaving, self._carry_out)
        self._state = DriverState.RUNNING
        self._why_left = ""
        self._requeue = ""
        self._is_cancelled = False
        self.status = EXIT_FAILED

    def _go_apart(
        self, lease: DriverLease, ground: Ground, loop: EventLoop, commands: Commands
    ) -> None:
        """Do what a shared file system would have done."""
        from trainway.agent.slurm.driver.node_links import NodeLinks  # noqa: PLC0415 - seldom needed
        from trainway.agent.slurm.driver.watchdog import Watchdog  # noqa: PLC0415 - the same

        self._watchdog = Watchdog(lease, commands, ground.silence)
        self._links = NodeLinks(lease.directory, ground, loop)
        self._pods.on_start = self._links.reach

    def _become(self, state: DriverState) -> None:
        self._state = following(TRANSITIONS, self._state, state)

    @property
    def _is_leaving(self) -> bool:
        return self._state in (DriverState.LEAVING, DriverState.LEFT)

    @property
    def _is_stale(self) -> bool:
        return self._state is DriverState.STALE

    @property
    def token(self) -> Token:
        """The attempt that this is."""
        return self._lease.token

    def start(self, remembered: Remembered | None) -> None:
        """Begin, or go on with what an earlier attempt left."""
        self._directory.remove(STOPPED)
        if self._links is not None:
            self._directory.replace(DRIVER, str(os.getpid()).encode())
        self._beat()
        agent = begun(is_new=remembered is None or remembered.left)
        agent["token"] = str(self.token)
        self._journal.append("agent", agent)
        self._size.begin()
        self._loop.on_signal(signal.SIGTERM, self._on_term)
        self._loop.on_signal(signal.SIGINT, self._on_term)
        self._loop.on_signal(signal.SIGUSR1, self._on_user_signal)
        wish = self._wish()
        self._is_cancelled = wish == CANCEL
        self._supervisor.start(remembered, cancelled=self._is_cancelled)
        self._take_over()
        if wish in (SUSPEND, LEAVE):
            self._suspend()
        elif self._supervisor.suspended:
            self._supervisor.handle({"op": "resume"}, _ignore)

    def _take_over(self) -> None:
        """Count as lost what an earlier attempt left, and run everything again."""
        left = [pod for pod in self._pods.inherited if not pod.terminal]
        reason, message = begun_anew(self._lease)
        if any(not pod.deleted for pod in left):
            self._supervisor.restart(reason, message)
        for pod in left:
            pod.lose(ALLOCATION_LOST, message)

    def _wish(self) -> str:
        """What the user wants of the job, as the relay put it down."""
        try:
            return self._directory.read(WISH).decode("ascii", "replace").strip()
        except OSError:
            return ""

    def _beat(self) -> None:
        """Look whether this attempt still counts, and let its pods go on."""
        if self._is_stale:
            return
        self._loop.call_later(BEAT_SECONDS, self._beat)
        try:
            self._lease.beat()
        except OSError as error:
            # The pods will end if this lasts, and a newer attempt waits until then.
            os.write(2, f"no heartbeat: {error}\n".encode())
            return
        if self._watchdog is not None and not self._watchdog.check():
            self._requeue = REQUEUE
            self._leave(UNHEARD)
        if self._state is DriverState.RUNNING:
            self._size.look()
        self._pods.order({"op": "ping"})
        self._pods.end_late_steps()
        running = [pod for pod in self._pods.sent() if pod.seen and not self.has_ended(pod)]
        missed = self._liveness.missed(pod.identity.uid for pod in running)
        silent = [pod for pod in running if pod.identity.uid in missed]
        if silent:
            self.on_vanished(silent, SILENT)

    def _on_term(self) -> None:
        """Slurm or the relay asks for the end."""
        if self._is_stale:
            return
        wish = self._wish()
        if self._supervisor.ended:
            if self._state is not DriverState.DELIVERING:  # then something would be lost
                self._loop.stop()
        elif wish == CANCEL:
            self._is_cancelled = True
            self._supervisor.cancel()
        elif wish in (SUSPEND, LEAVE):
            self._suspend()
        else:
            self._leave("Slurm takes the allocation away")

    def _on_user_signal(self) -> None:
        """The time limit is near, or a preemption announced itself in the same way."""
        look(self._commands, self.token.job, self._on_warning)

    def _on_warning(self, facts: JobFacts) -> None:
        if facts.is_preempted:
            self._leave("the job has to make room for another one")
        elif not self._is_leaving and not self._is_stale:
            message = "the time limit of the Slurm job is reached"
            self._supervisor.tell("Warning", TIME_LIMIT, message)
            self._supervisor.refuse(TIME_LIMIT, message)

    def _suspend(self) -> None:
        self._supervisor.handle({"op": SUSPEND}, _ignore)
        self._check_suspended()

    def _check_suspended(self) -> None:
        """Say that it is stopped, so that the relay may put the job on hold."""
        is_stopping = self._state in (DriverState.RUNNING, DriverState.LEAVING)
        if not is_stopping or self._supervisor.finished:
            return
        if self._supervisor.suspended and not self._supervisor.live_pods() and self._pods.is_quiet:
            self._directory.replace(STOPPED, str(self.token).encode(), durable=True)
            self._become(DriverState.LEFT if self._is_leaving else DriverState.HELD)
            self._size.close(_nothing)
            self._shutdown.wait_for_slurm()

    def _leave(self, why: str) -> None:
        """Stop all pods and start none: the next attempt goes on."""
        if self._is_leaving or self._is_stale or self._supervisor.ended:
            return
        if self._supervisor.finished:
            for pod in self._supervisor.live_pods():
                pod.kill()  # so that its end can still be written
            return
        is_held = self._state is DriverState.HELD
        self._become(DriverState.LEFT if is_held else DriverState.LEAVING)
        self._why_left = why
        self._supervisor.tell("Warning", ALLOCATION_LOST, why)
        for pod in self._ends.drop_held():
            pod.lose(ALLOCATION_LOST, why)
        self._supervisor.leave()

    def _over(self) -> None:
        """The last record is written, or the last pod of a job that is left has ended."""
        if not self._journal.flush():
            self._loop.call_later(FLUSH_SECONDS, self._over)
        elif self._supervisor.ended:
            self._supervisor.handle({"op": "status"}, self._take_status)
            if self._state is DriverState.RUNNING:
                self._become(DriverState.COMPLETING)
                self._loop.call_later(LAST_SECONDS, self._go)
                self._finish()
        elif self._state is DriverState.LEAVING:
            self._become(DriverState.LEFT)
            self._size.close(_nothing)
            self._shutdown.wait_for_slurm(self._requeue)

    def _take_status(self, answer: Mapping[str, Any]) -> None:
        completed = answer["jobset"].get("terminalState") == "Completed"
        self.status = 0 if completed else EXIT_FAILED

    def _finish(self) -> None:
        """Go when the last step is over, which follows its pods at once."""
        if self._pods.is_quiet:
            self._go()

    def _go(self) -> None:
        if self._state is DriverState.COMPLETING:
            self._become(DriverState.DELIVERING)
            self._size.close(lambda: self._shutdown.deliver(self._exit))

    def _exit(self) -> None:
        if not self._is_stale:
            self._become(DriverState.EXITING)
            self._shutdown.exit(is_cancelled=self._is_cancelled)

    def fail(self, message: str) -> None:
        """Give up after an error of our own."""
        self._supervisor.fail(message)

    def give_way(self) -> None:
        """Kill everything: another attempt counts. The journal is not ours any more."""
        self._become(DriverState.STALE)
        self._pods.order({"op": "stop", "how": FENCE})
        give_up = self._loop.call_later(LAST_SECONDS, self._pods.kill)
        while not self._pods.is_quiet:
            self._loop.turn()
        if not give_up.cancelled:
            give_up.cancel()
            self._lease.leave()

    def on_record(self, pod: RemotePod, record: Json) -> None:
        """A task says something about its pod."""
        if self._is_stale:
            return
        type_, uid = record.get("type"), pod.identity.uid
        self._liveness.heard(uid)
        if type_ == "pod":
            self._ends.take(pod, record)
        elif type_ == "echo":
            self._ends.answered(uid)
        elif type_ == "place":
            self._pods.remember_devices(pod, record.get("devices") or {})
        elif type_ == "signal" and not self._size.is_annex(pod):
            self._on_term()
        elif type_ == "failed":
            pod.fail("AgentError", str(record.get("message")))
        elif type_ in ("event", "progress", "usage"):
            kept = ("seq", "time", "type", "uid", "token")
            fields = {key: value for key, value in record.items() if key not in kept}
            self._journal.append(type_, fields)
        self._ends.release()

    def _carry_out(self, pod: RemotePod, record: Json) -> None:
        if self._is_stale:
            return
        if is_disrupted(record) and not pod.deleted and not self._is_leaving:
            why = str(record.get("message") or record.get("reason"))
            if not why_unhealthy(record):
                if not self._size.is_annex(pod) or not self._size.goes_on_without(pod, why):
                    self._lost(pod, why)
            elif not self._pods.has_other_nodes:
                self._size.tell_sick(pod, why)
            elif not self._size.does_without_sick(pod, why):
                self._requeue = REQUEUE_HELD
                self._leave(f"node {pod.host} failed its health check: {why}")
        pod.take(record)

    def _lost(self, pod: RemotePod, why: str) -> None:
        message = f"pod {pod.identity.key} on node {pod.host} was lost: {why}"
        self._supervisor.restart(HOST_LOST, message)

    def has_ended(self, pod: RemotePod) -> bool:
        """Whether the end of a pod is known, even if it does not count yet."""
        return self._ends.has_ended(pod)

    def on_vanished(self, pods: Sequence[RemotePod], errors: str) -> None:
        """A step ended, and nobody knows how these pods did."""
        if self._is_stale:
            return
        failure = StepFailure(errors)
        said = failure.message
        if failure.is_end_of_job and not all(map(self._size.is_annex, pods)):
            self._leave(said)
        told = ""
        for pod in pods:
            if self._is_leaving or pod.deleted:
                pod.lose(ALLOCATION_LOST, self._why_left or said)
            elif failure.is_out_of_memory:
                pod.fail("OOMKilled", said)
            elif not (pod.seen or failure.is_unreachable or self._size.is_annex(pod)):
                why = failure.why_not_started(pod.host, self._directory.path)
                if why != told:
                    told = why
                    self._supervisor.tell("Warning", "FailedCreate", why)
                pod.fail("FailedCreate", why)
            elif self._size.goes_on_without(pod, said):
                pod.lose(HOST_LOST, said)
            elif self._ground.requeues:
                self._requeue = self._requeue or REQUEUE
                self._leave(f"pod {pod.identity.key} on node {pod.host} vanished: {said}")
                pod.lose(HOST_LOST, said)
            else:
                self._lost(pod, said)
                pod.lose(HOST_LOST, said)
            self._ends.lost(pod.identity.uid)
        self._ends.release()

    def on_step_over(self) -> None:
        """A step ended."""
        if self._state is DriverState.COMPLETING:
            self._finish()
        else:
            self._check_suspended()

    def on_turn(self) -> None:
        """The turn of a pod has come."""
        if self._state is DriverState.RUNNING:
            self._pods.wake()

    def on_pod_over(self) -> None:
        """A pod has ended: its place may be free."""
        self._pods.wake()
        if self._supervisor.suspended:
            self._loop.call_soon(self._check_suspended)

    def abandon(self) -> None:
        """Let nothing of the job run on."""
        self._pods.kill()


def _nothing() -> None:
    """Nobody waits for it."""


def _ignore(_answer: Mapping[str, Any]) -> None:
    """Nobody asked."""
