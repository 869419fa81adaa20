"""Who failed first, and how: the one answer that the API, the command line and the SDK give. Pure.

When one node of a gang fails, the others are stopped, and their exit statuses say nothing: torchrun
makes 1 of the signal that stops it, most programs 143. So the order in which they ended decides,
and whoever was being stopped or deleted is never to blame, unless Kubernetes says that something
from outside disrupted it: an eviction, a preemption, its node.
"""

import signal
from collections.abc import Iterable, Mapping
from typing import Any, Final

from trainway.json_types import Json

Record = Mapping[str, Any]

_FAILED: Final = "Failed"
_OVER: Final = ("Succeeded", _FAILED)
_TAKEN_AWAY: Final = ("Deleted", "AllocationLost")
"""The reasons of a pod that was removed before it was seen to end, and of all pods of a job whose
allocation Slurm takes away: its node that failed, or the time limit, is told by Slurm itself."""
OUT_OF_MEMORY: Final = "OOMKilled"
_MEMORY_FIGURES: Final = ": its "
"""What stands before the peak and the limit in the message of an agent."""
NOT_STARTED: Final = ("StartError", "ContainerCannotRun")
"""The reasons of a container whose program could not be started."""
_BEYOND_SIGNALS: Final = 192
_SIGNALLED: Final = 128
"""What shells and Kubernetes add to the number of a signal."""


def blamed(known: Json, record: Record) -> Json:
    """Who is to blame once a pod's record has come; `known` was it before, empty: nobody.

    A container that fails and is restarted in its pod is to blame for the time being: until it
    runs again, or until a pod has failed for good.
    """
    pod, attempt = str(record["pod"]), int(record.get("attempt") or 0)
    is_same_attempt = bool(known) and known["attempt"] == attempt
    is_same_pod = is_same_attempt and known["pod"] == pod
    if record.get("phase") not in _OVER:
        if record.get("deleted") or (is_same_attempt and not is_same_pod):
            return known
        crash = _crash(pod, attempt, record)
        return crash if is_same_pod else crash or known
    is_deleted = bool(record.get("deleted")) or record.get("reason") in _TAKEN_AWAY
    is_stopped = is_deleted and not record.get("disrupted")
    if record.get("phase") != _FAILED or is_stopped:
        return known
    if is_same_attempt and not is_retried(known):
        return known
    return _culprit(pod, attempt, record)


def ended_by_us(record: Record, hang: Json) -> Record:
    """The record of a pod; one that was deleted because it hung has failed by itself."""
    attempt = int(record.get("attempt") or 0)
    if not hang or (record["pod"], attempt) != (hang["pod"], hang["attempt"]):
        return record
    return {**record, "deleted": False, "reason": None}


def hung(culprit: Json, hang: Json) -> Json:
    """The culprit, who was ended because it hung if that is the pod and the attempt of a hang."""
    if not hang or any(culprit.get(name) != hang[name] for name in ("pod", "attempt")):
        return culprit
    return {**culprit, "hung": True, "message": hang["message"]}


def is_retried(culprit: Json) -> bool:
    """Whether the culprit's containers were still being restarted when it was last heard of."""
    return "restarts" in culprit


def _crash(pod: str, attempt: int, record: Record) -> Json:
    """How a container last failed that is, or will be, started again in its pod; empty: none."""
    for item in record.get("containers") or []:
        last = item if item.get("exitCode") else item.get("lastState") or {}
        if item.get("state") != "running" and last.get("exitCode"):
            culprit = _culprit(pod, attempt, {"containers": [last]})
            return culprit | {"restarts": int(item.get("restarts") or 0)}
    return {}


