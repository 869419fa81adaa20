"""`trainway jobs metrics`: what a job reported over time."""

import shutil
import sys
from collections.abc import Sequence
from datetime import datetime
from typing import Final

import click

from trainway.cli.chart import Curve, chart, number
from trainway.cli.columns import Columns
from trainway.cli.connection import connect
from trainway.cli.job_options import job_argument, output_option, watch_option
from trainway.cli.output import echo, echo_line, to_json, to_yaml
from trainway.json_types import Json
from trainway.sdk.rest import Rest

ALL_POINTS: Final = 10_000
_WIDTH: Final = 80
_NOTHING: Final = "the job has not reported any metrics yet"
_NOTHING_USED: Final = "it is not known yet what the job uses"
_SYSTEM: Final = "system/"
"""How the names of series begin that say what a job used."""
_STREAM_HEADER: Final = ("TIME", "STEP", "SERIES", "VALUE")


@click.command("metrics")
@job_argument
@click.option("--series", multiple=True, metavar="NAME", help="Only this series; repeatable.")
@click.option(
    "--system", is_flag=True, help="Show what the job used: CPU, memory and GPUs of each node."
)
@click.option("--plot", is_flag=True, help="Draw a chart of each series.")
@output_option(("table", "json", "yaml"))
@watch_option("Print the points that are kept, then new ones until the job ends.")
def metrics(
    ref: str, series: tuple[str, ...], system: bool, plot: bool, output: str, watch: bool
) -> None:
    """Show what a job reported over time, such as its loss, or what it used.

    The table has the last, smallest and largest value of each series. -o json prints
    the points: {"series": {"loss": [{"step": 1, "time": "...", "value": 0.5}, ...]}}.
    """
    rest = connect()
    if watch:
        _watch(rest, ref, series, output, system=system)
        return
    nothing = _NOTHING_USED if system else _NOTHING
    if output == "table" and not plot:
        found = rest.metrics(ref, series, summary=True, system=system)
        _print_table(found["summary"], nothing)
        return
    found = rest.metrics(ref, series, ALL_POINTS, system=system)
    if output == "json":
        echo(to_json({"series": found["series"]}))
    elif output == "yaml":
        echo(to_yaml([{"series": found["series"]}]))
    elif found["series"]:
        echo("\n".join(_drawn(name, points) for name, points in found["series"].items()))
    else:
        echo_line(nothing)


def _print_table(summaries: Json, nothing: str) -> None:
    if not summaries:
        echo_line(nothing)
        return
    rows = [
        [
            name,
            _step(found["step"]),
            *(number(found[key]) for key in ("last", "minimum", "maximum")),
        ]
        for name, found in summaries.items()
    ]
    echo(Columns(("SERIES", "STEP", "LAST", "MIN", "MAX")).table(rows))


def _step(step: int | None) -> str:
    return "-" if step is None else str(step)


def _drawn(name: str, points: Sequence[Json]) -> str:
    drawn, x_name = curve(points)
    return f"{name}\n{chart({name: drawn}, width(), x_name=x_name)}"


def width() -> int:
    """How wide a chart may be."""
    return shutil.get_terminal_size((_WIDTH, 0)).columns if sys.stdout.isatty() else _WIDTH


def curve(points: Sequence[Json]) -> tuple[Curve, str]:
    """The points by step, or by seconds where a point has none."""
    if all(point["step"] is not None for point in points):
        return [(point["step"], point["value"]) for point in points], "step"
    times = [datetime.fromisoformat(point["time"]).timestamp() for point in points]
    seconds = [moment - times[0] for moment in times]
    values = [point["value"] for point in points]
    return list(zip(seconds, values, strict=True)), "seconds"


def _watch(rest: Rest, ref: str, series: Sequence[str], output: str, *, system: bool) -> None:
    columns, is_first = Columns(_STREAM_HEADER), True
    system = system or any(name.startswith(_SYSTEM) for name in series)
    for part in rest.metric_stream(ref, system=system):
        wanted = {name: points for name, points in part["series"].items() if _is_in(name, series)}
        if not wanted:
            continue
        if output == "table":
            rows = _rows(wanted)
            echo(columns.table(rows) if is_first else columns.rows(rows))
        elif output == "json":
            echo(to_json({"series": wanted}))
        else:
            echo(f"---\n{to_yaml([{'series': wanted}])}")
        is_first = False


def _is_in(name: str, series: Sequence[str]) -> bool:
    return not series or name in series


def _rows(series: Json) -> list[list[str]]:
    rows = [
        [point["time"], _step(point["step"]), name, point["value"]]
        for name, points in series.items()
        for point in points
    ]
    return [[*cells, number(value)] for *cells, value in sorted(rows, key=lambda row: row[0])]
