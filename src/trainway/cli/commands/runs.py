"""`trainway runs`: the jobs of a sweep or an array as one thing."""

import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

import click

from trainway.cli.colours import is_colourful
from trainway.cli.columns import Columns
from trainway.cli.completions import complete_runs
from trainway.cli.connection import connect
from trainway.cli.job_options import output_option
from trainway.cli.job_text import painter, utc_now
from trainway.cli.log_text import LogText, batches
from trainway.cli.output import echo, echo_line, to_json, to_json_list, to_yaml
from trainway.cli.pipeline_text import run_table
from trainway.cli.run_text import HEADER, best_line, cost_line, row, summary, waiting_line
from trainway.errors import NotFoundError, UsageError
from trainway.json_types import Json
from trainway.sdk.phases import remains
from trainway.sdk.rest import LogQuery, is_terminal
from trainway.sdk.run_rest import RunRest
from trainway.sdk.transport import StreamControl

_LIMIT: Final = 100
_BATCH: Final = 500
Command = Callable[..., Any]


def _run_argument(command: Command) -> Command:
    return click.argument("ref", metavar="NAME", shell_complete=complete_runs)(command)


@click.group("runs")
def command() -> None:
    """List runs, look at them, and change all their jobs at once.

    A run is the jobs of one `trainway run --grid`, `--sweep` or `--num-jobs`, the trials of one
    `trainway tune`, or the tasks of a pipeline. Name it by its name or its id. A name means the
    newest run with that name.
    """


@command.command("list")
@click.option("--name", help="Only runs with this name.")
@click.option(
    "--limit",
    type=click.IntRange(min=1, max=10_000),
    default=_LIMIT,
    show_default=True,
    help="Show this many of the newest runs.",
)
@output_option(("table", "json", "yaml", "name"))
def list_runs(name: str | None, limit: int, output: str) -> None:
    """List runs, newest first."""
    found, cursor = _connected().runs(limit=limit, name=name)
    if cursor:
        echo_line(f"the newest {limit} are shown; --limit N shows more")
    if output == "json":
        echo(to_json_list(found))
    elif output == "yaml":
        echo(to_yaml(found))
    elif output == "name":
        echo("".join(f"{run['metadata']['id']}\n" for run in found))
    elif found:
        now = utc_now()
        paint = painter(colourful=is_colourful(sys.stdout))
        echo(Columns(HEADER, paint).table([row(run, now) for run in found]))
    else:
        echo_line("there are no runs")


@command.command("show")
@_run_argument
@output_option(("table", "json", "yaml"))
def show(ref: str, output: str) -> None:
    """Show the jobs of a run: parameters, phases, and the metrics they reported last."""
    run = _connected().run(ref)
    if output == "json":
        echo(to_json(run))
    elif output == "yaml":
        echo(to_yaml([run]))
    else:
        header, rows = run_table(run, run["jobs"], utc_now())
        paint = painter(colourful=is_colourful(sys.stdout))
        lines = [summary(run), *([best_line(run)] if run.get("search") else [])]
        lines += filter(None, [cost_line(run, utc_now()), waiting_line(run)])
        echo("\n".join([*lines, "", Columns(header, paint).table(rows)]))


@command.command("cancel")
@_run_argument
def cancel(ref: str) -> None:
    """End all jobs of a run, and wait until none of their processes is left."""
    rest = _connected()
    run = rest.cancel_run(ref)
    for job in run["jobs"]:
        if not is_terminal(job):
            _wait(rest, job)
    with suppress(NotFoundError):  # somebody has deleted it meanwhile
        run = rest.run(run["metadata"]["id"])
    echo(f"{summary(run)}\n")


@command.command("delete")
@_run_argument
@click.option(
    "--force",
    is_flag=True,
    help="Also delete jobs whose cluster does not answer, and say what may be left there.",
)
def delete(ref: str, *, force: bool) -> None:
    """Delete all jobs of a run and their files; running jobs are cancelled first."""
    for job in _connected().delete_run(ref, force=force):
        echo(f"{job['metadata']['name']} deleted\n")
        left = remains(job)
        if left:
            echo_line(f"warning: {job['metadata']['name']}: {left}")


@command.command("logs")
@_run_argument
@click.option("--tail", type=click.IntRange(min=0), help="Only this many lines of each job.")
@click.option("--failed", is_flag=True, help="Only the jobs that failed.")
@click.option(
    "-f",
    "--follow",
    is_flag=True,
    help="Print the lines of all jobs as they come, until all jobs have ended.",
)
def logs(ref: str, tail: int | None, failed: bool, follow: bool) -> None:
    """Print the logs of all jobs of a run, one job after the other.

    With -f each line begins with the name of its job.
    """
    rest = _connected()
    jobs = rest.run(ref)["jobs"]
    if failed:
        jobs = [job for job in jobs if job["status"]["phase"] == "Failed"]
    if follow:
        from trainway.cli.run_logs import followed  # noqa: PLC0415 - only for -f

        for lines in followed(rest, jobs, tail=tail, colourful=is_colourful(sys.stdout)):
            echo(lines)
        return
    for job in jobs:
        text = LogText(colourful=is_colourful(sys.stdout))
        echo(f"==> {job['metadata']['name']} <==\n")
        try:
            for batch in batches(rest.logs(job["metadata"]["id"], LogQuery(tail=tail)), _BATCH):
                echo(text.lines(batch))
        except NotFoundError as error:
            echo_line(str(error))
        echo(text.rest())


@command.command("rerun")
@_run_argument
@click.option("--failed", is_flag=True, help="Only the jobs that failed.")
@click.option("--cancelled", is_flag=True, help="Only the jobs that were cancelled.")
@click.option(
    "--from",
    "task",
    metavar="TASK",
    default="",
    help="Of a pipeline: this task and all tasks after it.",
)
def rerun(ref: str, *, failed: bool, cancelled: bool, task: str) -> None:
    """Submit the jobs of a run again as a new run of that name, and print their names and ids.

    With --failed or --cancelled, submit only the jobs that ended so. The new jobs take their places
    in the same run, and the others stay. The old jobs, with their logs, can still be shown by id.
    The same holds for the tasks of a pipeline with --from TASK: what succeeded before is kept.
    """
    if task and (failed or cancelled):
        raise UsageError("--from cannot be combined with --failed or --cancelled")
    rest = _connected()
    _, jobs, warnings = rest.rerun_run(ref, failed=failed, cancelled=cancelled, task=task)
    for warning in warnings:
        echo_line(f"warning: {warning}")
    for job in jobs:
        echo(f"{job['metadata']['name']} {job['metadata']['id']}\n")


def _connected() -> RunRest:
    return RunRest(connect().transport)


def _wait(rest: RunRest, job: Json) -> None:
    with suppress(NotFoundError):
        for _ in rest.watch(job["metadata"]["id"], StreamControl(None)):
            pass
