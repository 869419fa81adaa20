"""One job from its first pod to its end: what the controllers decide is done, and written down.

A turn: the JobSet controller looks at the Jobs, the Job controller at each Job and its pods, until
nothing changes any more; then pods are started and stopped, and what changed goes into the journal.
A Job is always written before the pods that it wants are started, so that a later agent knows of
every process that there can be. Where the pods run is the business of a `Workplace`; there may be
many supervisors in a process.
"""

from __future__ import annotations

import os

from trainway.agent.base.pod_status import HEALTH_CHECK_FAILED
from trainway.agent.base.transitions import following
from trainway.agent.controllers.elastic_rules import resize, survives
from trainway.agent.controllers.job import Job
from trainway.agent.controllers.job_controller import sync
from trainway.agent.controllers.jobset import JobSet
from trainway.agent.controllers.jobset_controller import reconcile
from trainway.agent.controllers.jobset_failure_policy import restart_regardless
from trainway.agent.supervisor.job_look import Look
from trainway.agent.supervisor.pod_registry import PodRegistry
from trainway.agent.supervisor.recovery import AGENT_LOST, why_unhealthy
from trainway.agent.supervisor.supervisor_state import TRANSITIONS, SupervisorState
from trainway.agent.supervisor.unsupported import not_honoured

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from trainway.agent.base.clock import Clock
    from trainway.agent.base.event_loop import Timer, Timetable
    from trainway.agent.base.journal import Journal
    from trainway.agent.base.plan import Plan
    from trainway.agent.base.records import (
        AgentRecord,
        EndRecord,
        EventRecord,
        JobRecord,
    )
    from trainway.agent.supervisor.answers import JobAnswer
    from trainway.agent.supervisor.control import Answer
    from trainway.agent.supervisor.pod_registry import AnyPod, Workplace
    from trainway.agent.supervisor.recovery import Remembered
    from trainway.json_types import Json


def _chance() -> float:
    """A random number from 0 to 1, without importing random."""
    return os.urandom(1)[0] / 255


