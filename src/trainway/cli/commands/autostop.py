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
    help=f"After so many minutes without a job; {DEFAULT_MINUTES} where none are given.",
)
@click.option("--cancel", is_flag=True, help="Never.")
@click.option("--down", is_flag=True, help="Go down instead of stopping.")
@yes_option
def command(
    clusters: tuple[str, ...],
    every: bool,
    idle_minutes: int | None,
    cancel: bool,
    down: bool,
    yes: bool,
) -> int:
    """Let clusters stop or go down when they have had no job for a while.

    It happens also when no server runs.
    """
    del yes  # SkyPilot asks; nothing is lost here
    if cancel and (down or idle_minutes is not None):
        raise UsageError("--cancel stands alone")
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
