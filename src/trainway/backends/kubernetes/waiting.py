"""Why a job waits, in words that its owner understands. Pure.

The cluster says it in many places: a queue's Workload, conditions and container states of pods, and
events of Jobs whose pods were not even made. The first that explains it is told.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from trainway.backends.kubernetes.events import object_of, time_of
from trainway.backends.kubernetes.unschedulable import condensed
from trainway.jobset.labels import KUEUE_QUEUE_NAME
from trainway.jobset.status import find_condition, find_true
from trainway.json_types import Json
from trainway.kube.webhook_failure import webhook_failure

if TYPE_CHECKING:
    from trainway.agent.base.records import WaitingRecord

INADMISSIBLE: Final = "Inadmissible"
"""The word of Kueue, and ours, for a job that it will not admit."""

_TOO_LARGE: Final = re.compile(r"> maximum capacity|insufficient quota for")
"""What Kueue says of a job that asks for more than the quota; of a quota that is used up it says
`insufficient unused quota`."""
_IMAGE: Final = frozenset(
    {
        "ErrImagePull",
        "ErrImageNeverPull",
        "ImageInspectError",
        "ImagePullBackOff",
        "InvalidImageName",
    }
)
_NORMAL: Final = frozenset({"", "ContainerCreating", "PodInitializing"})
_STUCK: Final = ("FailedMount", "FailedAttachVolume", "FailedCreatePodSandBox")
_MISSING: Final = re.compile(r'(?i)\b(configmap|secret) "?(?P<name>[^"\s]+)"? not found')
_MISSING_KEY: Final = re.compile(
    r"couldn't find key (?P<key>\S+) in (?P<kind>ConfigMap|Secret) (?P<name>\S+)"
)
_QUOTA: Final = re.compile(
    r"exceeded quota: (?P<name>[^,]+), requested: (?P<asked>.+), used: (?P<used>.+),"
    r" limited: (?P<hard>.+)"
)
_FORBIDDEN: Final = re.compile(r'(?:Error creating: )?pods "[^"]*" is forbidden: (?P<why>.*)')
_CAUSES: Final = (
    (
        re.compile(r"(?i)unauthorized|forbidden|denied|authorization failed"),
        "there is no such image, or it needs an image pull secret",
    ),
    (re.compile(r"(?i)not found|does not exist|manifest unknown"), "there is no such image"),
    (
        re.compile(r"(?i)no such host|dial tcp|connection refused|timeout|unreachable"),
        "the registry cannot be reached",
    ),
)


@dataclass(frozen=True)
class Waiting:
    """Why something does not run yet."""

    reason: str
    message: str
    queue: str = ""
    position: int | None = None
    """The position in the queue, from 1 on."""

    def record(self) -> Json:
        """The journal record, without number and time."""
        record: WaitingRecord = {
            "type": "waiting",
            "reason": self.reason,
            "message": self.message,
        }
        if self.queue:
            record["queue"] = self.queue
        if self.position is not None:
            record["position"] = self.position
        return dict(record)


def why_job(
    top: Json,
    pods: Sequence[Json],
    events: Iterable[Json],
    workload: Json | None,
    position: int | None = None,
) -> Waiting | None:
    """Why a job does not run; None: nothing is known that would keep it from running."""
    queued = _queued(top, workload, position)
    if queued is not None:
        return queued
    known = list(events)
    found = [why(pod, known) for pod in pods]
    reasons = [waiting for waiting in found if waiting is not None]
    if not reasons:
        return _not_created(known)
    first = reasons[0]
    alike = sum(waiting.message == first.message for waiting in reasons)
    if len(pods) == 1:
        return first
    who = (
        f"all {len(pods)} pods wait" if alike == len(pods) else f"{alike} of {len(pods)} pods wait"
    )
    return Waiting(first.reason, f"{who}: {first.message}")


def why(pod: Json, events: Iterable[Json]) -> Waiting | None:
    """Why a pod does not run; None: it runs, or is on its way."""
    status = pod.get("status") or {}
    if status.get("phase") not in (None, "", "Pending", "Running"):
        return None
    scheduled = _condition(status, "PodScheduled")
    if scheduled.get("status") == "False":
        return _unscheduled(pod, scheduled)
    of_container = _container(pod, status, events)
    if of_container is not None or status.get("phase") == "Running":
        return of_container
    return _stuck(pod, events)


def why_pending(workload: Json) -> str | None:
    """Why a Workload of a queue is not admitted; None: it is, or it is over."""
    status = workload.get("status") or {}
    conditions = status.get("conditions") or []
    if find_true(conditions, "Admitted") or find_true(conditions, "Finished"):
        return None
    if (workload.get("spec") or {}).get("active") is False:
        return "it was deactivated"
    never = _never(status)
    if never:
        return f"it can never be admitted: {never}"
    return _queue_reason(status).removeprefix(": ") or "the queue has not looked at it yet"


def _queued(top: Json, workload: Json | None, position: int | None) -> Waiting | None:
    labels = (top.get("metadata") or {}).get("labels") or {}
    if workload is None:
        queue = str(labels.get(KUEUE_QUEUE_NAME) or "")
        if not queue or not _is_suspended(top):
            return None
        return Waiting("Queued", f"waits for queue {queue}", queue)
    status, spec = workload.get("status") or {}, workload.get("spec") or {}
    conditions = status.get("conditions") or []
    if find_true(conditions, "Admitted") or find_true(conditions, "Finished"):
        return None
    queue = str(spec.get("queueName") or labels.get(KUEUE_QUEUE_NAME) or "")
    where = f"queue {queue}" if queue else "its queue"
    if position is not None:
        where = f"{where}, position {position}"
    if spec.get("active") is False:
        return Waiting("Deactivated", f"{where}: the workload was deactivated", queue, position)
    why = _never(status)
    if why:
        return Waiting(INADMISSIBLE, f"{where} can never admit it: {why}", queue)
    return Waiting("Queued", f"waits in {where}{_queue_reason(status)}", queue, position)


def _never(status: Json) -> str:
    """Why a queue will not admit a job unless somebody changes one of them; empty: it may."""
    reserved = _condition(status, "QuotaReserved")
    said = _first_line(reserved.get("message"))
    if reserved.get("status") != "False":
        return ""
    is_refused = reserved.get("reason") == INADMISSIBLE
    return said if is_refused or _TOO_LARGE.search(said) else ""


def _queue_reason(status: Json) -> str:
    """What the queue says about it."""
    conditions = status.get("conditions") or []
    if find_true(conditions, "QuotaReserved"):
        checks = [
            check for check in status.get("admissionChecks") or () if check["state"] != "Ready"
        ]
        names = ", ".join(_check(check) for check in checks)
        return f": admission checks pending: {names}" if names else ": it will start soon"
    reserved = _condition(status, "QuotaReserved")
    evicted = find_true(conditions, "Evicted")
    texts = [_first_line(item.get("message")) for item in (evicted or {}, reserved)]
    said = "; ".join(dict.fromkeys(text for text in texts if text))
    return f": {said}" if said else ""


def _check(check: Json) -> str:
    message = _first_line(check.get("message"))
    return f"{check['name']} ({message})" if message else str(check["name"])


def _is_suspended(top: Json) -> bool:
    spec = top.get("spec") or {}
    return bool(spec.get("suspend") or (spec.get("runPolicy") or {}).get("suspend"))


def _unscheduled(pod: Json, condition: Json) -> Waiting:
    reason = str(condition.get("reason") or "Unschedulable")
    if reason == "SchedulingGated":
        gates = [str(gate["name"]) for gate in pod["spec"].get("schedulingGates") or ()]
        return Waiting(reason, f"held back by the scheduling gate {', '.join(gates)}")
    return Waiting(reason, condensed(str(condition.get("message") or "not scheduled yet")))


def _container(pod: Json, status: Json, events: Iterable[Json]) -> Waiting | None:
    """What keeps a container from starting."""
    names = ("initContainerStatuses", "containerStatuses")
    for each in (item for name in names for item in status.get(name) or ()):
        waits = (each.get("state") or {}).get("waiting") or {}
        reason, message = str(waits.get("reason") or ""), str(waits.get("message") or "")
        if reason in _NORMAL:
            continue
        if reason in _IMAGE:
            return Waiting(reason, _image(pod, each, message, events))
        if reason == "CrashLoopBackOff":
            return Waiting(reason, _crashes(each))
        return Waiting(
            reason, _missing(message) or f"container {each['name']}: {_first_line(message)}"
        )
    return None


def _image(pod: Json, container: Json, message: str, events: Iterable[Json]) -> str:
    specs = (*(pod["spec"].get("initContainers") or ()), *(pod["spec"].get("containers") or ()))
    written = {str(spec["name"]): str(spec.get("image") or "") for spec in specs}
    image = written.get(container["name"]) or container.get("image") or ""
    failed = (event for event in _of_pod(pod, events) if event.get("reason") == "Failed")
    texts = [message, *(str(event.get("message") or "") for event in failed)]
    head = f"image {image} cannot be pulled"
    for text in texts:
        for pattern, words in _CAUSES:
            if pattern.search(text):
                return f"{head}: {words}"
    told = _first_line(message.rpartition(": ")[2]) if ": " in message else ""
    return f"{head}: {told}" if told else head


def _crashes(container: Json) -> str:
    ended = (container.get("lastState") or {}).get("terminated") or {}
    times = int(container.get("restartCount") or 0) + 1
    code = f" with status {ended['exitCode']}" if ended.get("exitCode") is not None else ""
    often = "once" if times == 1 else f"{times} times"
    return f"container {container['name']} ended {often}{code}, and is started again after a pause"


def _stuck(pod: Json, events: Iterable[Json]) -> Waiting | None:
    """What the kubelet says about a pod whose containers are not there yet."""
    told = [event for event in _of_pod(pod, events) if event.get("reason") in _STUCK]
    if not told:
        return None
    newest = max(told, key=time_of)
    message = str(newest.get("message") or "")
    return Waiting(str(newest["reason"]), _missing(message) or _first_line(message))


def _missing(message: str) -> str:
    key = _MISSING_KEY.search(message)
    if key:
        return f"the {key['kind']} {key['name'].rpartition('/')[2]} has no key {key['key']}"
    found = _MISSING.search(message)
    if found is None:
        return ""
    kind = "ConfigMap" if found[1].lower() == "configmap" else "Secret"
    return f"the {kind} {found['name'].rpartition('/')[2]} does not exist"


def _not_created(events: Sequence[Json]) -> Waiting | None:
    """Why a Job or a ReplicaSet could not make its pods, unless it has made some since."""
    last: dict[tuple[str, str], Json] = {}
    for event in sorted(events, key=time_of):
        if event.get("reason") in ("FailedCreate", "SuccessfulCreate"):
            last[object_of(event)] = event
    failed = [event for event in last.values() if event["reason"] == "FailedCreate"]
    if not failed:
        return None
    message = str(max(failed, key=time_of).get("message") or "")
    quota = _QUOTA.search(message)
    if quota:
        return Waiting("QuotaExceeded", _quota(quota))
    if failure := webhook_failure(message):
        return Waiting("FailedCreate", f"no pod can be created: {failure.message}")
    forbidden = _FORBIDDEN.search(message)
    said = forbidden["why"] if forbidden else message.removeprefix("Error creating: ")
    return Waiting("FailedCreate", f"no pod can be created: {_first_line(said)}")


def _quota(found: re.Match[str]) -> str:
    asked, used, hard = (_amounts(found[name]) for name in ("asked", "used", "hard"))
    parts = [f"{amount} {name}, used {used.get(name, '0')} of {hard.get(name, '?')}"
             for name, amount in asked.items()]  # fmt: skip
    return f"quota {found['name']} is exceeded: a pod asks for {'; '.join(parts)}"


def _amounts(text: str) -> dict[str, str]:
    pairs = (item.partition("=") for item in text.split(","))
    return {name.strip(): amount.strip() for name, _, amount in pairs}


def _of_pod(pod: Mapping[str, Any], events: Iterable[Json]) -> list[Json]:
    name = pod["metadata"]["name"]
    return [event for event in events if object_of(event) == ("Pod", name)]


def _condition(status: Json, type_: str) -> Json:
    return find_condition(status.get("conditions") or (), type_) or {}


def _first_line(text: object) -> str:
    line = str(text or "").strip().partition("\n")[0]
    return " ".join(line.split())
