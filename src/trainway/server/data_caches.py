"""Data caches as the API shows them: jobs with the label of a cache, and what their heads say."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any, Final

from trainway.data.flight.objects import CacheSpec
from trainway.jobset.labels import DATA_CACHE
from trainway.json_types import Json

_PROBE_S: Final = 2.0
"""How long an answer may take as a whole: who listens there may be anybody."""
_MOST_BYTES: Final = 16_384
_MOST_WORKERS: Final = 100_000
_QUESTION: Final = b"GET /status HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n"
_HERE: Final = "127.0.0.1"
_NUMBERS: Final = ("files", "bytes", "rows", "readers")


def cache_spec(job: Json) -> CacheSpec | None:
    """What was asked for; None: it is no cache that this version knows."""
    for each in job["spec"].get("objects") or ():
        written = ((each.get("metadata") or {}).get("annotations") or {}).get(DATA_CACHE)
        if isinstance(written, str):
            try:
                spec = CacheSpec(**json.loads(written))
            except (TypeError, ValueError, RecursionError):
                return None
            is_counted = type(spec.workers) is int and 0 <= spec.workers <= _MOST_WORKERS
            is_known = is_counted and all(map(_is_text, (spec.name, spec.table, spec.image)))
            return spec if is_known else None
    return None


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value.isprintable()


def is_asked(job: Json, spec: CacheSpec) -> bool:
    """Whether its head is a process of this machine that may answer."""
    return spec.is_here and job["status"]["phase"] == "Running"


def is_told(job: Json, spec: CacheSpec) -> bool:
    """Whether its head is elsewhere, and the log says how it stands."""
    return not spec.is_here and job["status"]["phase"] == "Running"


async def figures_of(spec: CacheSpec) -> Json | None:
    """What the head on this machine says of itself; None: it does not answer."""
    try:
        async with asyncio.timeout(_PROBE_S):
            reader, writer = await asyncio.open_connection(_HERE, spec.health_port)
            try:
                writer.write(_QUESTION)
                return _figures(await _read(reader))
            finally:
                writer.transport.abort()
    except (OSError, TimeoutError):
        return None


async def _read(reader: asyncio.StreamReader) -> bytes:
    """All that is sent, up to a limit."""
    found = b""
    while len(found) < _MOST_BYTES and (piece := await reader.read(_MOST_BYTES)):
        found += piece
    return found


def _figures(answer: bytes) -> Json | None:
    try:
        told = json.loads(answer.partition(b"\r\n\r\n")[2])
    except (ValueError, RecursionError):
        return None
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
