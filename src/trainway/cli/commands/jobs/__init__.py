"""`trainway jobs`: what has been submitted, and what becomes of it."""

import click

from trainway.cli.commands.jobs.compare import compare
from trainway.cli.commands.jobs.control import cancel, delete, resume, suspend, wait
from trainway.cli.commands.jobs.exec import execute
from trainway.cli.commands.jobs.listing import list_jobs
from trainway.cli.commands.jobs.metrics import metrics
from trainway.cli.commands.jobs.port_forward import port_forward
from trainway.cli.commands.jobs.pruning import prune
from trainway.cli.commands.jobs.reading import events, logs
from trainway.cli.commands.jobs.remarks import link, note
from trainway.cli.commands.jobs.rerun import rerun
from trainway.cli.commands.jobs.shell import shell
from trainway.cli.commands.jobs.showing import show
from trainway.cli.commands.jobs.stacks import stacks


@click.group("jobs")
def command() -> None:
    """List jobs, look at them, and change them.

    Name a job by its name or its id. A name means the newest job with that name.
    """


for _verb in (
    list_jobs,
    show,
    logs,
    events,
    compare,
    metrics,
    stacks,
    note,
    link,
    execute,
    shell,
    port_forward,
    wait,
    suspend,
    resume,
    cancel,
    delete,
    prune,
    rerun,
):
    command.add_command(_verb)
