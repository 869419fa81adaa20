"""`trainway status`: the clusters."""

import click

from trainway.cli.cluster_connection import chosen, connect
from trainway.cli.cluster_options import clusters_argument, every_option
from trainway.cli.cluster_text import CLUSTERS, cluster_row
from trainway.cli.columns import Columns
from trainway.cli.cost_text import money, spent
from trainway.cli.job_options import output_option
from trainway.cli.job_text import utc_now
from trainway.cli.output import echo, echo_line, to_json_list
from trainway.errors import ConflictError, UsageError


@click.command("status")
@clusters_argument
@output_option(("table", "json"))
@click.option("--ip", is_flag=True, help="Print only the address of the first node of the cluster.")
@every_option("clusters, as without names")
@click.option("-r", "--refresh", is_flag=True, help="Ask for the current state first.")
def command(clusters: tuple[str, ...], output: str, ip: bool, every: bool, refresh: bool) -> None:
    """Show clusters.

    Their status is INIT while they wait for their nodes, UP, AUTOSTOPPING or STOPPED.
    """
    rest = connect()
    found = chosen(rest, clusters, every=every or not clusters, refresh=refresh)
    if ip:
        if len(found) != 1:
            raise UsageError(
                "--ip works with one cluster only", hint="trainway status --ip CLUSTER"
            )
        nodes = found[0]["status"]["nodes"]
        if not nodes:
            name, phase = found[0]["metadata"]["name"], found[0]["status"]["phase"]
            raise ConflictError(f"cluster {name} has no nodes: it is {phase}")
        echo(f"{nodes[0]['address'] or nodes[0]['host']}\n")
    elif output == "json":
        echo(to_json_list(found))
    elif found:
        now = utc_now()
        rows = [cluster_row(item, now) for item in found]
        costs = [spent(item["status"], now) for item in found]
        header: tuple[str, ...] = CLUSTERS
        if any(cost is not None for cost in costs):
            header = (*CLUSTERS, "COST")
            told = ["-" if cost is None else money(cost) for cost in costs]
            rows = [[*row, cost] for row, cost in zip(rows, told, strict=True)]
        echo(Columns(header).table(rows))
        for item in found:
            if item["status"]["message"]:
                echo_line(f"{item['metadata']['name']}: {item['status']['message']}")
    else:
        echo_line("there are no clusters; trainway launch makes one")
