"""Worker pools as people read them: SkyPilot's columns and words."""

from datetime import datetime
from typing import Final

from trainway.cli.times import parse_time, short
from trainway.counting import counted
from trainway.json_types import Json

POOLS: Final = ("NAME", "VERSION", "UPTIME", "STATUS", "WORKERS", "WAITING")
WORKERS: Final = (
    "POOL_NAME", "ID", "VERSION", "LAUNCHED", "INFRA", "RESOURCES", "STATUS", "USED_BY",
)  # fmt: skip
_NOTHING: Final = "-"


def pool_row(pool: Json, now: datetime) -> list[str]:
    """The cells of a worker pool."""
    metadata, spec, status = pool["metadata"], pool["spec"], pool["status"]
    return [
        metadata["name"],
        str(spec["version"]),
        _since(metadata["creationTimestamp"], now),
        status["phase"],
        f"{status['readyWorkers']}/{_limits(spec)}",
        str(status["waitingJobs"]),
    ]


def worker_rows(pool: Json, now: datetime) -> list[list[str]]:
    """The cells of each worker of a pool."""
    spec = pool["spec"]
    return [
        [
            pool["metadata"]["name"],
            str(worker["id"]),
            str(worker["version"]),
            f"{_since(worker['launched'], now)} ago",
            _place(spec["infra"], worker),
            _resources(spec),
            worker["phase"],
            worker["usedBy"] or _NOTHING,
        ]
        for worker in pool["status"]["workers"]
    ]


def applied_line(pool: Json) -> str:
    """What is said of a pool that was applied."""
    name, spec = pool["metadata"]["name"], pool["spec"]
    least, most = spec["minWorkers"], spec["maxWorkers"]
    workers = counted(most, "worker") if least == most else f"{least} to {most} workers"
    return f"worker pool {name} has {workers} on {spec['infra']} (version {spec['version']})"


def _limits(spec: Json) -> str:
    least, most = spec["minWorkers"], spec["maxWorkers"]
    return str(most) if least == most else f"{least}-{most}"


def _place(infra: str, worker: Json) -> str:
    hosts = [node["host"] for node in worker["nodes"] if node["host"] != "this"]
    return f"{infra} ({', '.join(hosts)})" if hosts else infra


def _resources(spec: Json) -> str:
    resources = spec["resources"]
    parts = [f"cpus={resources.get('cpus') or 1}"]
    if resources.get("memory"):
        parts.append(f"mem={resources['memory']}")
    named = resources.get("accelerators") or resources.get("gpus")
    if isinstance(named, str):
        parts.append(named)
    return f"{spec['nodes']}x({', '.join(parts)})"


def _since(text: str, now: datetime) -> str:
    return short((now - parse_time(text)).total_seconds())
