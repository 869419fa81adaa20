"""Runs as people read them: rows of a table, and a table of the jobs of one."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from trainway.cli.chart import number
from trainway.cli.cost_text import cost_text
from trainway.cli.job_text import duration
from trainway.cli.times import parse_time, short
from trainway.counting import counted
from trainway.json_types import Json

HEADER: Final = ("NAME", "ID", "PHASE", "JOBS", "SUCCEEDED", "FAILED", "RUNNING", "WAITING", "AGE")
_GROUPS: Final = {
    "Succeeded": "succeeded", "Failed": "failed", "Cancelled": "cancelled",
    "Pending": "waiting", "Queued": "waiting", "Inadmissible": "waiting", "Paused": "paused",
}  # fmt: skip
"""What is counted under one word; all other phases are running."""


def grouped(phases: Mapping[str, int]) -> Counter[str]:
    """How many jobs wait, run, and have ended how."""
    found: Counter[str] = Counter()
    for phase, count in phases.items():
        found[_GROUPS.get(phase, "running")] += count
    return found


def row(run: Json, now: datetime) -> list[str]:
    """The cells of a run."""
    metadata, counts = run["metadata"], grouped(run["status"]["phases"])
    age = (now - parse_time(metadata["creationTimestamp"])).total_seconds()
    counted_in = ("succeeded", "failed", "running", "waiting")
    return [
        metadata["name"],
        metadata["id"],
        run["status"]["phase"],
        str(counts.total()),
        *(str(counts[name]) for name in counted_in),
        short(age),
    ]


def summary(run: Json) -> str:
    """A run in one line: `train: 10 jobs, at most 2 at a time: 3 succeeded, 2 running`."""
    counts = grouped(Counter(job["status"]["phase"] for job in run["jobs"]))
    parallel = run["spec"].get("parallel")
    limit = f", at most {parallel} at a time" if parallel else ""
    told = ", ".join(f"{count} {name}" for name, count in counts.items())
    search = run.get("search")
    size = f"{len(run['jobs'])} of {counted(search['trials'], 'trial')}" if search else ""
    size = size or counted(len(run["jobs"]), "job")
    return f"{run['metadata']['name']}: {size}{limit}: {told}"


def cost_line(run: Json, now: datetime) -> str:
    """What all of it has cost, and may; empty: no price is known, and there is no limit."""
    told = cost_text(run.get("status", {}), now)
    return f"cost: {told}" if told else ""


def waiting_line(run: Json) -> str:
    """Why a search does not go on at the moment; empty: it does, or it is none."""
    why = run.get("status", {}).get("waiting")
    return f"the search waits: {why}" if why else ""


def job_table(jobs: Sequence[Json], now: datetime) -> tuple[list[str], list[list[str]]]:
    """The header and the rows: a column for each parameter and each metric that any job has."""
    parameters = _names(job["spec"].get("parameters") or {} for job in jobs)
    metrics = _names(reported(job) for job in jobs)
    header = ["NAME", "ID", "PHASE", *(f"{name}=" for name in parameters), *metrics, "DURATION"]
    rows = [
        [
            job["metadata"]["name"],
            job["metadata"]["id"],
            job["status"]["phase"],
            *((job["spec"].get("parameters") or {}).get(name, "") for name in parameters),
            *(reported(job).get(name, "") for name in metrics),
            duration(job["status"], now),
        ]
        for job in jobs
    ]
    return header, rows


def best_line(run: Json) -> str:
    """The best trial of a search: `best: demo-3 with loss 0.31: lr=0.01 bs=16`."""
    search = run["search"]
    found = search["best"]
    if not found:
        return f"best: no trial has succeeded and reported {search['metric']} yet"
    values = " ".join(f"{name}={value}" for name, value in found["parameters"].items())
    return f"best: {found['name']} with {search['metric']} {found['value']:g}: {values}"


def reported(job: Json) -> dict[str, str]:
    """The metrics that the training code reported last."""
    progress = job["status"].get("progress") or {}
    return {str(item["name"]): _shown(item["value"]) for item in progress.get("metrics") or ()}


def _shown(value: object) -> str:
    """A number in as many digits as one can compare; any other text as it is."""
    text = str(value)
    try:
        return number(float(text))
    except ValueError:
        return text


def _names(found: Iterable[Mapping[str, str]]) -> list[str]:
    return list(dict.fromkeys(name for each in found for name in each))
