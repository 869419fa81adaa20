"""Waits for a cluster whose machines are rented, and says meanwhile what is tried."""

import time
from collections.abc import Callable
from typing import Final

from trainway.cli.output import echo_line
from trainway.cli.refusal import RefusedError
from trainway.families.table import family_of
from trainway.json_types import Json
from trainway.sdk.cluster_rest import ClusterRest

_STEP_S: Final = 0.5


def until_up(rest: ClusterRest, cluster: Json, pause: Callable[[float], None] = time.sleep) -> Json:
    """The cluster once its nodes are there; other clusters are not waited for."""
    told = ""
    while family_of(cluster["spec"]["infra"]).rents and cluster["status"]["phase"] != "UP":
        name, status = cluster["metadata"]["name"], cluster["status"]
        if status["phase"] == "STOPPED":
            raise RefusedError(_why(name, status), 1)
        if status["message"] and status["message"] != told:
            told = status["message"]
            echo_line(f"{name}: {told}")
        pause(_STEP_S)
        cluster = rest.cluster(name)
    return cluster


def _why(name: str, status: Json) -> list[str]:
    """Why there are no machines, and what was tried."""
    tried = (status.get("rental") or {}).get("history") or ()
    lines = [f"{item['infra']} {item['instanceType']}: {item['error']}" for item in tried]
    why = status["message"] or "it was stopped"
    return [*lines, f"cluster {name} has no machines: {why} (trainway start {name} tries again)"]