class Supervisor:
    """Runs a plan."""

    def __init__(
        self,
        plan: Plan,
        loop: Timetable,
        journal: Journal,
        clock: Clock,
        workplace: Workplace,
        on_over: Callable[[], object],
    ) -> None:
        """`on_over` is called once nothing runs any more and the last record is written."""
        self.plan = plan
        self._loop = loop
        self._journal = journal
        self._clock = clock
        self._workplace = workplace
        self._on_over = on_over
        self._pods = PodRegistry(plan, workplace, self._on_pod)
        self._jobset = JobSet(plan)
        self._jobset.chance = _chance
        self._job_states: dict[str, Json] = {}
        self._looks: dict[str, Look] = {}
        self._status: Json = {}
        self._timer: Timer | None = None
        self._scheduled = False
        self._state = SupervisorState.RUNNING
        self._cancels: list[Answer] = []
        self._partings: list[Answer] = []
        self.before_end: Callable[[], None] = lambda: None
        """Called before it is written how the job ended."""
        self.before_parting: Callable[[], None] = lambda: None
        """Called before it is said that the job was let go of."""

    def start(self, remembered: Remembered | None = None, *, cancelled: bool = False) -> None:
        """Begin, or go on from what is remembered; a job that was cancelled only ends."""
        if remembered is not None:
            self._restore(remembered)
        if cancelled:
            self.cancel()
        self._reconcile()
        if self.ended:
            return
        ignored = not_honoured(self.plan)
        if ignored:
            contained = bool(self.plan.containers)
            where = "on this machine" if contained else "without containers"
            message = f"{where} these have no effect: {', '.join(ignored)}"
            self.tell("Normal", "NotHonoured", message)

    @property
    def suspended(self) -> bool:
        """Whether it shall not run for now."""
        return self._jobset.suspend

    @property
    def restarts(self) -> int:
        """How often it was begun anew."""
        return self._jobset.restarts

    @property
    def finished(self) -> bool:
        """Whether it is Completed or Failed, even if some pods still run."""
        return self._jobset.finished

    @property
    def ended(self) -> bool:
        """Whether its last record is written."""
        return self._state is SupervisorState.ENDED

    @property
    def left(self) -> bool:
        """Whether it was let go of, so that another agent can go on with the job."""
        return self._state is SupervisorState.LEFT

    def _become(self, state: SupervisorState) -> None:
        self._state = following(TRANSITIONS, self._state, state)

    def survives(self, lost: Collection[str]) -> bool:
        """Whether it would go on if the pods with these uids were lost."""
        return all(
            survives(job, self._pods.statuses(job.name), lost)
            for job in self._jobset.jobs.values()
            if not job.finished
        )

    def dismissed_pods(self) -> frozenset[str]:
        """The keys of the pods that an elastic job has to do without for now."""
        return self._jobset.dismissed_pods()

    @property
    def most_nodes(self) -> int | None:
        """How many nodes an elastic job may have; None: all."""
        return self._jobset.most_nodes

    def live_pods(self) -> list[AnyPod]:
        """All pods that have not ended."""
        return self._pods.live()

    def tell(self, type_: str, reason: str, message: str, about: str = "") -> None:
        """Write an event, about the JobSet if nothing else is said."""
        about = about or f"JobSet/{self._jobset.name}"
        fields: EventRecord = {
            "eventType": type_,
            "reason": reason,
            "message": message,
            "object": about,
        }
        self._journal.append("event", fields)

    def _restore(self, remembered: Remembered) -> None:
        self._jobset.restore(remembered.status)
        self._status = self._jobset.status()
        if remembered.suspend is not None:
            self._jobset.suspend = remembered.suspend
        self._jobset.most_nodes = remembered.most_nodes
        now = self._clock.now()
        for name, state in remembered.jobs.items():
            job = Job.restored(name, self.plan.role(state["role"]).job, state)
            job.namespace = self.plan.namespace
            self._jobset.jobs[name] = job
            records = list(remembered.pods.get(name, {}).values())
            self._workplace.recover(self._pods, job, records, now)

    def _on_pod(self, pod: AnyPod) -> None:
        """A pod changed."""
        self._looks.pop(pod.identity.job_name, None)
        why = "" if self._workplace.has_other_nodes else why_unhealthy(pod.record())
        if why:
            self.refuse(HEALTH_CHECK_FAILED, f"{pod.identity.key}: {why}")
        self.wake()

    def wake(self) -> None:
        """Let the controllers look again, in the next turn of the loop."""
        if not self._scheduled:
            self._scheduled = True
            self._loop.call_soon(self._reconcile)

    def _reconcile(self) -> None:
        self._scheduled = False
        if self._state is SupervisorState.LEAVING:
            self._check_left()
        if self._state is not SupervisorState.RUNNING:
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
        if self._jobset.wake_at is not None:
            moments.append(self._jobset.wake_at)
        if not self._jobset.finished and not self._jobset.backoff.is_due(now):
            moments.append(self._jobset.backoff.until)
        if moments:
            self._timer = self._loop.call_later(min(moments) - now, self.wake)
        if self._jobset.finished and not self._pods.live():
            self._end()
        elif self._partings and not self._pods.live():
            self._part()

    def _is_due(self, job: Job, now: float) -> bool:
        """Whether there is news for a Job since the last look at it."""
        look = self._looks.get(job.name)
        return look is None or look.is_due(job, now)

    def _sync(self, job: Job, now: float) -> bool:
        """Look at one Job; whether that changed anything about it."""
        decision = sync(job, self._pods.statuses(job.name), now)
        self._looks[job.name] = Look(job, decision.wake_at)
        self._pods.delete(job.name, decision.delete)
        self._pods.forget_counted(job)
        for index in decision.create:
            self._pods.create(job, index)
        for type_, reason, message in decision.events:
            self.tell(type_, reason, message, f"Job/{job.name}")
        if job.deleting and not self._pods.of(job.name):
            del self._jobset.jobs[job.name]
            self._job_states.pop(job.name, None)
            self._looks.pop(job.name, None)
            gone: JobRecord = {"job": job.name, "gone": True}
            self._journal.append("job", gone)
            return True
        state = job.state()
        if state == self._job_states.get(job.name):
            return False
        self._job_states[job.name] = state
        self._looks.pop(job.name, None)
        record: JobRecord = {"job": job.name, "state": state}
        self._journal.append("job", record)
        return True

    def _publish(self) -> None:
        """Write the JobSet's status and events, where there is something new."""
        events, self._jobset.events = self._jobset.events, []
        for type_, reason, message in events:
            self.tell(type_, reason, message)
        status = self._jobset.status()
        if status != self._status:
            weighty = any(
                status[key] != self._status.get(key) for key in ("conditions", "restarts")
            )
            durable = weighty and bool(self._status)
            self._status = status
            self._journal.append("status", self._jobset.record(), durable=durable)

    def _resize(self, most: int) -> None:
        """Have so many nodes at most; it is on the disk before anything ends for it."""
        if most == self._jobset.most_nodes:
            return
        self._jobset.most_nodes = most
        self._journal.append("status", self._jobset.record(), durable=True)
        for job in self._jobset.jobs.values():
            resize(job, self._pods.statuses(job.name), most)
            self._looks.pop(job.name, None)
        self._reconcile()

    def handle(self, request: Json, answer: Answer) -> None:
        """Carry out a request of a client."""
        operation = request.get("op")
        if operation == "status":
            status: JobAnswer = self._done()
            status["pid"] = os.getpid()
            status["pods"] = [pod.record() for pod in self._pods.live()]
            answer(status)
        elif operation == "cancel" and self.ended:
            answer(self._done())
        elif operation == "cancel":
            self._cancels.append(answer)
            self.cancel(hurry=request.get("grace") == 0)
        elif operation == "leave" and self._jobset.suspend and not self._jobset.finished:
            self._partings.append(answer)
            self.wake()
        elif operation == "leave":
            said = "has ended" if self._jobset.finished else "is not suspended"
            answer({"ok": False, "error": f"the job {said}"})
        elif operation not in ("suspend", "resume", "resize"):
            answer({"ok": False, "error": f"no such operation: {operation}"})
        elif self._jobset.finished:
            answer({"ok": False, "error": "the job has ended"})
        elif operation == "resize":
            nodes = request.get("nodes")
            if isinstance(nodes, int) and nodes > 0:
                self._resize(nodes)
                answer(self._done())
            else:
                answer({"ok": False, "error": "nodes: must be a number of at least 1"})
        else:
            self._jobset.suspend = operation == "suspend"
            if not self._jobset.suspend:
                self._refuse_partings("the job was resumed")
            self._reconcile()
            answer(self._done())

    def _done(self) -> JobAnswer:
        """The answer to what is done."""
        return {"ok": True, "jobset": self._jobset.status()}

    def cancel(self, *, hurry: bool = False) -> None:
        """End the job: every pod is stopped."""
        self.refuse("Cancelled", "the job was cancelled")
        if hurry:
            for pod in self._pods.live():
                pod.kill()

    def refuse(self, reason: str, message: str) -> None:
        """Let the job come to a bad end."""
        if not self._jobset.finished:
            self._jobset.end("Failed", reason, message, self._clock.now())
        self.wake()

    def restart(self, reason: str, message: str) -> None:
        """Begin anew after something that is not the job's fault, however often it happens."""
        if not self._jobset.finished:
            restart_regardless(self._jobset, reason, message, self._clock.now())
            self.wake()

    def leave(self) -> None:
        """Stop all pods and go, without an end: the next agent recovers the job."""
        if self._state is not SupervisorState.RUNNING:
            return
        self._become(SupervisorState.LEAVING)
        stopping: AgentRecord = {"event": "stopping", "pid": os.getpid()}
        self._journal.append("agent", stopping, durable=True)
        for pod in self._pods.live():
            pod.interrupt(AGENT_LOST)
        self._check_left()

    def _check_left(self) -> None:
        if not self._pods.live():
            self._become(SupervisorState.LEFT)
            self._workplace.clear(self._on_over)

    def _part(self) -> None:
        """Let go of a suspended job of which nothing runs: another agent goes on with it."""
        self._become(SupervisorState.LEAVING)
        left: AgentRecord = {"event": "left", "pid": os.getpid()}
        self._journal.append("agent", left, durable=True)
        self._become(SupervisorState.LEFT)
        self._workplace.clear(self._parted)

    def _parted(self) -> None:
        self.before_parting()
        for answer in self._partings:
            answer(self._done())
        self._on_over()

    def _refuse_partings(self, why: str) -> None:
        partings, self._partings = self._partings, []
        for answer in partings:
            answer({"ok": False, "error": why})

    def _end(self) -> None:
        """Write how it ended, once nothing runs any more, and go."""
        self._become(SupervisorState.ENDING)
        self._workplace.clear(self._write_end)

    def _write_end(self) -> None:
        self.before_end()
        succeeded, reason, message = self._jobset.outcome()
        fields: EndRecord = {"succeeded": succeeded, "reason": reason, "message": message}
        self._journal.append("end", fields, durable=True)
        self._become(SupervisorState.ENDED)
        for answer in self._cancels:
            answer(self._done())
        self._refuse_partings("the job has ended")
        self._on_over()

    def fail(self, message: str) -> None:
        """Give up after an error of our own: nothing may be left running, nor start again."""
        if not self.ended:
            self._become(SupervisorState.ENDING)
        self._workplace.abandon()
        now = self._clock.now()
        self._jobset.end("Failed", "AgentError", message, now)
        self._publish()
        fields: EndRecord = {"succeeded": False, "reason": "AgentError", "message": message}
        self._journal.append("end", fields, durable=True)
        self._become(SupervisorState.ENDED)
