"""Whether a cluster has taken pods away from a job that is over, which is then not done. Pure.

A program that ends well when it is told to end has saved its work, and not done it, but a Job takes
it for done. Where the pod counts as failed, JobSet restarts as often as its policy says, and then
gives up. Whoever runs the job has it begin again.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Final

from trainway.json_types import Json

_TAKEN: Final = (
    "EvictionByEvictionAPI",
    "PreemptionByScheduler",
    "DeletionByTaintManager",
    "DeletionByPodGC",
)
"""Why pods are taken away that have done nothing wrong. A kubelet that evicts one for what it uses
is not among them: that pod would be evicted again and again."""

_GOING_ON: Final = ("Pending", "Running")
_TIME_IS_UP: Final = "DeadlineExceeded"


def first_failed(known: Json, record: Json) -> Json:
    """The record of the pod that failed first in the newest attempt; empty: none has.

    One that was deleted because another one failed is not meant, nor one that was replaced alone
    since, as its Job may do: what fails later is no longer for its sake.
    """
    if known and record["pod"] == known["pod"] and record["phase"] in _GOING_ON:
        return {}
    is_told = record.get("deleted") or record.get("reason") == "Deleted"
    if record["phase"] != "Failed" or (is_told and not record.get("disrupted")):
        return known
    return record if not known or record["attempt"] > known["attempt"] else known


def first_deleted(known: Json, record: Json) -> Json:
    """The record of the pod that was deleted first in the newest attempt, though nothing took it.

    Who has deleted it a pod does not tell: somebody with kubectl, or a controller that had reason
    to. So it explains only what nothing else does. Its Job counts it as a failure, as upstream.
    """
    is_newer = not known or record["attempt"] > known["attempt"]
    is_deleted = record.get("deleted") or record.get("reason") == "Deleted"
    is_undone = record["phase"] != "Succeeded" and not record.get("disrupted")
    return record if is_newer and is_deleted and is_undone else known


def why_deleted(first: Json, failed: Json, roles: Collection[str]) -> str:
    """What is added to the message of a failed job of which no pod has failed by itself."""
    is_explained = failed and failed["attempt"] >= first.get("attempt", 0)
    if not first or is_explained or role_of(first["pod"]) not in roles:
        return ""
    return f"{first['name']} was deleted before it was done"


def why_failed(first: Json, roles: Collection[str], reason: str) -> str:
    """Why a job has failed that could begin again; empty: it failed by itself, or took too long."""
    is_meant = bool(first) and role_of(first["pod"]) in roles and reason != _TIME_IS_UP
    if not is_meant or not first.get("disrupted") or first.get("reason") not in _TAKEN:
        return ""
    return _said(first)


def why_undone(pods: Iterable[Json], roles: Collection[str], elastic: Mapping[str, int]) -> str:
    """Why a job is not done that its cluster calls complete; empty: it is.

    An elastic role is done where one of its pods is.
    """
    known = [record for record in pods if role_of(record["pod"]) in roles]
    newest = max((record["attempt"] for record in known), default=0)
    last = [record for record in known if record["attempt"] == newest]
    done = {role_of(each["pod"]) for each in last if each["phase"] == "Succeeded"}
    for record in last:
        role = role_of(record["pod"])
        is_taken = record["phase"] == "Failed" and record.get("disrupted")
        if is_taken and not (role in elastic and role in done):
            return _said(record)
    return ""


def role_of(key: str) -> str:
    """The role of a pod, by the key of its place."""
    return key.rsplit("-", 2)[0]


def _said(record: Json) -> str:
    why = record.get("message") or record.get("reason")
    return f"{record['name']} was taken from its node before it was done: {why}"
