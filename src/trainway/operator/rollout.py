"""Whether the operator that was installed has come up, and what keeps its pods from it. Pure."""

from collections.abc import Iterable
from typing import Final

from trainway.json_types import Json

_NORMAL: Final = ("", "ContainerCreating", "PodInitializing")

_NO_IMAGE: Final = ("ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName")


def is_up(deployment: Json | None) -> bool:
    """Whether all replicas of the newest version answer."""
    if deployment is None:
        return False
    status, wanted = deployment.get("status") or {}, deployment["spec"].get("replicas", 1)
    is_seen = status.get("observedGeneration", 0) >= deployment["metadata"].get("generation", 0)
    ready = min(status.get("updatedReplicas") or 0, status.get("availableReplicas") or 0)
    return bool(is_seen and ready >= wanted)


def troubles(pods: Iterable[Json]) -> list[str]:
    """What the pods say that are not ready, each once: `ImagePullBackOff: no such image`."""
    found: list[str] = []
    for pod in pods:
        status = pod.get("status") or {}
        for container in status.get("containerStatuses") or ():
            state = container.get("state") or {}
            waits = state.get("waiting") or {}
            if waits.get("reason", "") not in _NORMAL:
                found.append(_said(waits))
            last = (container.get("lastState") or {}).get("terminated") or {}
            if last.get("exitCode"):
                found.append(f"its container exited with {last['exitCode']}")
        found += [
            _said(each)
            for each in status.get("conditions") or ()
            if each["type"] == "PodScheduled" and each["status"] == "False"
        ]
    return list(dict.fromkeys(found))


def has_no_image(found: Iterable[str]) -> bool:
    """Whether waiting is in vain, since an image cannot be pulled."""
    return any(text.startswith(_NO_IMAGE) for text in found)


def _said(told: Json) -> str:
    return ": ".join(str(told[name]) for name in ("reason", "message") if told.get(name))
