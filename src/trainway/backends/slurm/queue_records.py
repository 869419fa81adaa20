"""What the queue of a cluster says about a job, as records of its journal. Pure.

The driver of a job writes its journal while it runs. What happens while there is none is written
here: that the job waits and why, that it is held, and how it ended if its driver could not tell.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from trainway.agent.base.pod_status import TERMINAL
from trainway.agent.controllers.conditions import condition, is_true, set_condition
from trainway.agent.slurm.relay.end_reasons import CANCELLED, details, reason_of
from trainway.agent.supervisor.recovery import lost
from trainway.json_types import Json

if TYPE_CHECKING:
    from trainway.agent.base.records import EndRecord, StatusRecord

Entry = tuple[str, Json]
"""The type of a record, and its fields."""

SEQ: Final = "slurmSeq"
"""The number that a record has in the driver's journal."""
_SUSPENDED: Final = "Suspended"
_PENDING: Final = "Pending"


class JobMemory:
    """What the journal of a job says so far, as far as the queue's word depends on it."""

    def __init__(self) -> None:
        self.seq = -1
        """The last record of the driver's journal that is here."""
        self.last = -1
        """The last record of the journal here."""
        self.number = ""
        """The number that Slurm gave the job."""
        self.log_bases: dict[str, int] | None = None
        """How much of each log is from before it came here; None: nobody has looked."""
        self.status: Json = {}
        self.waiting: Json = {}
        self.ended = False
        self._pods: dict[str, Json] = {}

    def take(self, record: Mapping[str, Any]) -> None:
        """Note a record."""
        self.seq = max(self.seq, int(record.get(SEQ, -1)))
        self.last = max(self.last, int(record.get("seq", -1)))
        self.number = str(record.get("slurmJob") or self.number)
        match record.get("type"):
            case "status":
                self.status = dict(record.get("jobset") or {})
            case "pod":
                self._pod(record)
            case "waiting":
                self.waiting = {key: record[key] for key in _WAITING if key in record}
            case "placement":
                self.waiting = {}
            case "agent":
                if record.get("event") == "left":
                    self._leave(record)
            case "end":
                self.ended = True

    def _leave(self, record: Mapping[str, Any]) -> None:
        """What was is over; the journal up to here is what a driver that comes next begins with."""
        self.seq, self.number, self.waiting = self.last, "", {}
        self.log_bases = record.get("logs")
        self._pods.clear()

    def _pod(self, record: Mapping[str, Any]) -> None:
        uid = str(record.get("uid"))
        if record.get("phase") in TERMINAL:
            self._pods.pop(uid, None)
        else:
            self._pods[uid] = {key: value for key, value in record.items() if key != SEQ}

    @property
    def live_pods(self) -> list[Json]:
        """Pods that were not seen to end."""
        return list(self._pods.values())

    @property
    def is_suspended(self) -> bool:
        """Whether the JobSet says so."""
        return is_true(self.status.get("conditions") or [], _SUSPENDED)


_WAITING: Final = ("reason", "message", "queue", "position")


def entries_of(frame: Mapping[str, Any], memory: JobMemory, now: float) -> list[Entry]:
    """The records that follow from what the queue says; none where all of it is known."""
    if memory.ended:
        return []
    if frame.get("final"):
        return ended(str(frame.get("state")), frame, memory, now)
    found: list[Entry] = []
    if frame.get("held") != memory.is_suspended and (frame.get("held") or frame.get("waiting")):
        found.append(_suspension(memory, now, holds=bool(frame.get("held"))))
    is_waiting = bool(frame.get("waiting")) and not frame.get("held")
    waiting = _waiting(frame) if is_waiting else {}
    if waiting != memory.waiting:
        found.append(("waiting", waiting))
    return found


def _waiting(frame: Mapping[str, Any]) -> Json:
    job, partition = frame.get("job"), frame.get("partition")
    reason = str(frame.get("reason") or _PENDING)
    message = f"Slurm job {job} is pending in partition {partition}: {reason}"
    waiting: Json = {"reason": reason, "message": message, "queue": partition}
    return waiting | {"position": int(frame.get("position") or 1)}


def _suspension(memory: JobMemory, now: float, *, holds: bool) -> Entry:
    if holds:
        new = condition(_SUSPENDED, True, "SuspendedJobs", "jobset is suspended", now)
        return "status", {"jobset": _with(memory.status, new), "suspend": True}
    new = condition(_SUSPENDED, False, "ResumeJobs", "jobset is resumed", now)
    status = _with(memory.status, new)
    roles = [{**role, "suspended": 0} for role in status.get("replicatedJobsStatus") or []]
    counted = {"replicatedJobsStatus": roles} if roles else {}
    return "status", {"jobset": {**status, **counted}, "suspend": False}


def held_status(jobset: Mapping[str, Any]) -> Json:
    """The status of a JobSet that was held before anything of it began, but for its condition."""
    counts = dict.fromkeys(("ready", "succeeded", "failed", "active"), 0)
    roles = [
        {"name": role["name"], **counts, "suspended": int(role.get("replicas", 1))}
        for role in (jobset.get("spec") or {}).get("replicatedJobs") or []
    ]
    return {"restarts": 0, "restartsCountTowardsMax": 0, "replicatedJobsStatus": roles}


def _with(status: Json, new: Json) -> Json:
    conditions = [dict(item) for item in status.get("conditions") or []]
    set_condition(conditions, new)
    return {"restarts": 0, **status, "conditions": conditions}


def ended(state: str, frame: Mapping[str, Any], memory: JobMemory, now: float) -> list[Entry]:
    """The end of a job whose driver did not write one."""
    reason, said = reason_of(state)
    message = said if reason == CANCELLED else f"{said} (Slurm: {details(state, frame)})"
    pods: list[Entry] = [("pod", lost(pod, reason, said)) for pod in memory.live_pods]
    failed = _with(memory.status, condition("Failed", True, reason, message, now))
    end: EndRecord = {"succeeded": False, "reason": reason, "message": message}
    status: StatusRecord = {"jobset": {**failed, "terminalState": "Failed"}, "suspend": False}
    return [*pods, ("status", dict(status)), ("end", dict(end))]
