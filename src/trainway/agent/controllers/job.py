"""The state of one Job: its counters, its conditions, what it is coming to.

It is all that the Job controller remembers between two looks at the pods, and it goes into the
journal as plain data, so that another agent can go on from it.
"""

from __future__ import annotations

from trainway.agent.controllers import conditions, indexes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainway.agent.base.job_spec import JobSpec
    from trainway.json_types import Json


class Job:
    """One Job of a role, in one attempt of the JobSet."""

    def __init__(self, name: str, role: str, index: int, spec: JobSpec) -> None:
        self.name = name
        self.role = role
        self.index = index
        self.spec = spec
        self.namespace = "default"
        self.attempt = 0
        """How often the JobSet had been restarted when the Job was made."""
        self.job_attempt = 0
        """How often the Job was made anew by itself, by the action RestartJob."""
        self.suspend = False
        self.deleting = False
        self.start_time: float | None = None
        self.succeeded_pods = 0
        self.failed = 0
        self.completed: set[int] = set()
        self.failed_indexes: set[int] = set()
        self.index_failures: dict[int, IndexFailures] = {}
        self.failures_since_success = 0
        self.last_failure = 0.0
        self.target: Json | None = None
        """The decision, FailureTarget or SuccessCriteriaMet, while some pods still run."""
        self.conditions: list[Json] = []
        self.counted: set[str] = set()
        """The pods that are in the counters already, or never will be."""
        self.active = 0
        self.ready = 0
        self.terminating = 0
        self.dismissed: set[int] = set()
        """Of an elastic Job, the indexes that it has to do without for now."""
        self.size_told = 0
        """Of an elastic Job, the number of running pods that was last told."""

    @property
    def succeeded(self) -> int:
        """How many completions there are."""
        return len(self.completed) if self.spec.indexed else self.succeeded_pods

    @property
    def is_complete(self) -> bool:
        """Whether it came to a good end."""
        return conditions.is_true(self.conditions, "Complete")

    @property
    def is_failed(self) -> bool:
        """Whether it came to a bad end."""
        return conditions.is_true(self.conditions, "Failed")

    @property
    def finished(self) -> bool:
        """Whether it came to an end."""
        return self.is_complete or self.is_failed

    @property
    def all_ready(self) -> bool:
        """Whether as many pods are ready, or done, as the Job may run at once."""
        return self.succeeded + self.ready >= self.spec.pods

    @property
    def failure(self) -> Json:
        """The condition Failed; empty where it does not hold."""
        found = conditions.find(self.conditions, "Failed")
        return found if found is not None and found["status"] == "True" else {}

    def state(self) -> Json:
        """Everything, as plain data."""
        failures = {str(index): item.counts for index, item in sorted(self.index_failures.items())}
        data: Json = {
            "role": self.role,
            "index": self.index,
            "attempt": self.attempt,
            "jobAttempt": self.job_attempt,
            "suspend": self.suspend,
            "deleting": self.deleting,
            "startTime": self.start_time,
            "active": self.active,
            "ready": self.ready,
            "terminating": self.terminating,
            "succeeded": self.succeeded,
            "failed": self.failed,
            "completedIndexes": indexes.render(self.completed),
            "failedIndexes": indexes.render(self.failed_indexes),
            "indexFailures": failures,
            "backoff": [self.failures_since_success, self.last_failure],
            "target": self.target,
            "conditions": [dict(condition) for condition in self.conditions],
            "counted": sorted(self.counted),
            "dismissed": indexes.render(self.dismissed),
            "size": self.size_told or None,
        }
        return {key: value for key, value in data.items() if value not in (None, False, "", {}, [])}

    @classmethod
    def restored(cls, name: str, spec: JobSpec, state: Json) -> Job:
        """The Job that `state` was made of."""
        job = cls(name, state["role"], state.get("index", 0), spec)
        job.attempt = state.get("attempt", 0)
        job.job_attempt = state.get("jobAttempt", 0)
        job.suspend = state.get("suspend", False)
        job.deleting = state.get("deleting", False)
        job.start_time = state.get("startTime")
        job.succeeded_pods = 0 if spec.indexed else state.get("succeeded", 0)
        job.failed = state.get("failed", 0)
        completions = spec.completions or 0
        job.completed = indexes.parse(state.get("completedIndexes", ""), completions)
        job.failed_indexes = indexes.parse(state.get("failedIndexes", ""), completions)
        for index, counts in state.get("indexFailures", {}).items():
            job.index_failures[int(index)] = IndexFailures(*counts)
        job.failures_since_success, job.last_failure = state.get("backoff", (0, 0.0))
        job.target = state.get("target")
        job.conditions = state.get("conditions", [])
        job.counted = set(state.get("counted", ()))
        job.dismissed = indexes.parse(state.get("dismissed", ""), completions)
        job.size_told = state.get("size", 0)
        return job


class IndexFailures:
    """How often the pods of one index failed."""

    def __init__(self, counted: int = 0, ignored: int = 0, last: float = 0.0) -> None:
        self.counted = counted
        self.ignored = ignored
        self.last = last

    @property
    def counts(self) -> list[float]:
        """As plain data."""
        return [self.counted, self.ignored, self.last]
