"""What is known of one job from the objects of its cluster, and what of it is new. Pure.

Objects come in as they change; journal records come out. What was recorded already, also by an
earlier server, is not recorded again.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from trainway.agent.base.pod_status import HEALTH_CHECK_FAILED, NODE_SET_ASIDE
from trainway.agent.controllers.elastic_rules import RESIZED
from trainway.backends.kubernetes import events
from trainway.backends.kubernetes.interruption import (
    first_deleted,
    first_failed,
    role_of,
    why_deleted,
    why_failed,
    why_undone,
)
from trainway.backends.kubernetes.pods import Age, age_of, lost_record, place_of
from trainway.backends.kubernetes.pods import record_of as pod_record
from trainway.backends.kubernetes.usage.job_usage import JobUsage
from trainway.backends.kubernetes.usage.memory_limits import with_highest_sample
from trainway.backends.kubernetes.usage.readings import Reading
from trainway.backends.kubernetes.waiting import Waiting
from trainway.jobset.status import conditions_of, find_condition, find_true
from trainway.json_types import Json

if TYPE_CHECKING:
    from trainway.agent.base.records import EndRecord

SUBMITTED: Final = "submitted"
LEFT: Final = "left"
"""What the journal says of a job that has come to this cluster, and that has gone from it."""
_ENDS: Final = (("Completed", True), ("Complete", True), ("Succeeded", True), ("Failed", False))
"""The conditions with which JobSets, TrainJobs and MPIJobs end, and whether well."""
_NUMBERS: Final = ("seq", "time")
_OVER: Final = ("Succeeded", "Failed")
_ALONE: Final = ("DeadlineExceeded",)
"""The reasons of a TrainJob's own, for which it does not wait for its JobSet."""


class Verdict(NamedTuple):
    """How a job ended."""

    succeeded: bool
    reason: str
    message: str

    def record(self) -> Json:
        """The journal record, without number and time."""
        record: EndRecord = {
            "type": "end",
            "succeeded": self.succeeded,
            "reason": self.reason,
            "message": self.message,
        }
        return dict(record)


class Holder(NamedTuple):
    """The pod that has a place."""

    uid: str
    age: Age
    pod: Json


