"""`--queue`, of the commands that submit jobs."""

from typing import Final

import click

from trainway.cli.completions import complete_queues

queue_option: Final = click.option(
    "--queue",
    metavar="QUEUE",
    shell_complete=complete_queues,
    help="The queue to wait in; trainway queues list shows them. The default is called default.",
)
