"""`trainway jobs exec`: a command in a pod of a job."""

import click

from trainway.cli import attach
from trainway.cli.connection import connect
from trainway.cli.job_options import job_argument
from trainway.cli.pod_options import container_of, container_option, pod_options


@click.command("exec", context_settings={"ignore_unknown_options": True})
@job_argument
@pod_options
@container_option
@click.option("-i", "--stdin", is_flag=True, help="Send what is typed or piped in to the command.")
@click.option("-t", "--tty", is_flag=True, help="Give the command a terminal.")
@click.argument("words", metavar="-- COMMAND...", nargs=-1, required=True, type=click.UNPROCESSED)
def execute(
    ref: str,
    role: str | None,
    rank: int | None,
    container: str | None,
    stdin: bool,
    tty: bool,
    words: tuple[str, ...],
) -> None:
    """Run a command in a pod of a running job.

    Without --role and --rank it is the launcher, or the first node. On this machine the command
    gets the environment and the folder of the job's process. Exit status: that of the command.
    """
    place = connect().pod(ref, role, rank)
    options = [*(["--stdin"] if stdin else []), *(["--tty"] if tty else [])]
    attach.execute(place, options, container_of(place, container), words)
