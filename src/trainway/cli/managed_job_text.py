"""Managed jobs as people read them: SkyPilot's columns and words."""

from datetime import datetime
from typing import Final

from trainway.cli.times import short
from trainway.json_types import Json

HEADER: Final = (
    "ID", "TASK", "NAME", "REQUESTED", "SUBMITTED", "TOT. DURATION", "JOB DURATION", "#RECOVERIES",
    "STATUS",
)  # fmt: skip
USER: Final = "USER"
POOL: Final = "POOL"
_NOTHING: Final = "-"


def pool_cell(record: Json) -> str:
    """The worker pool of a job, and its worker: `warm (warm-1)`."""
    worker = record["current_cluster_name"]
    return f"{record['pool'] or _NOTHING}{f' ({worker})' if worker else ''}"


def managed_row(record: Json, now: datetime) -> list[str]:
    """The cells of a job, by its record; a job that is not a task of several has no number."""
    until = now.timestamp() if record["end_at"] is None else record["end_at"]
    return [
        record["job_id"],
        _NOTHING,
        record["job_name"],
        record["resources"],
        f"{short(now.timestamp() - record['submitted_at'])} ago",
        short(until - record["submitted_at"]),
        _NOTHING if record["start_at"] is None else short(record["job_duration"]),
        str(record["recovery_count"]),
        record["status"].value,
    ]
