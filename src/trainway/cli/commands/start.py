"""`trainway start`: have stopped clusters again."""

import click

from trainway.cli.cluster_action import act
from trainway.cli.cluster_options import clusters_argument, every_option, idle_option, yes_option


@click.command("start")
@clusters_argument
@every_option("clusters that are stopped")
@idle_option
@click.option(
    "--down", is_flag=True, help="Take the cluster down when it is idle, instead of stopping it."
)
@yes_option
def command(
    clusters: tuple[str, ...], every: bool, idle_minutes: int | None, down: bool, yes: bool
) -> int:
    """Start stopped clusters; a cluster that is up stays as it is."""
    del yes  # SkyPilot asks; nothing is lost here
    body = {"idle_minutes": idle_minutes, "down": down}
    return act(
        clusters,
        every=every,
        question=None,
        work=lambda rest, name: rest.cluster_act(name, "start", body),
        done="started",
    )
