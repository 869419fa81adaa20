"""`trainway jobs compare`: jobs side by side."""

import sys

import click

from trainway.cli.chart import chart
from trainway.cli.colours import is_colourful
from trainway.cli.columns import Columns
from trainway.cli.commands.jobs.metrics import ALL_POINTS, curve, width
from trainway.cli.comparison import FORMS, cells, compared, ordered, sortable
from trainway.cli.completions import complete_refs, complete_runs
from trainway.cli.connection import connect
from trainway.cli.job_options import output_option
from trainway.cli.job_text import painter, utc_now
from trainway.cli.output import echo, echo_line, to_json
from trainway.errors import NotFoundError, UsageError
from trainway.json_types import Json
from trainway.sdk.rest import Rest
from trainway.sdk.run_rest import RunRest


@click.command("compare")
@click.argument("refs", metavar="[NAME]...", nargs=-1, shell_complete=complete_refs)
@click.option("--run", shell_complete=complete_runs, help="All jobs of this run.")
@click.option(
    "--sort", metavar="KEY", help="Sort by this metric or parameter, or by seconds or gpu_hours."
)
@click.option("--descending", is_flag=True, help="Sort the largest first.")
@click.option("--plot", metavar="METRIC", help="Draw this metric of all jobs in one chart.")
@output_option(("table", "json", "csv", "markdown"))
def compare(
    refs: tuple[str, ...],
    run: str | None,
    sort: str | None,
    descending: bool,
    plot: str | None,
    output: str,
) -> None:
    """Compare jobs: parameters that differ, last, smallest and largest metrics, time, GPU-hours.

    -o json prints one object for each job, with all of its parameters.
    """
    if not refs and run is None:
        raise UsageError("there is nothing to compare", hint="name jobs, or a run with --run")
    rest = RunRest(connect().transport)
    jobs = [rest.get(ref) for ref in refs]
    if run is not None:
        known = {job["metadata"]["id"] for job in jobs}
        others = [job["metadata"]["id"] for job in rest.run(run)["jobs"]]
        jobs += [rest.get(id_) for id_ in others if id_ not in known]
    if plot is not None:
        echo(_drawn(rest, jobs, plot))
        return
    now = utc_now()
    found = [compared(job, _summaries(rest, job), now) for job in jobs]
    if sort is not None and not sortable(found, sort):
        echo_line(f"warning: no job has a number for {sort!r}, so the jobs are not sorted")
    found = ordered(found, sort, descending=descending)
    if output == "json":
        echo(to_json([{name: job[name] for name in job if name != "end"} for job in found]))
        return
    header, rows = cells(found)
    if output == "table":
        paint = painter(colourful=is_colourful(sys.stdout))
        echo(Columns(header, paint).table(rows))
    else:
        echo(FORMS[output](header, rows))


def _summaries(rest: Rest, job: Json) -> Json:
    try:
        found: Json = rest.metrics(job["metadata"]["id"], summary=True)["summary"]
    except NotFoundError:  # it was deleted meanwhile
        return {}
    return found


def _drawn(rest: Rest, jobs: list[Json], name: str) -> str:
    """The metric of all jobs, over each other."""
    curves, x_names = {}, set()
    for job in jobs:
        points = rest.metrics(job["metadata"]["id"], (name,), ALL_POINTS)["series"].get(name)
        if points:
            curves[job["metadata"]["name"]], x_name = curve(points)
            x_names.add(x_name)
    if not curves:
        raise UsageError(f"none of these jobs has reported {name}")
    if len(x_names) > 1:
        raise UsageError(
            f"some of these jobs report {name} with a step and some without",
            hint="draw them one by one with trainway jobs metrics --plot",
        )
    return f"{name}\n{chart(curves, width(), x_name=x_names.pop())}"
