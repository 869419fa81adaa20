"""`trainway autostop`: when an idle cluster stops itself."""

from typing import Final

import click

from trainway.cli.cluster_action import act
from trainway.cli.cluster_options import clusters_argument, every_option, yes_option
from trainway.errors import UsageError

DEFAULT_MINUTES: Final = 5


@click.command("autostop")
@clusters_argument
@every_option("clusters")
@click.option(
    "-i",
    "--idle-minutes",
    type=click.IntRange(min=0),
    metavar="MINUTES",
    help=f"Idle minutes before it happens; {DEFAULT_MINUTES} by default.",
)
@click.option("--cancel", is_flag=True, help="Never.")
@click.option("--down", is_flag=True, help="Take the cluster down instead of stopping it.")
@yes_option
def command(
    clusters: tuple[str, ...],
    every: bool,
    idle_minutes: int | None,
    cancel: bool,
    down: bool,
    yes: bool,
) -> int:
    """Stop clusters, or take them down, when they have had no job for a while.

    This works even when no server is running.
    """
    del yes  # SkyPilot asks; nothing is lost here
    if cancel and (down or idle_minutes is not None):
        raise UsageError("--cancel cannot be combined with other options")
    minutes = DEFAULT_MINUTES if idle_minutes is None else idle_minutes
    body = {"idle_minutes": None if cancel else minutes, "down": down}
    what = "goes down" if down else "stops"
    return act(
        clusters,
        every=every,
        question=None,
        work=lambda rest, name: rest.cluster_act(name, "autostop", body),
        done="stays" if cancel else f"{what} after {minutes} idle minutes",
    )
