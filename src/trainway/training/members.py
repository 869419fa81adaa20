"""Which pods a job has, what part each plays, and which of them is to blame. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from trainway.jobset.labels import (
    COMPLETION_INDEX,
    DEFAULT_CONTAINER,
    JOBSET_NAME,
    MPI_JOB_NAME,
    MPI_JOB_ROLE,
    MPI_REPLICA_INDEX,
    REPLICATED_JOB_NAME,
)
from trainway.jobset.status import conditions_of, find_condition
from trainway.json_types import Json

LAUNCHER: Final = "launcher"
WORKER: Final = "worker"
_HARMLESS: Final = ("ContainerCreating", "PodInitializing")
"""Why a container waits when nothing is wrong."""


@dataclass(frozen=True)
class Member:
    """A pod of a job."""

    pod: Json
    role: str
    index: int

    @property
    def name(self) -> str:
        """The pod's name."""
        return str(self.pod["metadata"]["name"])

    @property
    def title(self) -> str:
        """What people call it: `launcher`, `worker 3`."""
        return self.role if self.role == LAUNCHER else f"{self.role} {self.index}"

    @property
    def phase(self) -> str:
        """As kubectl shows it."""
        if "deletionTimestamp" in self.pod["metadata"]:
            return "Terminating"
        return str((self.pod.get("status") or {}).get("phase") or "Pending")

    @property
    def container(self) -> str:
        """The container whose log matters."""
        annotations = self.pod["metadata"].get("annotations") or {}
        return str(annotations.get(DEFAULT_CONTAINER) or self.pod["spec"]["containers"][0]["name"])

    @property
    def has_started(self) -> bool:
        """Whether that container has written, or could have."""
        states = [self._of(status) for status in self._statuses() if _names(status, self.container)]
        return any(state.keys() & {"running", "terminated"} for state in states)

    @property
    def is_over(self) -> bool:
        """Whether it ended, well or badly."""
        return (self.pod.get("status") or {}).get("phase") in ("Succeeded", "Failed")

    @property
    def restarts(self) -> int:
        """How often its containers were restarted."""
        return sum(int(status.get("restartCount") or 0) for status in self._statuses())

    @property
    def problem(self) -> str:
        """Why it failed or cannot start, in words; empty: nothing is wrong."""
        status = self.pod.get("status") or {}
        if status.get("phase") == "Failed" and status.get("reason"):
            return _said(status["reason"], status.get("message"))
        for each in self._statuses():
            state = each.get("state") or {}
            ended = state.get("terminated") or (each.get("lastState") or {}).get("terminated") or {}
            if ended.get("exitCode"):
                return _ending(ended)
            waits = state.get("waiting") or {}
            if waits.get("reason") and waits["reason"] not in _HARMLESS:
                return _said(waits["reason"], waits.get("message"))
        unplaced = find_condition(conditions_of(self.pod), "PodScheduled") or {}
        if unplaced.get("status") == "False":
            return f"no node takes it: {unplaced.get('message') or unplaced.get('reason')}"
        return ""

    @property
    def ended_at(self) -> str:
        """When its first container that failed ended; empty: none has."""
        ends = (self._of(each).get("terminated") or {} for each in self._statuses())
        return min(
            (str(end.get("finishedAt") or "") for end in ends if end.get("exitCode")), default=""
        )

    def _statuses(self) -> list[Json]:
        status = self.pod.get("status") or {}
        named = ("initContainerStatuses", "containerStatuses")
        return [each for name in named for each in status.get(name) or ()]

    @staticmethod
    def _of(status: Json) -> dict[str, Any]:
        state, before = status.get("state") or {}, status.get("lastState") or {}
        return state if state.keys() & {"running", "terminated"} else before


def members_of(pods: Iterable[Json]) -> list[Member]:
    """The pods that belong to a job, launcher first, those of a place oldest first."""
    found = [member for pod in pods if (member := _member(pod)) is not None]
    return sorted(
        found,
        key=lambda each: (
            each.role != LAUNCHER,
            each.role,
            each.index,
            str(each.pod["metadata"].get("creationTimestamp") or ""),
        ),
    )


def newest(members: Sequence[Member], role: str, index: int) -> Member | None:
    """The pod that has a place now."""
    return next((m for m in reversed(members) if (m.role, m.index) == (role, index)), None)


def culprit(members: Iterable[Member]) -> Member | None:
    """The pod that failed first; if none did, one that cannot start."""
    wrong = [member for member in members if member.problem]
    return min(wrong, key=lambda each: (not each.ended_at, each.ended_at), default=None)


def mpijob_pods(name: str) -> str:
    """The selector of the pods of an MPIJob."""
    return f"{MPI_JOB_NAME}={name}"


def trainjob_pods(name: str) -> str:
    """The selector of the pods of a TrainJob."""
    return f"{JOBSET_NAME}={name}"


def _member(pod: Json) -> Member | None:
    labels = pod["metadata"].get("labels") or {}
    role = labels.get(MPI_JOB_ROLE) or labels.get(REPLICATED_JOB_NAME)
    index = str(labels.get(COMPLETION_INDEX) or labels.get(MPI_REPLICA_INDEX) or "0")
    return Member(pod, str(role), int(index)) if role and index.isdecimal() else None


def _names(status: Json, container: str) -> bool:
    return bool(status.get("name") == container)


def _said(reason: object, message: object) -> str:
    return f"{reason}: {message}" if message else str(reason)


def _ending(ended: Json) -> str:
    code, reason = ended["exitCode"], ended.get("reason")
    why = f" ({reason})" if reason and reason != "Error" else ""
    lines = str(ended.get("message") or "").strip().splitlines()
    return f"exited with status {code}{why}" + (f": {lines[-1]}" if lines else "")
