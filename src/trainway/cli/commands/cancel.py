"""`trainway cancel`: end jobs, be they of a cluster or not."""

import click

from trainway.cli.cluster_connection import confirm, connect
from trainway.cli.cluster_jobs import find
from trainway.cli.cluster_options import every_option, yes_option
from trainway.cli.cluster_text import STATUSES, is_finished
from trainway.cli.completions import complete_clusters_and_refs
from trainway.cli.name_lookup import find_job
from trainway.cli.output import echo, echo_line
from trainway.errors import UsageError
from trainway.json_types import Json
from trainway.sdk.cluster_rest import ClusterRest
from trainway.sdk.rest import is_terminal
from trainway.sdk.transport import StreamControl


@click.command("cancel")
@click.argument("cluster", metavar="CLUSTER|NAME", shell_complete=complete_clusters_and_refs)
@click.argument("numbers", metavar="[JOB]...", nargs=-1, type=click.IntRange(min=1))
@every_option("jobs of the cluster")
@yes_option
def command(cluster: str, numbers: tuple[int, ...], every: bool, yes: bool) -> int:
    """End jobs, and wait until none of their processes is left.

    Name a job by its name or id, or by its cluster and its number there. Without a number it is the
    newest running job of the cluster. Exit status: 102 there is no such job.
    """
    if every and numbers:
        raise UsageError("--all cannot be combined with numbers")
    rest = connect()
    job = None if every or numbers else find_job(rest, cluster, "cancel")
    if job is not None:
        return _cancel(rest, job, yes=yes)
    queue = rest.queue(cluster)
    wanted = _wanted(queue, cluster, numbers, every=every)
    left = [item for item in wanted if not is_finished(item)]
    for item in wanted:
        if item not in left:
            status = STATUSES[item["job"]["status"]["phase"]]
            echo_line(f"job {item['number']} of {cluster} has already ended: {status}")
    if not left:
        echo_line(f"there is nothing to cancel on {cluster}")
        return 0
    shown = ", ".join(str(item["number"]) for item in left)
    if not confirm(f"Cancel job {shown} of {cluster}?", yes=yes):
        return 1
    for item in left:
        rest.act(item["job"]["metadata"]["id"], "cancel")
    for item in left:
        for seen in rest.watch(item["job"]["metadata"]["id"], StreamControl()):
            item["job"] = seen
        status = STATUSES[item["job"]["status"]["phase"]].lower()
        echo(f"job {item['number']} {status}\n")
    return 0


def _cancel(rest: ClusterRest, job: Json, *, yes: bool) -> int:
    """End a job of no cluster."""
    name, id_ = job["metadata"]["name"], job["metadata"]["id"]
    if is_terminal(job):
        echo_line(f"{name} has already ended: {job['status']['phase']}")
        return 0
    if not confirm(f"Cancel {name} ({id_})?", yes=yes):
        return 1
    rest.act(id_, "cancel")
    for seen in rest.watch(id_, StreamControl()):
        job = seen
    echo(f"{name}: {job['status']['phase']}\n")
    return 0


def _wanted(
    queue: list[Json], cluster: str, numbers: tuple[int, ...], *, every: bool
) -> list[Json]:
    if every:
        return [item for item in queue[::-1] if not is_finished(item)]
    if numbers:
        return [find(queue, cluster, number) for number in numbers]
    running = [item for item in queue if STATUSES[item["job"]["status"]["phase"]] == "RUNNING"]
    return running[:1]
