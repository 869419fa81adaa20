"""`trainway logs`: what a job wrote, be it one of a cluster or not."""

import click

from trainway.cli.cluster_connection import connect
from trainway.cli.cluster_jobs import find
from trainway.cli.cluster_text import STATUSES
from trainway.cli.completions import complete_clusters_and_refs
from trainway.cli.log_printing import print_logs
from trainway.cli.name_lookup import find_job
from trainway.cli.output import echo
from trainway.sdk.exit_codes import SUCCEEDED, exit_code
from trainway.sdk.rest import LogQuery


@click.command("logs")
@click.argument("name", metavar="CLUSTER|NAME", shell_complete=complete_clusters_and_refs)
@click.argument("number", metavar="[JOB]", type=click.IntRange(min=1), required=False)
@click.option(
    "-f",
    "--follow/--no-follow",
    default=True,
    help="Keep printing until the job ends; this is the default.",
)
@click.option("--role", help="Only this role: node, launcher, worker, ...")
@click.option("--rank", type=click.IntRange(min=0), help="Only the pod with this rank.")
@click.option(
    "--tail", type=click.IntRange(min=0), help="Only this many lines from the end; 0 prints all."
)
@click.option(
    "--status",
    is_flag=True,
    help="Print only the status; the exit status is 0 if the job succeeded.",
)
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

    Name the job by its name or id, or by its cluster and its number there. Without a number it is
    the newest job of the cluster.

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
    print_logs(rest, id_, query)
    return exit_code(rest.get(id_))
