"""`trainway stop`: let go of what clusters hold, and keep them."""

import click

from trainway.cli.cluster_action import act
from trainway.cli.cluster_options import clusters_argument, every_option, yes_option


@click.command("stop")
@clusters_argument
@every_option("clusters")
@yes_option
def command(clusters: tuple[str, ...], every: bool, yes: bool) -> int:
    """Stop clusters: end their jobs and release what they hold.

    Start them again with trainway start. SSH hosts cannot be stopped; trainway down releases them.
    """
    return act(
        clusters,
        every=every,
        question=None if yes else "Stop",
        work=lambda rest, name: rest.cluster_act(name, "stop"),
        done="stopped",
    )
