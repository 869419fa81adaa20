"""Clusters and their queues as people read them: SkyPilot's columns and words."""

from datetime import datetime
from typing import Final

from trainway.cli.times import parse_time, short
from trainway.json_types import Json
from trainway.sdk.phases import TERMINAL

CLUSTERS: Final = ("NAME", "INFRA", "RESOURCES", "STATUS", "AUTOSTOP", "LAUNCHED")
QUEUE: Final = ("ID", "NAME", "SUBMITTED", "STARTED", "DURATION", "RESOURCES", "STATUS", "LOG")

STATUSES: Final = {
    "Pending": "INIT",
    "Queued": "PENDING",
    "Inadmissible": "PENDING",
    "Paused": "PENDING",
    "Starting": "SETTING_UP",
    "Restarting": "SETTING_UP",
    "Running": "RUNNING",
    "Stopping": "RUNNING",
    "Succeeded": "SUCCEEDED",
    "Failed": "FAILED",
    "Cancelled": "CANCELLED",
}
"""The status of a job on a cluster, by its phase."""
_NOTHING: Final = "-"


def cluster_row(cluster: Json, now: datetime) -> list[str]:
    """The cells of a cluster."""
    metadata, spec, status = cluster["metadata"], cluster["spec"], cluster["status"]
    return [
        metadata["name"],
        spec["infra"],
        resources(cluster),
        _phase(status),
        autostop(spec.get("autostop")),
        _ago(metadata["creationTimestamp"], now),
    ]


def _phase(status: Json) -> str:
    """`UP`; `UP (interrupted)` while a cloud takes machines of it back."""
    is_taken = status["phase"] == "UP" and (status.get("rental") or {}).get("interruption")
    return f"{status['phase']} (interrupted)" if is_taken else str(status["phase"])


def resources(cluster: Json) -> str:
    """`2x(cpus=4, mem=16Gi, A100:8)`; of rented ones also the type."""
    spec, rental = cluster["spec"], cluster["status"].get("rental")
    each = spec["resources"]
    parts = [f"cpus={each['cpus']}"]
    if rental:
        parts.insert(0, f"{rental['instanceType']}{'[spot]' if rental['spot'] else ''}")
    if each["memory"] not in ("", "0"):
        parts.append(f"mem={each['memory']}")
    if each.get("accelerators"):
        parts.append(str(each["accelerators"]))
    return f"{spec['nodes']}x({', '.join(parts)})"


def autostop(told: Json | None) -> str:
    """`10m`, `10m (down)` or `-`."""
    if not told:
        return _NOTHING
    return f"{told['idleMinutes']:g}m{' (down)' if told['down'] else ''}"


def queue_row(item: Json, now: datetime) -> list[str]:
    """The cells of a job in a queue."""
    metadata, status = item["job"]["metadata"], item["job"]["status"]
    started, ended = status.get("startTime"), status.get("completionTime")
    end = parse_time(ended) if ended else now
    return [
        str(item["number"]),
        metadata["name"],
        _ago(metadata["creationTimestamp"], now),
        _ago(started, now) if started else _NOTHING,
        short((end - parse_time(started)).total_seconds()) if started else _NOTHING,
        item["resources"],
        STATUSES[status["phase"]],
        item["logs"] or _NOTHING,
    ]


def is_finished(item: Json) -> bool:
    """Whether a job of a queue is over."""
    return item["job"]["status"]["phase"] in TERMINAL


def _ago(text: str, now: datetime) -> str:
    return f"{short((now - parse_time(text)).total_seconds())} ago"
