"""The state of the JobSet: its status, in JobSet's own shape, and the Jobs that belong to it."""

from __future__ import annotations

from trainway.agent.controllers.conditions import condition, find, is_true, set_condition
from trainway.agent.controllers.jobset_rules import COUNTS
from trainway.agent.controllers.lingering import delays
from trainway.agent.controllers.restart_backoff import RestartBackoff

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from trainway.agent.base.plan import Plan, Role
    from trainway.agent.base.records import StatusRecord
    from trainway.agent.controllers.job import Job
    from trainway.json_types import Json


class JobSet:
    """What the JobSet controller remembers."""

    def __init__(self, plan: Plan) -> None:
        self.name = plan.name
        self.namespace = plan.namespace
        self.roles: list[Role] = plan.roles
        self.success_policy: Json = plan.spec.get("successPolicy") or {}
        self.failure_policy: Json | None = plan.spec.get("failurePolicy")
        startup = (plan.spec.get("startupPolicy") or {}).get("startupPolicyOrder")
        self.starts_in_order = startup == "InOrder"
        self.suspend = bool(plan.spec.get("suspend"))
        self.most_nodes: int | None = None
        """How many nodes an elastic Job may have for now; None: all that it asks for."""
        self.jobs: dict[str, Job] = {}
        """All Jobs that exist, by name; a Job that is being deleted still exists."""
        self.conditions: list[Json] = []
        self.restarts = 0
        self.restarts_count_towards_max = 0
        self.terminal_state = ""
        self.job_restarts: dict[str, list[int]] = {}
        self.job_restarts_count_towards_max: dict[str, list[int]] = {}
        self.delays = delays(plan.metadata)
        """For how many seconds Jobs of a role may go on after the success, by role."""
        self.wake_at: float | None = None
        """When the Jobs must be looked at again, though none of them has changed."""
        self.counts: dict[str, dict[str, int]] = {}
        self.backoff = RestartBackoff()
        self.chance: Callable[[], float] = lambda: 0.0
        """A number from 0 to 1 that nobody can foresee, for pauses."""
        self.events: list[tuple[str, str, str]] = []
        """The type, reason and message of what is to be told."""

    @property
    def finished(self) -> bool:
        """Whether it is Completed or Failed."""
        return bool(self.terminal_state)

    def is_true(self, type_: str) -> bool:
        """Whether a condition holds."""
        return is_true(self.conditions, type_)

    def job_name(self, role: str, index: int) -> str:
        """The name of a Job."""
        return f"{self.name}-{role}-{index}"

    def restarts_of(self, role: str, index: int) -> int:
        """How often one Job was restarted by itself."""
        restarts = self.job_restarts.get(role) or []
        return restarts[index] if index < len(restarts) else 0

    def set(self, type_: str, holds: bool, reason: str, message: str, now: float) -> None:
        """Set a condition, and tell about it if that changed something."""
        if set_condition(self.conditions, condition(type_, holds, reason, message, now)):
            bad = holds and type_ in ("Failed", "RestartingJobSet")
            self.events.append(("Warning" if bad else "Normal", reason, message))

    def begin_anew(self, now: float) -> None:
        """Count a restart of the whole set; its Jobs are made when its pause is over."""
        self.restarts += 1
        seconds = self.backoff.ended(now, self.chance())
        if seconds:
            self.events.append(("Normal", "BackOff", f"the next attempt begins in {seconds:.0f} s"))

    def end(self, type_: str, reason: str, message: str, now: float) -> None:
        """Make it Completed or Failed for good."""
        self.set(type_, True, reason, message, now)
        self.terminal_state = type_
        self.wake_at = None
        why = message if type_ == "Completed" else "jobset failed"
        self.set("RestartingJobSet", False, f"JobSet{type_}", why, now)

    def status(self) -> Json:
        """The status, as JobSet's API has it."""
        status: Json = {
            "conditions": [dict(item) for item in self.conditions],
            "restarts": self.restarts,
            "restartsCountTowardsMax": self.restarts_count_towards_max,
            "replicatedJobsStatus": [self._role_status(role.name) for role in self.roles],
        }
        if self.terminal_state:
            status["terminalState"] = self.terminal_state
        return status

    def record(self) -> StatusRecord:
        """What the journal has of it."""
        fields: StatusRecord = {"jobset": self.status(), "suspend": self.suspend}
        if self.most_nodes is not None:
            fields["nodes"] = self.most_nodes
        return fields

    def dismissed_pods(self) -> frozenset[str]:
        """The keys of the pods that elastic Jobs have to do without for now."""
        jobs = self.jobs.values()
        keys = (f"{job.role}-{job.index}-{index}" for job in jobs for index in job.dismissed)
        return frozenset(keys)

    def _role_status(self, role: str) -> Json:
        counts = self.counts.get(role) or dict.fromkeys(COUNTS, 0)
        status: Json = {"name": role}
        status.update(counts)
        for key, restarts in (
            ("jobRestarts", self.job_restarts),
            ("jobRestartsCountTowardsMax", self.job_restarts_count_towards_max),
        ):
            if role in restarts:
                status[key] = list(restarts[role])
        return status

    def restore(self, status: Json) -> None:
        """Take over a status that was written before."""
        self.conditions = [dict(item) for item in status.get("conditions") or []]
        self.restarts = status.get("restarts") or 0
        self.restarts_count_towards_max = status.get("restartsCountTowardsMax") or 0
        self.terminal_state = status.get("terminalState") or ""
        for role in status.get("replicatedJobsStatus") or []:
            name = role["name"]
            self.counts[name] = {key: role.get(key) or 0 for key in COUNTS}
            if role.get("jobRestarts"):
                self.job_restarts[name] = list(role["jobRestarts"])
            if role.get("jobRestartsCountTowardsMax"):
                counting = list(role["jobRestartsCountTowardsMax"])
                self.job_restarts_count_towards_max[name] = counting

    def outcome(self) -> tuple[bool, str, str]:
        """Whether it succeeded, with the reason and message of its last condition."""
        found = find(self.conditions, self.terminal_state) or {}
        succeeded = self.terminal_state == "Completed"
        return succeeded, str(found.get("reason", "")), str(found.get("message", ""))
