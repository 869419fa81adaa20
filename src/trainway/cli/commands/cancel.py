"""`trainway cancel`: end jobs of a cluster."""

import click

from trainway.cli.cluster_connection import confirm, connect
from trainway.cli.cluster_jobs import find
from trainway.cli.cluster_options import cluster_argument, every_option, yes_option
from trainway.cli.cluster_text import STATUSES, is_finished
from trainway.cli.output import echo, echo_line
from trainway.errors import UsageError
from trainway.sdk.rest import Json
from trainway.sdk.transport import StreamControl


@click.command("cancel")
@cluster_argument
@click.argument("numbers", metavar="[JOB]...", nargs=-1, type=click.IntRange(min=1))
@every_option("jobs of the cluster")
@yes_option
def command(cluster: str, numbers: tuple[int, ...], every: bool, yes: bool) -> int:
    """End jobs of a cluster, and wait until no process of theirs is left.

    Without a number it is the newest job that runs. Exit status: 102 there is no such job.
    """
    if every and numbers:
        raise UsageError("--all and numbers exclude each other")
    rest = connect()
    queue = rest.queue(cluster)
    wanted = _wanted(queue, cluster, numbers, every=every)
    left = [item for item in wanted if not is_finished(item)]
    for item in wanted:
        if item not in left:
            status = STATUSES[item["job"]["status"]["phase"]]
            echo_line(f"job {item['number']} of {cluster} has ended already: {status}")
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


def _wanted(
    queue: list[Json], cluster: str, numbers: tuple[int, ...], *, every: bool
) -> list[Json]:
    if every:
        return [item for item in queue[::-1] if not is_finished(item)]
    if numbers:
        return [find(queue, cluster, number) for number in numbers]
    running = [item for item in queue if STATUSES[item["job"]["status"]["phase"]] == "RUNNING"]
    return running[:1]
