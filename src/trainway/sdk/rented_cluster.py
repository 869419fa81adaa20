"""Waits for a cluster whose machines are rented: a job is submitted once they are there."""

import time
from collections.abc import Callable
from typing import Final

from trainway.families.table import family_of
from trainway.json_types import Json
from trainway.sdk.cluster_rest import ClusterRest

_STEP_S: Final = 0.5
_SETTLED: Final = ("UP", "STOPPED")


def settled(
    rest: ClusterRest,
    cluster: Json,
    say: Callable[[str], object],
    pause: Callable[[float], None] = time.sleep,
) -> Json:
    """The cluster once it has its machines, or gets none; others are not waited for.

    `say` is told what is tried meanwhile.
    """
    told = ""
    while family_of(cluster["spec"]["infra"]).rents and cluster["status"]["phase"] not in _SETTLED:
        name, status = cluster["metadata"]["name"], cluster["status"]
        if status["message"] and status["message"] != told:
            told = status["message"]
            say(f"{name}: {told}")
        pause(_STEP_S)
        cluster = rest.cluster(name)
    return cluster


def why_none(cluster: Json) -> list[str]:
    """Why a cluster has no rented machines, and what was tried; nothing: it has, or needs none."""
    name, status = cluster["metadata"]["name"], cluster["status"]
    if not family_of(cluster["spec"]["infra"]).rents or status["phase"] != "STOPPED":
        return []
    tried = (status.get("rental") or {}).get("history") or ()
    lines = [f"{item['infra']} {item['instanceType']}: {item['error']}" for item in tried]
    why = status["message"] or "it was stopped"
    return [*lines, f"cluster {name} has no machines: {why} (trainway start {name} tries again)"]