class ObservedJob:
    """The pods and the status of one job, as far as they are recorded."""

    def __init__(
        self, records: Iterable[Json] = (), elastic: Mapping[str, int] | None = None
    ) -> None:
        """`elastic` has the most nodes of each role that may do with fewer."""
        self.status: Json = {}
        self.uid = ""
        """The uid of the top object."""
        self.created = ""
        """When the top object was made."""
        self.is_over = False
        self.restarts_before = 0
        """How often it was restarted at the places where it was before."""
        self.counted_before = 0
        """Those of them that count against what it may be restarted."""
        self._elastic = elastic or {}
        self._most_nodes: int | None = None
        """How many nodes it was told to have at most."""
        self._pods: dict[str, Json] = {}
        """The last record of each place."""
        self._first_failed: Json = {}
        """The record of the pod that failed first in the newest attempt."""
        self._first_deleted: Json = {}
        """The record of the pod that was deleted first in it."""
        self._holders: dict[str, Holder] = {}
        """The pod that has each place, as far as we have watched."""
        self._usage = JobUsage()
        self._progress: Json = {}
        self._links: Json = {}
        self._waiting: Json = {}
        self._events: dict[str, int] = {}
        self._fresh: list[Json] = []
        for record in records:
            self._replay(record)

    def take(self) -> list[Json]:
        """What is new since the last time."""
        fresh, self._fresh = self._fresh, []
        return fresh

    def on_pod(self, pod: Json) -> None:
        """A pod is there, as it is now."""
        place = place_of(pod)
        if place is None:
            return
        holder = Holder(str(pod["metadata"].get("uid")), age_of(pod), _explaining(pod))
        rival = self._holders.get(place.key)
        if rival is not None and rival.uid != holder.uid and rival.age > holder.age:
            return
        self._holders[place.key] = holder
        peak = self._usage.peak(place.key, str(pod["metadata"]["name"]))
        record = with_highest_sample(pod_record(pod), peak)
        record["attempt"] += self.restarts_before
        known = self._pods.get(place.key)
        if known is not None and known.get("created", "") > record["created"]:
            return
        self._note_pod(record)

    def on_pod_gone(self, pod: Json) -> None:
        """A pod was removed; if nobody saw it end, it is lost."""
        place = place_of(pod)
        holder = None if place is None else self._holders.get(place.key)
        if place is None or holder is None or holder.uid != pod["metadata"].get("uid"):
            return
        del self._holders[place.key]
        record = self._pods.get(place.key)
        if record is not None and record["phase"] not in _OVER:
            self._note_pod(lost_record(record))

    def miss_pods(self) -> None:
        """All pods that there are have been told: the others went while nobody watched."""
        gone = [each for key, each in self._pods.items() if key not in self._holders]
        for record in gone:
            if record["phase"] not in _OVER:
                self._note_pod(lost_record(record))

    def on_event(self, event: Json) -> None:
        """The cluster tells of something."""
        uid, count = str(event["metadata"].get("uid") or ""), _count(event)
        if self._events.get(uid, 0) >= count:
            return
        self._events[uid] = count
        record = events.record_of(event)
        self._fresh.append(record | {"event": {"uid": uid, "count": count}})

    def tell(self, reason: str, message: str, about: str) -> None:
        """Tell of something ourselves, once in the life of the job."""
        if reason not in self._events:
            self._events[reason] = 1
            record = {"type": "event", "eventType": "Warning", "reason": reason}
            told = {"uid": reason, "count": 1}
            self._fresh.append({**record, "message": message, "object": about, "event": told})

    def on_readings(self, readings: Mapping[str, Reading], now: float) -> bool:
        """Some pods use that much, by their names; gives whether a record came of it."""
        running = self._running()
        for record in running:
            if record["name"] in readings:
                self._usage.note(record["pod"], record["name"], readings[record["name"]])
        written = self._usage.due(now, len(self._pods))
        self._fresh += [] if written is None else [written]
        return written is not None

    def set_status(self, status: Json) -> None:
        """The status of the JobSet, in its own shape."""
        status = self._continued(status)
        if status and status != self.status:
            self.status = status
            self._fresh.append({"type": "status", "jobset": status})

    def set_size(self, nodes: int) -> None:
        """Its Jobs have been told to have so many nodes at most."""
        if nodes != self._most_nodes:
            self._most_nodes = nodes
            self._fresh.append({"type": "status", "jobset": self.status, "nodes": nodes})

    def set_progress(self, progress: Json) -> None:
        """What the training code reports."""
        if progress and progress != self._progress:
            self._progress = progress
            self._fresh.append({"type": "progress", "trainerStatus": progress})

    def set_links(self, links: Json) -> None:
        """What the training code has registered links to."""
        if links and links != self._links:
            self._links = links
            self._fresh.append({"type": "progress", "trainerStatus": {"links": links}})

    def set_waiting(self, waiting: Waiting | None) -> None:
        """Why nothing runs; None: it does, or nobody knows."""
        record = {"type": "waiting", "reason": ""} if waiting is None else waiting.record()
        if record != (self._waiting or {"type": "waiting", "reason": ""}):
            self._waiting = record
            self._fresh.append(record)

    def end(self, verdict: Verdict) -> None:
        """The job is over."""
        self.is_over = True
        self._fresh.append(verdict.record())

    @property
    def pods(self) -> list[Json]:
        """The pod that has each place now; of one that runs only that it does."""
        return [holder.pod for holder in self._holders.values()]

    def interruption(self, roles: Collection[str], verdict: Verdict) -> str:
        """Why a job that is over was interrupted, of which these roles have to succeed."""
        if verdict.succeeded:
            return why_undone(self._pods.values(), roles, self._elastic)
        return why_failed(self._first_failed, roles, verdict.reason)

    def explained(self, roles: Collection[str], verdict: Verdict) -> Verdict:
        """The verdict, with the pod that somebody deleted where nothing else explains it."""
        why = why_deleted(self._first_deleted, self._first_failed, roles)
        if verdict.succeeded or not why or verdict.reason in _ALONE:
            return verdict
        said = f"{verdict.message}; {why}" if verdict.message else why
        return verdict._replace(message=said)

    @property
    def nodes(self) -> dict[str, str]:
        """The nodes of the pods that run, by the names of these."""
        return {record["name"]: str(record.get("node") or "") for record in self._running()}

    def _running(self) -> list[Json]:
        return [record for record in self._pods.values() if record["phase"] == "Running"]

    def _note_pod(self, record: Json) -> None:
        if self._pods.get(record["pod"]) != record:
            if record["phase"] in _OVER and (used := self._usage.take([record["pod"]])):
                self._fresh.append(used)
            self._pods[record["pod"]] = record
            self._judge(record)
            self._fresh.append(record)
            self._count_nodes(role_of(record["pod"]))
            self._name_sick(record)

    @property
    def why_sick(self) -> str:
        """Which node failed the health check of the newest attempt, and why; empty: none."""
        first = self._first_failed
        return _sick_words(first) if first.get("reason") == HEALTH_CHECK_FAILED else ""

    def _name_sick(self, record: Json) -> None:
        """Tell of a node that failed the health check, once for each pod."""
        if record.get("reason") == HEALTH_CHECK_FAILED and record.get("node"):
            uid = f"{NODE_SET_ASIDE}-{record['name']}"
            told = {"type": "event", "eventType": "Warning", "reason": NODE_SET_ASIDE}
            if uid not in self._events:
                self._events[uid] = 1
                about = {"object": f"Node/{record['node']}", "message": _sick_words(record)}
                self._fresh.append({**told, **about, "event": {"uid": uid, "count": 1}})

    def _judge(self, record: Json) -> None:
        """Note whether a pod is the first to fail, or to be deleted."""
        self._first_failed = first_failed(self._first_failed, record)
        self._first_deleted = first_deleted(self._first_deleted, record)

    def _count_nodes(self, role: str) -> None:
        """Tell with how many nodes an elastic role runs, where that has changed.

        Not while the first ones come, nor while the last ones end.
        """
        most, uid = self._elastic.get(role), f"nodes-{role}"
        phases = [each["phase"] for key, each in self._pods.items() if role_of(key) == role]
        running, told = phases.count("Running"), self._events.get(uid)
        is_passing = not running or "Succeeded" in phases or (told is None and running != most)
        if most is None or is_passing or running == told:
            return
        self._events[uid] = running
        kind = "Warning" if told is not None and running < told else "Normal"
        message = f"runs with {running} of {most} nodes"
        record = {"type": "event", "eventType": kind, "reason": RESIZED, "message": message}
        self._fresh.append({**record, "event": {"uid": uid, "count": running}})

    def _continued(self, status: Json) -> Json:
        """The status with what there was at other places."""
        if not status or not self.restarts_before:
            return status
        restarts = int(status.get("restarts") or 0) + self.restarts_before
        counted = int(status.get("restartsCountTowardsMax") or 0) + self.counted_before
        return {**status, "restarts": restarts, "restartsCountTowardsMax": counted}

    def _replay(self, record: Json) -> None:
        plain = {name: value for name, value in record.items() if name not in _NUMBERS}
        match record.get("type"):
            case "pod":
                self._pods[record["pod"]] = plain
                self._judge(plain)
            case "usage":
                for key, used in (record.get("pods") or {}).items():
                    name = (self._pods.get(key) or {}).get("name") or ""
                    self._usage.replay(key, name, int(used["peakMemory"]))
            case "event":
                told = record.get("event") or {}
                self._events[str(told.get("uid"))] = int(told.get("count") or 1)
            case "status":
                self.status = record.get("jobset") or {}
                self._most_nodes = record.get("nodes", self._most_nodes)
            case "progress":
                told = dict(record.get("trainerStatus") or {})
                self._links = told.pop("links", None) or self._links
                self._progress = told or self._progress
            case "waiting":
                self._waiting = plain
            case "agent":
                self.uid = str(record.get("uid") or self.uid)
                self.created = str(record.get("created") or self.created)
                if record.get("event") == SUBMITTED:
                    self._first_failed, self._first_deleted = {}, {}
                    self.restarts_before = int(self.status.get("restarts") or 0)
                    counted = self.status.get("restartsCountTowardsMax")
                    self.counted_before = int(counted or 0)
            case "end":
                self.is_over = True


