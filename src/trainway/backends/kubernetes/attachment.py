"""Which pod of a job a person means, and how to reach it; for exec and port-forward. Pure."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from trainway.backends.kubernetes.pods import Place, newest, place_of
from trainway.errors import ConflictError
from trainway.jobset.labels import DEFAULT_CONTAINER
from trainway.json_types import Json

_FIRST_ROLES: Final = ("launcher", "node")
"""The roles where a person looks first."""


def attachment(
    handle: Mapping[str, Any],
    pods: Iterable[Json],
    role: str | None = None,
    rank: int | None = None,
) -> Json:
    """The pod of that role and rank, or the first one; it must be running."""
    found = []
    for pod in newest(pods).values():
        place = place_of(pod)
        if place is not None and role in (None, place.role) and rank in (None, place.rank):
            found.append((_order(place), pod))
    running = [entry for entry in found if (entry[1].get("status") or {}).get("phase") == "Running"]
    if not running:
        raise ConflictError(_nothing(str(handle["name"]), len(found), role, rank),
                            hint="see the state of its pods with trainway jobs show")  # fmt: skip
    _, pod = min(running, key=lambda entry: entry[0])
    return _place(handle, pod)


def attachments(handle: Mapping[str, Any], pods: Iterable[Json]) -> list[Json]:
    """All pods that run, in the order in which a person looks at them."""
    placed = [(place_of(pod), pod) for pod in newest(pods).values()]
    running = [
        (place, pod)
        for place, pod in placed
        if place is not None and (pod.get("status") or {}).get("phase") == "Running"
    ]
    running.sort(key=lambda entry: _order(entry[0]))
    return [
        {
            **_place(handle, pod),
            "uid": str(pod["metadata"]["uid"]),
            "role": place.role,
            "replica": place.job,
            "rank": place.rank,
            "host": str((pod.get("spec") or {}).get("nodeName") or ""),
        }
        for place, pod in running
    ]


def _place(handle: Mapping[str, Any], pod: Json) -> Json:
    return {
        "job": handle["id"],
        "pod": pod["metadata"]["name"],
        "container": default_container(pod),
        "containers": [str(item["name"]) for item in pod["spec"]["containers"]],
        "namespace": handle["namespace"],
        "context": handle["context"],
        "kubeconfig": list(handle.get("kubeconfig") or ()),
    }


def default_container(pod: Json) -> str:
    """The container that is meant when none is named."""
    annotations = pod["metadata"].get("annotations") or {}
    names = [str(item["name"]) for item in pod["spec"]["containers"]]
    named = annotations.get(DEFAULT_CONTAINER)
    return str(named) if named in names else names[0]


def _order(place: Place) -> tuple[int, str, int, int]:
    first = _FIRST_ROLES.index(place.role) if place.role in _FIRST_ROLES else len(_FIRST_ROLES)
    return first, place.role, place.job, place.rank


def _nothing(name: str, known: int, role: str | None, rank: int | None) -> str:
    asked = "" if role is None else f" of role {role}"
    asked += "" if rank is None else f" of rank {rank}"
    if known:
        return f"no pod{asked} of {name} is running"
    return f"{name} has no pod{asked} now"
