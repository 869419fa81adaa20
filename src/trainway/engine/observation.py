"""What the journal of a job says about it, and the phase that follows from it. Pure.

Records are folded one by one into plain data that the store keeps, so that watching can go on after
any of them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from trainway.backends.demand import pod_keys
from trainway.engine.attempt_runs import Runs, begun, passed, stopped
from trainway.engine.attempts import ending_cause, ending_words, with_ending, with_restart
from trainway.engine.failure import blamed, ended_by_us, hung
from trainway.engine.metrics.report import Report, report_of
from trainway.engine.metrics.usage_series import usage_report
from trainway.engine.phases import Phase
from trainway.engine.record import Event
from trainway.engine.told_time import believed, dated, known_until
from trainway.jobset.model import replicated_jobs
from trainway.jobset.status import find_true
from trainway.json_types import Json

NODES: Final = "nodes"
JOBSET: Final = "jobSet"
WAITING: Final = "waiting"
CULPRIT: Final = "culprit"
ATTEMPTS: Final = "attempts"
RUNS: Final = "runs"
IDLE_GPU: Final = "idleGpu"
MOST_NODES: Final = "mostNodes"
HANG: Final = "hang"
ENDINGS: Final = "endings"
GIVEN_AT: Final = "givenAt"
KNOWN_AT: Final = "knownAt"
CANCELLED: Final = "Cancelled"

_PENDING: Final = "Pending"
_RUNNING: Final = "Running"
_GPU_IDLE: Final = "GPUIdle"
_GPU_BUSY: Final = "GPUBusy"
_OVER: Final = ("Succeeded", "Failed")
_COUNTS: Final = ("pod", "status", "end")
"""Records by whose times something is counted."""


@dataclass
class Observation:
    """All that is known of a job's pods."""

    nodes: dict[str, Json] = field(default_factory=dict)
    """The last word on each pod, by `<role>-<job>-<pod>`."""
    jobset: Json = field(default_factory=dict)
    """The JobSet's status, in its own shape."""
    progress: Json = field(default_factory=dict)
    waiting: Json = field(default_factory=dict)
    """Why nothing of it runs: `reason`, `message`, and maybe `queue` and `position`."""
    culprit: Json = field(default_factory=dict)
    """Who failed first, as `failure` has it; empty: nobody."""
    hang: Json = field(default_factory=dict)
    """The last pod that was ended because it hung: `pod`, `attempt`, `message`, `node`, `since`."""
    endings: list[Json] = field(default_factory=list)
    """Who ended each attempt, as `attempts` has it."""
    attempts: int = 1
    """How often the whole set may start in all."""
    started: str = ""
    """When the first process ran."""
    end: Mapping[str, Any] | None = None
    events: list[Event] = field(default_factory=list)
    """What happened since this observation was taken up."""
    runs: Runs = field(default_factory=list)
    """When its attempts ran."""
    idle_gpu: str = ""
    """Which GPU does nothing, in a sentence; empty: none is known to."""
    most_nodes: int = 0
    """How many nodes an elastic job was told to have, as its agent has written down; 0: all."""
    given_at: str = ""
    """When its backend last got it, by the server's clock; no pod has run since before."""
    known_at: str = ""
    """Up to when the server knows all this, by its own clock; empty: it has not known it yet."""
    reported: Json = field(default_factory=dict)
    """The progress that the journal has told since then; empty: it has told of other things."""
    reports: list[tuple[int, Report]] = field(default_factory=list)
    """What training code has reported since then, with the number of the record."""
    links: Json = field(default_factory=dict)
    """The links that it has registered since then."""

    @classmethod
    def of(cls, data: Json, started: str) -> "Observation":
        """Take up what was stored."""
        return cls(
            data.get(NODES) or {},
            data.get(JOBSET) or {},
            waiting=data.get(WAITING) or {},
            culprit=data.get(CULPRIT) or {},
            hang=data.get(HANG) or {},
            endings=data.get(ENDINGS) or [],
            attempts=data.get(ATTEMPTS) or 1,
            started=started,
            runs=data.get(RUNS) or [],
            idle_gpu=data.get(IDLE_GPU) or "",
            most_nodes=data.get(MOST_NODES) or 0,
            given_at=data.get(GIVEN_AT) or "",
            known_at=data.get(KNOWN_AT) or "",
        )

    @classmethod
    def planned(cls, spec: Json) -> "Observation":
        """Every pod of a JobSet that has not started."""
        nodes: dict[str, Json] = {}
        for job in replicated_jobs(spec):
            for key in pod_keys(job):
                nodes[key] = _node(key) | {"phase": _PENDING, "ready": False, "restarts": 0}
        restarts = (spec.get("failurePolicy") or {}).get("maxRestarts") or 0
        return cls(nodes, attempts=1 + restarts)

    def to_dict(self) -> Json:
        """Plain data for the store."""
        known = {
            WAITING: self.waiting,
            CULPRIT: self.culprit,
            HANG: self.hang,
            ENDINGS: self.endings,
            RUNS: self.runs,
            IDLE_GPU: self.idle_gpu,
            MOST_NODES: self.most_nodes,
            GIVEN_AT: self.given_at,
            KNOWN_AT: self.known_at,
        }
        more = {name: data for name, data in known.items() if data}
        return {NODES: self.nodes, JOBSET: self.jobset, ATTEMPTS: self.attempts, **more}

    def fold(self, records: Iterable[Mapping[str, Any]], now: str = "") -> None:
        """Add what the records say, in their order; now is when the server reads them."""
        told: Mapping[str, Any] = {}
        for told in records:
            record = self._dated(told, now)
            match record.get("type"):
                case "agent":
                    self._agent(record)
                case "pod":
                    self._pod(record)
                case "event":
                    self._event(record)
                case "status":
                    self._status(record)
                case "progress":
                    self._progress(record)
                case "usage":
                    self._usage(record)
                case "waiting":
                    self._wait(record)
                case "placement":
                    self.waiting = {}
                case "end":
                    self.end = record
                    stopped(self.runs, str(record.get("time") or ""))
        if self.end is None and self.is_suspended and self.waiting.get("queue"):
            self._return_to_queue()
        self.known_at = known_until(str(told.get("time") or ""), self.known_at, now)

    def _dated(self, record: Mapping[str, Any], now: str) -> Mapping[str, Any]:
        """The record with a time by which may be counted."""
        if record.get("type") not in _COUNTS:
            return record
        return {**record, "time": believed(str(record.get("time") or ""), self.known_at, now)}

    def _status(self, record: Mapping[str, Any]) -> None:
        before, self.jobset = self.jobset, dict(record.get("jobset") or {})
        noted, known = str(record.get("time") or ""), before.get("conditions") or []
        conditions = self.jobset.get("conditions") or []
        if conditions:
            self.jobset["conditions"] = dated(conditions, known, self.given_at, noted)
        self.most_nodes = record.get("nodes", self.most_nodes)
        first = int(before.get("restarts") or 0)
        if self.restarts > first and not record.get("before"):
            counts = _counted(self.jobset) > _counted(before)
            self._restarted(range(first, self.restarts), str(record.get("time") or ""), counts)
        if self.is_suspended:
            stopped(self.runs, str(record.get("time") or ""))

    def _restarted(self, attempts: range, time: str, counts: bool) -> None:
        """The set was started anew: note why, and tell it."""
        why = find_true(self.jobset.get("conditions") or [], "RestartingJobSet") or {}
        told = {"reason": why.get("reason"), "message": why.get("message"), "time": time}
        for attempt in attempts:
            self.endings = with_restart(self.endings, attempt, told, counts=counts)
            ending = next(each for each in self.endings if each["attempt"] == attempt)
            tail = "" if counts else "; the restart does not count"
            text = f"attempt {attempt + 1} ended: {ending_words(ending)}{tail}"
            reason = str(ending_cause(ending) or "Restarted")
            self.events.append(Event(time, "Warning", reason, text))

    def _progress(self, record: Mapping[str, Any]) -> None:
        status = dict(record.get("trainerStatus") or {})
        self.links |= status.pop("links", None) or {}
        if not status:
            return
        self.progress = self.reported = status
        report = report_of(status, str(record.get("time") or ""))
        if report is not None:
            self.reports.append((int(record.get("seq") or 0), report))

    def _usage(self, record: Mapping[str, Any]) -> None:
        for key, used in (record.get("pods") or {}).items():
            if key in self.nodes:
                self.nodes[key]["usage"] = dict(used)
        report = usage_report(record, self.nodes)
        if report is not None:
            self.reports.append((int(record.get("seq") or 0), report))

    def _return_to_queue(self) -> None:
        """A queue has taken a job back: nothing of it runs, and its time has not begun."""
        self.started, self.culprit = "", {}
        for key, node in self.nodes.items():
            if node["phase"] != "Succeeded":
                attempt = {"attempt": node["attempt"]} if "attempt" in node else {}
                waiting = {"phase": _PENDING, "ready": False, "restarts": 0}
                self.nodes[key] = _node(key) | waiting | attempt

    def _pod(self, record: Mapping[str, Any]) -> None:
        key = str(record["pod"])
        containers = record.get("containers") or []
        node = _node(key) | {
            "phase": record.get("phase", ""),
            "ready": bool(record.get("ready")),
            "restarts": sum(int(item.get("restarts") or 0) for item in containers),
            "attempt": int(record.get("attempt") or 0),
        }
        code = _exit_code(containers) if node["phase"] in _OVER else None
        starts = sorted(item["startedAt"] for item in containers if item.get("startedAt"))
        node |= {} if code is None else {"exitCode": code}
        node |= {} if node["phase"] in _OVER else _before(containers)
        node |= {"startTime": starts[0]} if starts else {}
        node |= {"reason": record["reason"]} if record.get("reason") else {}
        node |= {"host": record["host"]} if record.get("host") else {}
        node |= {"endTime": self._ended(key, node, record)} if node["phase"] in _OVER else {}
        said = [record.get("message"), *(item.get("message") for item in containers)]
        said += [_last_message(item) for item in containers]
        node |= next(({"message": str(text)} for text in said if text), {})
        node |= {"stopped": True} if record.get("deleted") else {}
        node |= _usage_of(self.nodes.get(key) or {}, node["attempt"])
        self._count(self.nodes.get(key) or {}, node, str(record.get("time") or ""))
        self.nodes[key] = node
        if not any(each["phase"] == _RUNNING for each in self.nodes.values()):
            stopped(self.runs, str(record.get("time") or ""))
        self.idle_gpu = "" if node["phase"] in _OVER else self.idle_gpu
        self.culprit = hung(blamed(self.culprit, ended_by_us(record, self.hang)), self.hang)
        noted = str(record.get("time") or "")
        self.endings = with_ending(self.endings, node["attempt"], self.culprit, noted)
        if starts and not self.started:
            self.started = believed(str(starts[0]), self.given_at, noted)

    def _count(self, before: Json, node: Json, noted: str) -> None:
        """Note that an attempt runs, or has run."""
        attempt = node["attempt"]
        is_news = (before.get("attempt"), before.get("phase")) != (attempt, node["phase"])
        if not noted or not is_news:
            return
        started = believed(node.get("startTime") or "", self.given_at, noted)
        if node["phase"] == _RUNNING:
            begun(self.runs, attempt, started, noted)
        elif node["phase"] in _OVER and started:
            passed(self.runs, attempt, started, noted)

    def _ended(self, key: str, node: Json, record: Mapping[str, Any]) -> str:
        """When a pod was first seen to have ended in its attempt."""
        known = self.nodes.get(key) or {}
        is_known = known.get("attempt") == node["attempt"] and known.get("phase") == node["phase"]
        return str((known.get("endTime") if is_known else "") or record.get("time") or "")

    def _wait(self, record: Mapping[str, Any]) -> None:
        """Without a reason: it does not wait any more."""
        names = ("reason", "message", "queue", "position")
        said = {name: record[name] for name in names if record.get(name)}
        self.waiting = said if said.get("reason") else {}

    def _event(self, record: Mapping[str, Any]) -> None:
        reason, message, about = (
            str(record.get(name) or "") for name in ("reason", "message", "object")
        )
        kind = str(record.get("eventType") or "Normal")
        if reason in (_GPU_IDLE, _GPU_BUSY):
            pod = about.partition("/")[2]
            self.idle_gpu = f"{message} ({pod})" if reason == _GPU_IDLE else ""
        self.events.append(Event(str(record.get("time", "")), kind, reason, message, about))

    def _agent(self, record: Mapping[str, Any]) -> None:
        if record.get("event") == "recovered":
            text = "the agent of the job was lost and has been replaced"
            self.events.append(Event(str(record.get("time", "")), "Warning", "AgentLost", text))

    @property
    def is_suspended(self) -> bool:
        """Whether the JobSet says that it is suspended."""
        return find_true(self.jobset.get("conditions") or [], "Suspended") is not None

    @property
    def has_processes(self) -> bool:
        """Whether a pod runs, or is being stopped and has not ended."""
        return any(
            node["phase"] == _RUNNING or (node.get("stopped") and node["phase"] not in _OVER)
            for node in self.nodes.values()
        )

    @property
    def restarts(self) -> int:
        """How often the whole set was started again."""
        return int(self.jobset.get("restarts") or 0)

    @property
    def attempt(self) -> int:
        """The newest attempt that any pod belongs to."""
        return max((int(node.get("attempt") or 0) for node in self.nodes.values()), default=0)

    @property
    def exit_code(self) -> int | None:
        """That of the first pod that failed; 0 if the job succeeded; None: not known yet."""
        if self.end is None:
            return None
        if self.end.get("succeeded"):
            return 0
        if self.culprit.get("exitCode"):
            return int(self.culprit["exitCode"])
        failed = [node for node in self.nodes.values() if node["phase"] == "Failed"]
        failed.sort(key=lambda node: str(node.get("endTime") or ""))
        return next((node["exitCode"] for node in failed if node.get("exitCode")), None)

    @property
    def phase(self) -> Phase:
        """The phase, as far as the journal alone decides it."""
        if self.end is not None:
            return self._last_phase(self.end)
        if self.is_suspended:
            return self._queued if self.waiting.get("queue") else Phase.PAUSED
        if self.started and self.restarts > self._newest_begun:
            return Phase.RESTARTING
        if self.waiting.get("position"):
            return Phase.QUEUED
        return Phase.RUNNING if self.started else Phase.STARTING

    @property
    def _queued(self) -> Phase:
        is_hopeless = self.waiting.get("reason") == Phase.INADMISSIBLE
        return Phase.INADMISSIBLE if is_hopeless else Phase.QUEUED

    @property
    def _newest_begun(self) -> int:
        """The newest attempt of which anything ran."""
        begun = [node for node in self.nodes.values() if node["phase"] != _PENDING]
        return max((int(node.get("attempt") or 0) for node in begun), default=0)

    def _last_phase(self, end: Mapping[str, Any]) -> Phase:
        if end.get("succeeded"):
            return Phase.SUCCEEDED
        return Phase.CANCELLED if end.get("reason") == CANCELLED else Phase.FAILED


