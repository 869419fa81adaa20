"""Managed queues as people read them. Pure."""

from datetime import datetime
from typing import Final

from trainway.cli.columns import Columns
from trainway.cli.times import parse_time, short
from trainway.json_types import Json

HEADER: Final = ("NAME", "STATE", "RUNNING", "WAITING", "CPU", "MEMORY", "GPU", "COHORT")
_JOBS: Final = ("POSITION", "NAME", "ID", "PRIORITY", "USER", "BACKEND", "AGE", "WHY")
_NOTHING: Final = "-"


def row(queue: Json) -> list[str]:
    """One line of the table; what has a quota as `used/quota`."""
    spec, status = queue["spec"], queue["status"]
    quota = spec.get("quota") or {}
    running = str(status["running"])
    return [
        queue["metadata"]["name"],
        status["state"],
        f"{running}/{quota['jobs']}" if "jobs" in quota else running,
        str(status["waiting"]),
        *(_used(status["used"], quota, resource) for resource in ("cpu", "memory", "gpu")),
        spec.get("cohort") or _NOTHING,
    ]


def text(queue: Json, now: datetime) -> str:
    """All of it, with those who wait."""
    told = "".join(f"{f'{name}:':14}{value}\n" for name, value in _facts(queue))
    jobs = queue["status"].get("jobs") or []
    if not jobs:
        return told + "\nno job waits in it\n"
    return told + "\n" + Columns(_JOBS).table([_job_row(job, now) for job in jobs])


def _facts(queue: Json) -> list[tuple[str, str]]:
    spec, status = queue["spec"], queue["status"]
    quota, borrowing = spec.get("quota") or {}, spec.get("borrowing") or {}
    hours = f"{status['gpuHoursUsed']:g}"
    limit = spec.get("gpuHoursPerMonth")
    facts = [
        ("Name", queue["metadata"]["name"]),
        ("State", status["state"]),
        ("Running", str(status["running"])),
        ("Waiting", str(status["waiting"])),
    ]
    for resource in sorted({*status["used"], *quota} - {"jobs"}):
        told = _used(status["used"], quota, resource)
        if resource in borrowing:
            told += f", and may borrow {borrowing[resource]}"
        facts.append((_title(resource), told))
    if "jobs" in quota:
        facts.append(("Jobs", _used(status["used"], quota, "jobs")))
    facts.append(("GPU-hours", f"{hours} this month" + ("" if limit is None else f" of {limit}")))
    more = {
        "Cohort": spec.get("cohort"),
        "Reclaims": "yes" if spec.get("reclaims") else "",
        "Weight": spec.get("weight"),
        "Preemption": spec.get("preemption"),
        "Eviction": spec.get("eviction"),
    }
    if spec.get("gracePeriodSeconds") is not None:
        more["Grace"] = f"{spec['gracePeriodSeconds']} s"
    return facts + [(name, str(value)) for name, value in more.items() if value]


def _title(resource: str) -> str:
    kind = resource.partition(":")[2]
    names = {"cpu": "CPU", "memory": "Memory", "gpu": "GPU"}
    return f"GPU {kind}" if kind else names.get(resource, resource)


def _used(used: Json, quota: Json, resource: str) -> str:
    amount = str(used.get(resource, 0))
    return f"{amount}/{quota[resource]}" if resource in quota else amount


def _job_row(job: Json, now: datetime) -> list[str]:
    reason, message = job["reason"], " ".join(job["message"].split())
    return [
        _NOTHING if job["position"] is None else str(job["position"]),
        job["name"],
        job["id"],
        str(job["priority"]),
        job["user"] or _NOTHING,
        job["backend"],
        short((now - parse_time(job["creationTimestamp"])).total_seconds()),
        f"{reason}: {message}" if reason and message else message or reason or job["phase"],
    ]
