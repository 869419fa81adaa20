"""`trainway jobs show`."""

import sys

import click

from trainway.cli.colours import is_colourful
from trainway.cli.connection import connect
from trainway.cli.job_options import jobs_argument, output_option, watch_option
from trainway.cli.job_text import description, ids, painter, utc_now
from trainway.cli.output import echo, to_json, to_json_list, to_yaml
from trainway.errors import UsageError
from trainway.json_types import Json
from trainway.sdk.rest import Rest


@click.command("show")
@jobs_argument
@output_option()
@watch_option("Show it again whenever it changes, until it ends.")
def show(refs: tuple[str, ...], output: str, watch: bool) -> None:
    """Show everything about jobs.

    With -o json or yaml, status.jobSet is the JobSet's status in JobSet's own shape.
    """
    rest = connect()
    if watch:
        if len(refs) > 1:
            raise UsageError("-w works with one job only")
        for job in rest.watch(refs[0]):
            _print(rest, [job], output)
        return
    _print(rest, [rest.get(ref) for ref in refs], output)


def _print(rest: Rest, jobs: list[Json], output: str) -> None:
    if output == "json":
        echo(to_json(jobs[0]) if len(jobs) == 1 else to_json_list(jobs))
    elif output == "yaml":
        echo(to_yaml(jobs))
    elif output == "name":
        echo(ids(jobs))
    else:
        paint = painter(colourful=is_colourful(sys.stdout))
        texts = [
            description(job, rest.events(job["metadata"]["id"]), utc_now(), paint=paint)
            for job in jobs
        ]
        echo("\n".join(texts))