def _counted(jobset: Json) -> int:
    """How many restarts of the whole set counted against those that it may have."""
    return int(jobset.get("restartsCountTowardsMax") or 0)


def _node(key: str) -> Json:
    role, job, rank = key.rsplit("-", 2)
    return {"role": role, "job": int(job), "rank": int(rank)}


def _usage_of(known: Json, attempt: int) -> Json:
    """What a pod was last seen to use in the same attempt."""
    is_same = known.get("attempt") == attempt and "usage" in known
    return {"usage": known["usage"]} if is_same else {}


def _before(containers: Iterable[Mapping[str, Any]]) -> Json:
    """How a container last failed of a pod that goes on."""
    for item in containers:
        last = item if item.get("exitCode") else item.get("lastState") or {}
        if last.get("exitCode"):
            reason = {"lastReason": str(last["reason"])} if last.get("reason") else {}
            return {"lastExitCode": int(last["exitCode"]), **reason}
    return {}


def _last_message(container: Mapping[str, Any]) -> Any:
    """What was said of a container's last end, while it does not run again."""
    is_running = container.get("state") == "running"
    return None if is_running else (container.get("lastState") or {}).get("message")


def _exit_code(containers: Iterable[Mapping[str, Any]]) -> int | None:
    """The first code that is not 0, else 0 if any container ended; None: all run."""
    codes = [int(item["exitCode"]) for item in containers if item.get("exitCode") is not None]
    return next((code for code in codes if code), 0 if codes else None)
