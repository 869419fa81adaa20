"""`trainway down`: give clusters back."""

import click

from trainway.cli.cluster_action import act
from trainway.cli.cluster_options import clusters_argument, every_option, yes_option


@click.command("down")
@clusters_argument
@every_option("clusters")
@yes_option
@click.option("-p", "--purge", is_flag=True, help="Forget them even if their hosts do not answer.")
def command(clusters: tuple[str, ...], every: bool, yes: bool, purge: bool) -> int:
    """Take clusters down: end their jobs, release what they hold, and forget them.

    Their jobs and logs stay: see trainway jobs list.
    """
    return act(
        clusters,
        every=every,
        question=None if yes else "Take down",
        work=lambda rest, name: rest.down(name, purge=purge),
        done="is down",
    )
