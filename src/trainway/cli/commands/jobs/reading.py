"""`trainway jobs logs` and `trainway jobs events`: what a job wrote, and what happened to it."""

import click

from trainway.cli.columns import Columns
from trainway.cli.completions import complete_refs
from trainway.cli.connection import connect
from trainway.cli.job_options import job_argument, output_option, watch_option
from trainway.cli.job_text import EVENT_HEADER, event_row, event_table, utc_now
from trainway.cli.log_printing import print_logs
from trainway.cli.output import echo, echo_line, to_json, to_json_list, to_yaml
from trainway.cli.times import parse_since
from trainway.errors import TrainwayError, UsageError
from trainway.json_types import Json
from trainway.sdk.managed_jobs import the_job
from trainway.sdk.rest import LogQuery


@click.command("logs")
@click.argument("ref", metavar="[NAME]", required=False, shell_complete=complete_refs)
@click.option("-n", "--name", help="The newest job with this name, also where it is like an id.")
@click.option(
    "-f/",
    "--follow/--no-follow",
    help="Keep printing new lines until the job ends. Without it, only what there is.",
)
@click.option("--role", help="Only this role: node, launcher, worker, ...")
@click.option("--rank", type=click.IntRange(min=0), help="Only the pod with this rank.")
@click.option("--tail", type=click.IntRange(min=0), help="Only this many lines from the end.")
@click.option("--since", help="Only lines since 10m ago, or since 2026-11-15T05:10:00.")
@click.option("--all-attempts", is_flag=True, help="Also print what was written before a restart.")
@click.option("--raw", is_flag=True, help="Print only the lines, without the names of the nodes.")
@click.option(
    "-s", "--sync-down", is_flag=True, help="Write all of it to ~/sky_logs/ID/run.log instead."
)
@click.option("-r", "--refresh", is_flag=True, help="Accepted: what is shown is always up to date.")
@click.option("--controller", is_flag=True, hidden=True)
def logs(  # noqa: PLR0913, PLR0917 - one for each option, passed by name
    ref: str | None,
    name: str | None,
    follow: bool,
    role: str | None,
    rank: int | None,
    tail: int | None,
    since: str | None,
    all_attempts: bool,
    raw: bool,
    sync_down: bool,
    refresh: bool,  # noqa: ARG001 - only SkyPilot's controller has to be woken up
    controller: bool,
) -> None:
    """Print the logs of a job: the lines of all nodes, each with the name of its node.

    Without a name it is the newest job.
    """
    if controller:
        raise UsageError(
            "there is no controller: the server looks after all jobs itself",
            hint="trainway jobs events NAME shows what it did with a job",
        )
    start = parse_since(since, utc_now()) if since else None
    query = LogQuery(role, rank, tail, start, all_attempts, follow)
    rest = connect()
    if sync_down:
        if query != LogQuery(all_attempts=all_attempts) or raw:
            raise UsageError("--sync-down writes the whole log of a job, and follows none")
        _download(ref, name)
        return
    if ref is None or name is not None:
        ref = str(the_job(rest, ref, name)["metadata"]["id"])
    print_logs(rest, ref, query, prefix=not raw)


def _download(ref: str | None, name: str | None) -> None:
    from trainway.sdk.sky.jobs import download_logs  # noqa: PLC0415 - only here, and it is large

    try:
        found = download_logs(name, ref)
    except OSError as error:  # as of a disk that is full
        raise TrainwayError(f"{error.filename or 'the log'}: {error.strerror}") from None
    for folder in found.values():
        echo(f"{folder}/run.log\n")


@click.command("events")
@job_argument
@output_option(("table", "json", "yaml"))
@watch_option("Keep printing new events until the job ends.")
def events(ref: str, output: str, watch: bool) -> None:
    """Print what happened to a job."""
    rest = connect()
    if not watch:
        _print(rest.events(ref), output)
        return
    table = Columns(EVENT_HEADER)
    for number, event in enumerate(rest.event_stream(ref)):
        if output == "table":
            row = event_row(event)
            echo(table.rows([row]) if number else table.table([row]))
        else:
            echo(to_json(event) if output == "json" else f"---\n{to_yaml([event])}")


def _print(found: list[Json], output: str) -> None:
    if output == "json":
        echo(to_json_list(found))
    elif output == "yaml":
        echo(to_yaml(found))
    elif found:
        echo(event_table(found))
    else:
        echo_line("nothing has happened yet")
