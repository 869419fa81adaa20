"""`trainway logs`: what a job of a cluster wrote."""

import sys
from typing import Final

import click

from trainway.cli.cluster_connection import connect
from trainway.cli.cluster_jobs import find
from trainway.cli.cluster_options import cluster_argument
from trainway.cli.cluster_text import STATUSES, SUCCEEDED, exit_code
from trainway.cli.colours import is_colourful
from trainway.cli.log_text import LogText, batches
from trainway.cli.output import echo
from trainway.sdk.rest import LogQuery

_BATCH: Final = 500


@click.command("logs")
@cluster_argument
@click.argument("number", metavar="[JOB]", type=click.IntRange(min=1), required=False)
@click.option("--follow/--no-follow", default=True, help="Go on until the job ends; the default.")
@click.option("--tail", type=click.IntRange(min=0), help="Only so many lines; 0: all.")
@click.option("--status", is_flag=True, help="Only how the job is: exit status 0 if it succeeded.")
def command(cluster: str, number: int | None, follow: bool, tail: int | None, status: bool) -> int:
    """Print the logs of a job of a cluster, of the newest where none is named.

    Exit status: 0 the job succeeded, 100 it failed, 101 it has not ended, 102 there is no such job,
    103 it was cancelled. With --status: 0 it succeeded, 1 it did not.
    """
    rest = connect()
    item = find(rest.queue(cluster), cluster, number)
    job = item["job"]
    if status:
        echo(f"Job {item['number']}: {STATUSES[job['status']['phase']]}\n")
        return 0 if exit_code(job) == SUCCEEDED else 1
    query = LogQuery(tail=tail or None, all_attempts=True, follow=follow)
    text = LogText(colourful=is_colourful(sys.stdout))
    id_ = job["metadata"]["id"]
    for batch in batches(rest.logs(id_, query), 1 if follow else _BATCH):
        echo(text.lines(batch))
    echo(text.rest())
    return exit_code(rest.get(id_))
