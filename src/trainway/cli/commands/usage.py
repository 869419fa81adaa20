"""`trainway usage`: the GPU-hours and CPU-hours of jobs, added up."""

import csv
import io
from typing import Final

import click

from trainway.cli.columns import Columns
from trainway.cli.connection import connect
from trainway.cli.job_options import output_option
from trainway.cli.job_text import hours, utc_now
from trainway.cli.output import echo, to_json
from trainway.cli.times import parse_since
from trainway.errors import UsageError
from trainway.json_types import Json

_LABEL: Final = "label"
_GROUPS: Final = ("user", _LABEL, "backend", "day")
_COLUMNS: Final = ("jobs", "gpuHours", "cpuHours")


@click.command("usage")
@click.argument("key", metavar="[KEY]", required=False)
@click.option(
    "--by", type=click.Choice(_GROUPS), help="Add up by user, by backend, by day or by a label."
)
@click.option("--since", metavar="TIME", help="Only hours of the last 7d, or since 2026-11-15.")
@output_option(("table", "json", "csv"))
def command(key: str | None, by: str | None, since: str | None, output: str) -> None:
    """Add up the GPU-hours and CPU-hours of all jobs.

    Hours are what jobs requested, times the time in which they ran. With --by label, KEY is the
    key of the label: trainway usage --by label team.
    """
    if by == _LABEL and key is None:
        raise UsageError("--by label needs the key of a label", hint="write --by label team")
    if by != _LABEL and key is not None:
        raise UsageError(f"there is no argument {key!r} here", hint=f"write --by label {key}")
    start = parse_since(since, utc_now()) if since else None
    found = connect().usage(by, key, start)
    if output == "json":
        echo(to_json(found))
    elif output == "csv":
        echo(_csv(found, key or by or "all"))
    else:
        echo(_table(found, key or by or ""))


def _table(found: Json, group: str) -> str:
    rows = [[item["name"] or "(none)", *_cells(item)] for item in found["items"]]
    rows.append(["total", *_cells(found["total"])])
    header = (group.upper(), "JOBS", "GPU-HOURS", "CPU-HOURS")
    return Columns(header).table(rows)


def _cells(item: Json) -> list[str]:
    return [str(item["jobs"]), hours(item["gpuHours"]), hours(item["cpuHours"])]


def _csv(found: Json, group: str) -> str:
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow((group, *_COLUMNS))
    items = found["items"] or [{"name": "total", **found["total"]}]
    table.writerows([item["name"], *(item[name] for name in _COLUMNS)] for item in items)
    return text.getvalue()
