"""`trainway queue`: the jobs of clusters."""

from typing import Final

import click

from trainway.cli.cluster_connection import chosen, connect
from trainway.cli.cluster_options import clusters_argument
from trainway.cli.cluster_text import QUEUE, is_finished, queue_row
from trainway.cli.columns import Columns
from trainway.cli.job_options import output_option
from trainway.cli.job_text import utc_now
from trainway.cli.output import echo, echo_line, to_json_list
from trainway.errors import NotFoundError

_VERBS: Final = (("list",), ("show",))
"""What is surely meant for `trainway queues`, unless a cluster is called so."""


@click.command("queue")
@clusters_argument
@click.option("-s", "--skip-finished", is_flag=True, help="Only jobs that have not ended.")
@click.option(
    "-u", "--all-users", is_flag=True, help="Accepted: the clusters of a server are shared."
)
@output_option(("table", "json"))
def command(
    clusters: tuple[str, ...],
    skip_finished: bool,
    all_users: bool,  # noqa: ARG001 - as the help says
    output: str,
) -> None:
    """Show the jobs of clusters, newest first."""
    rest = connect()
    try:
        found = chosen(rest, clusters, every=not clusters)
    except NotFoundError as error:
        if clusters[:1] not in _VERBS:
            raise
        hint = f"queues that jobs wait in are shown by trainway queues {clusters[0]}"
        raise NotFoundError(error.message, hint=hint) from None
    names = [item["metadata"]["name"] for item in found]
    if not names:
        echo_line("there are no clusters; trainway launch makes one")
        return
    queues = {
        name: [item for item in rest.queue(name) if not (skip_finished and is_finished(item))]
        for name in names
    }
    if output == "json":
        echo(to_json_list({"cluster": name, **item} for name in names for item in queues[name]))
        return
    now = utc_now()
    for index, name in enumerate(names):
        if len(names) > 1:
            echo(f"{chr(10) if index else ''}Job queue of cluster {name}\n")
        echo(Columns(QUEUE).table([queue_row(item, now) for item in queues[name]]))