def _culprit(pod: str, attempt: int, record: Record) -> Json:
    containers: list[Json] = list(record.get("containers") or [])
    ended = next((item for item in containers if item.get("exitCode")), {})
    reasons = [record.get("reason"), ended.get("reason")]
    messages = [record.get("message"), *(item.get("message") for item in containers)]
    said = {
        "exitCode": ended.get("exitCode"),
        "outOfMemory": OUT_OF_MEMORY in reasons,
        "notStarted": ended.get("reason") in NOT_STARTED,
        "reason": record.get("reason"),
        "message": next((text for text in messages if text), None),
        "host": record.get("host") or record.get("node"),
    }
    return {"pod": pod, "attempt": attempt, **{name: item for name, item in said.items() if item}}


def failure_view(culprit: Json, nodes: Iterable[Json], attempts: int) -> Json:
    """The failure as a job shows it; `attempts` is how many there may be in all."""
    role, job, rank = culprit["pod"].rsplit("-", 2)
    name = culprit_name(culprit)
    others = [node for node in nodes if _key(node) != culprit["pod"]]
    stopped = sum(bool(node.get("stopped")) for node in others)
    attempt = culprit["attempt"] + 1
    which = f"attempt {attempt} of {max(attempts, attempt)}{_after_restarts(culprit)}"
    words = f"{name} {culprit_words(culprit)} ({which})"
    if stopped:
        words += f"; {_others(stopped, len(others))}"
    code = culprit.get("exitCode")
    return {
        "summary": words,
        "node": name,
        "role": role,
        "job": int(job),
        "rank": int(rank),
        "attempt": culprit["attempt"],
        **({} if code is None else {"exitCode": code}),
    }


def _key(node: Json) -> str:
    return f"{node['role']}-{node['job']}-{node['rank']}"


def _after_restarts(culprit: Json) -> str:
    restarts = int(culprit.get("restarts") or 0)
    return f", after {restarts} {'restart' if restarts == 1 else 'restarts'}" if restarts else ""


def culprit_name(culprit: Json) -> str:
    """The node that failed, as it is shown."""
    role, job, rank = culprit["pod"].rsplit("-", 2)
    return shown_name(role, int(job), int(rank))


def culprit_words(culprit: Json) -> str:
    """How it failed, as the rest of a sentence about its node."""
    code, reason, message = (culprit.get(name) for name in ("exitCode", "reason", "message"))
    if culprit.get("hung"):
        return f"hung: {message}"
    if culprit.get("notStarted"):
        return start_words(message)
    if culprit.get("outOfMemory"):
        figures = str(message or "").partition(_MEMORY_FIGURES)
        return exit_words(int(code or 0), out_of_memory=True) + "".join(figures[1:])
    if reason or not code:
        where = f" on {culprit['host']}" if culprit.get("host") else ""
        why = ": ".join(str(part) for part in (reason, message) if part)
        return f"failed{where}" + (f": {why}" if why else "")
    text = exit_words(int(code), out_of_memory=False)
    return f"{text}: {message}" if message else text


def start_words(message: object) -> str:
    """That a program could not be started, as the rest of a sentence about its node."""
    return f"could not be started: {message}" if message else "could not be started"


def exit_words(code: int, *, out_of_memory: bool) -> str:
    """How a process ended, as the rest of a sentence about its node."""
    killer = "SIGKILL" if out_of_memory and not code else _signal_name(code)
    text = f"was killed by {killer}" if killer else f"exited with {code}"
    return f"{text}: it ran out of memory" if out_of_memory else text


def shown_name(role: str, job: int, rank: int) -> str:
    """`role-rank`, as in front of log lines; with the number of its Job where there are several."""
    return f"{role}-{job}-{rank}" if job else f"{role}-{rank}"


def _signal_name(code: int) -> str:
    """The signal that an exit status stands for; empty if it stands for none."""
    if not _SIGNALLED < code <= _BEYOND_SIGNALS:
        return ""
    try:
        return signal.Signals(code - _SIGNALLED).name
    except ValueError:
        return ""


def _others(stopped: int, others: int) -> str:
    if stopped == 1:
        return "the other node was stopped" if others == 1 else "another node was stopped"
    return f"{'the other ' if stopped == others else ''}{stopped} nodes were stopped"