def verdict_of(status: Json) -> Verdict | None:
    """How a JobSet, TrainJob or MPIJob with this status ended; None: it goes on."""
    conditions = status.get("conditions") or []
    for kind, succeeded in _ENDS:
        found = find_true(conditions, kind)
        if found is not None:
            message = str(found.get("message") or "")
            return Verdict(succeeded, str(found.get("reason") or kind), message)
    return None


def verdict_on(status: Json, source: Json | None) -> tuple[Verdict | None, bool]:
    """How a job ended, and whether its JobSet has no more to say.

    A TrainJob or MPIJob may end on its own; else it ends after its JobSet, which says more.
    """
    own = verdict_of(status)
    if own is not None or source is None:
        return own, True
    last = verdict_of(source.get("status") or {})
    if last is None:
        return None, True
    return last, last.reason in _ALONE or not status


def is_settled(status: Json, pods: Iterable[Json]) -> bool:
    """Whether nothing of an ended job runs any more."""
    counts = status.get("replicatedJobsStatus") or ()
    is_counted = any(item.get("active") or item.get("ready") for item in counts)
    return not is_counted and all(_is_over(pod) for pod in pods)


def mpi_status(source: Json) -> Json:
    """The status of an MPIJob without a JobSet, as far as JobSet has words for it."""
    suspended = find_condition(conditions_of(source), "Suspended")
    return {} if suspended is None else {"conditions": [suspended]}


def _explaining(pod: Json) -> Json:
    """The pod, if it may tell why it does not run; else only its phase, for there are many."""
    status = pod.get("status") or {}
    states = (item.get("state") or {} for item in status.get("containerStatuses") or ())
    if status.get("phase") in (None, "Pending") or any("waiting" in state for state in states):
        return pod
    return {
        "metadata": {"name": pod["metadata"]["name"]},
        "spec": {},
        "status": {"phase": status["phase"]},
    }


def _sick_words(record: Json) -> str:
    return f"node {record.get('node')} failed its health check: {record.get('message')}"


def _is_over(pod: Json) -> bool:
    return (pod.get("status") or {}).get("phase") in _OVER


def _count(event: Json) -> int:
    series = (event.get("series") or {}).get("count")
    return int(event.get("count") or series or 1)
