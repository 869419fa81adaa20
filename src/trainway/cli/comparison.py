"""Jobs side by side: what differs between their parameters, and what came of each. Pure."""

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Final

from trainway.cli.chart import number
from trainway.cli.job_text import hours_used
from trainway.cli.times import parse_time, short
from trainway.json_types import Json

_PROGRESS: Final = "progress"
"""The series of the percentage that is done, which is no result to compare."""

_RISKY: Final = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet takes for the start of a formula."""


def compared(job: Json, summaries: Mapping[str, Json], now: datetime) -> Json:
    """One job: `summaries` has the last, smallest and largest value of each of its metrics."""
    status = job["status"]
    seconds = _seconds(status, now)
    return {
        "name": job["metadata"]["name"],
        "id": job["metadata"]["id"],
        "phase": status["phase"],
        "parameters": dict(job["spec"].get("parameters") or {}),
        "metrics": {
            name: {"last": found["last"], "min": found["minimum"], "max": found["maximum"]}
            for name, found in summaries.items()
        },
        "seconds": None if seconds is None else round(seconds, 3),
        "gpu_hours": round(hours_used(status, now)["GPU"], 6),
        "end": _end(status),
    }


def ordered(jobs: Sequence[Json], key: str | None, *, descending: bool) -> list[Json]:
    """The jobs by a metric's last value, a parameter or a field; who has none comes last."""
    if key is None:
        return list(jobs)
    known = [(value, job) for job in jobs if (value := _sortable(job, key)) is not None]
    known.sort(key=lambda pair: pair[0], reverse=descending)
    return [job for _, job in known] + [job for job in jobs if _sortable(job, key) is None]


def sortable(jobs: Sequence[Json], key: str) -> bool:
    """Whether any of the jobs has a number to be sorted by."""
    return any(_sortable(job, key) is not None for job in jobs)


def cells(jobs: Sequence[Json]) -> tuple[list[str], list[list[str]]]:
    """The header and the rows: parameters that differ, then each metric, then what it took."""
    parameters = [
        name
        for name in dict.fromkeys(name for job in jobs for name in job["parameters"])
        if len({job["parameters"].get(name) for job in jobs}) > 1
    ]
    reported = dict.fromkeys(name for job in jobs for name in job["metrics"])
    metrics = [name for name in reported if name != _PROGRESS] or list(reported)
    each = [(name, part) for name in metrics for part in ("last", "min", "max")]
    header = [
        "NAME", "PHASE", *(f"{name}=" for name in parameters),
        *(f"{name}.{part}" for name, part in each), "DURATION", "GPU-HOURS", "END",
    ]  # fmt: skip
    rows = [
        [
            job["name"],
            job["phase"],
            *(job["parameters"].get(name, "") for name in parameters),
            *(_number((job["metrics"].get(name) or {}).get(part)) for name, part in each),
            "" if job["seconds"] is None else short(job["seconds"]),
            _number(job["gpu_hours"]),
            job["end"],
        ]
        for job in jobs
    ]
    return header, rows


def as_csv(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Comma-separated values in which no cell is a formula."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([[_harmless(cell) for cell in row] for row in rows])
    return text.getvalue()


def as_markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(map(_escaped, line))} |\n" for line in lines)


FORMS: Final[Mapping[str, Callable[[Sequence[str], Sequence[Sequence[str]]], str]]] = {
    "csv": as_csv,
    "markdown": as_markdown,
}


def _seconds(status: Json, now: datetime) -> float | None:
    if not status.get("startTime"):
        return None
    end = parse_time(status["completionTime"]) if status.get("completionTime") else now
    return max((end - parse_time(status["startTime"])).total_seconds(), 0.0)


def _end(status: Json) -> str:
    """Why it ended as it did; nothing of one that succeeded or has not ended."""
    if status["phase"] not in ("Failed", "Cancelled"):
        return ""
    failure = (status.get("failure") or {}).get("summary")
    return " ".join(str(failure or status.get("message") or status.get("reason") or "").split())


def _sortable(job: Json, key: str) -> float | None:
    found = (job["metrics"].get(key) or {}).get("last", job["parameters"].get(key, job.get(key)))
    try:
        value = float(found)
    except (TypeError, ValueError):
        return None
    return value if value == value else None  # noqa: PLR0124 - NaN has no place in an order


def _number(value: float | None) -> str:
    return "" if value is None else number(value)


def _harmless(cell: str) -> str:
    if not cell.startswith(_RISKY):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell


def _escaped(cell: str) -> str:
    return cell.replace("\\", "\\\\").replace("|", "\\|")
