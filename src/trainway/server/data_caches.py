"""Data caches as the API shows them: jobs with the label of a cache, and what their heads say."""

import http.client
import json
from collections.abc import Mapping
from typing import Any, Final

from trainway.data.flight.objects import CacheSpec
from trainway.jobset.labels import DATA_CACHE
from trainway.json_types import Json

_PROBE_S: Final = 2.0
_MOST_BYTES: Final = 4096
_HERE: Final = "127.0.0.1"
_NUMBERS: Final = ("files", "bytes", "rows", "readers")


def cache_spec(job: Json) -> CacheSpec | None:
    """What was asked for; None: it is no cache that this version knows."""
    for each in job["spec"].get("objects") or ():
        written = (each["metadata"].get("annotations") or {}).get(DATA_CACHE)
        if isinstance(written, str):
            try:
                spec = CacheSpec(**json.loads(written))
            except (TypeError, ValueError):
                return None
            texts = (spec.name, spec.table, spec.image)
            is_known = type(spec.workers) is int and all(isinstance(text, str) for text in texts)
            return spec if is_known else None
    return None


def is_asked(job: Json, spec: CacheSpec) -> bool:
    """Whether its head is a process of this machine that may answer."""
    return spec.is_here and job["status"]["phase"] == "Running"


def is_told(job: Json, spec: CacheSpec) -> bool:
    """Whether its head is elsewhere, and the log says how it stands."""
    return not spec.is_here and job["status"]["phase"] == "Running"


def figures_of(spec: CacheSpec) -> Json | None:
    """What the head on this machine says of itself; None: it does not answer."""
    connection = http.client.HTTPConnection(_HERE, spec.health_port, timeout=_PROBE_S)
    try:
        connection.request("GET", "/status")
        told = json.loads(connection.getresponse().read(_MOST_BYTES))
    except (OSError, ValueError, http.client.HTTPException):
        return None
    finally:
        connection.close()
    return told if isinstance(told, dict) else None


def cache_view(job: Json, spec: CacheSpec, told: Mapping[str, Any] | None) -> Json:
    """A cache, with what its head says. Pure."""
    status = job["status"]
    state, message = str(status["phase"]), str(status["message"] or "")
    if is_asked(job, spec) or (is_told(job, spec) and told is not None):
        state, message = _stands(told)
    numbers = {name: (told or {}).get(name) for name in _NUMBERS}
    return {
        "name": spec.name,
        "table": spec.table,
        "workers": spec.workers,
        "state": state,
        "message": message,
        "backend": job["spec"]["backend"],
        "address": _address(spec, str((told or {}).get("host", ""))),
        "hasToken": spec.has_token,
        "job": job["metadata"]["id"],
        "created": job["metadata"]["creationTimestamp"],
        **{name: value if type(value) is int else None for name, value in numbers.items()},
    }


def _stands(told: Mapping[str, Any] | None) -> tuple[str, str]:
    if told is None:
        return "Starting", "its head does not answer yet"
    return ("Ready", "") if told.get("ready") is True else ("Loading", str(told.get("reason", "")))


def _address(spec: CacheSpec, host: str) -> str:
    """Where jobs find it; empty: its head has not said so yet."""
    if spec.in_pods:
        return f"cache://{spec.head}"
    place = _HERE if spec.is_here else host
    return f"cache://{place}:{spec.port}" if place else ""
