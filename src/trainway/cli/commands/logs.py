"""`trainway logs`: what a job wrote, be it one of a cluster or not."""

import sys
from typing import Final

import click

from trainway.cli.cluster_connection import connect
from trainway.cli.cluster_jobs import find
from trainway.cli.cluster_text import STATUSES, SUCCEEDED, exit_code
from trainway.cli.colours import is_colourful
from trainway.cli.completions import complete_clusters_and_refs
from trainway.cli.log_text import LogText, batches
from trainway.cli.name_lookup import find_job
from trainway.cli.output import echo
from trainway.cli.waiting import tell_why_it_waits
from trainway.sdk.rest import LogQuery

_BATCH: Final = 500


@click.command("logs")
@click.argument("name", metavar="CLUSTER|NAME", shell_complete=complete_clusters_and_refs)
@click.argument("number", metavar="[JOB]", type=click.IntRange(min=1), required=False)
@click.option(
    "-f", "--follow/--no-follow", default=True, help="Go on until the job ends; the default."
)
@click.option("--role", help="Only this role: node, launcher, worker, ...")
@click.option("--rank", type=click.IntRange(min=0), help="Only this pod of a role.")
@click.option("--tail", type=click.IntRange(min=0), help="Only so many lines; 0: all.")
@click.option("--status", is_flag=True, help="Only how the job is: exit status 0 if it succeeded.")
def command(
    name: str,
    number: int | None,
    follow: bool,
    role: str | None,
    rank: int | None,
    tail: int | None,
    status: bool,
) -> int:
    """Print the logs of a job.

    The job goes by its name or id, or by its cluster and its number there; without a number it is
    the newest of the cluster.

    Exit status: 0 the job succeeded, 100 it failed, 101 it has not ended, 102 there is no such job,
    103 it was cancelled. With --status: 0 it succeeded, 1 it did not.
    """
    rest = connect()
    job = find_job(rest, name, "logs") if number is None else None
    title = name
    if job is None:
        item = find(rest.queue(name), name, number)
        job, title = item["job"], str(item["number"])
    if status:
        echo(f"Job {title}: {STATUSES[job['status']['phase']]}\n")
        return 0 if exit_code(job) == SUCCEEDED else 1
    id_ = job["metadata"]["id"]
    query = LogQuery(role, rank, tail or None, all_attempts=True, follow=follow)
    if follow:
        tell_why_it_waits(rest, id_)
    text = LogText(colourful=is_colourful(sys.stdout))
    for batch in batches(rest.logs(id_, query), 1 if follow else _BATCH):
        echo(text.lines(batch))
    echo(text.rest())
    return exit_code(rest.get(id_))
