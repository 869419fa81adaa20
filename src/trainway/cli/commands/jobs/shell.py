"""`trainway jobs shell`: a shell in a pod of a job."""

import sys
from typing import Final

import click

from trainway.cli import attach
from trainway.cli.connection import connect
from trainway.cli.job_options import job_argument
from trainway.cli.pod_options import container_of, container_option, pod_options

_SHELL: Final = ("sh", "-c", "command -v bash >/dev/null && exec bash || exec sh")


@click.command("shell")
@job_argument
@pod_options
@container_option
def shell(ref: str, role: str | None, rank: int | None, container: str | None) -> None:
    """Open a shell in a pod of a running job.

    Without --role and --rank it is the launcher, or the first node. The shell is bash if the image
    has it, otherwise sh.
    """
    place = connect().pod(ref, role, rank, "shell")
    terminal = ["--tty"] if sys.stdin.isatty() else []
    attach.execute(place, ["--stdin", *terminal], container_of(place, container), _SHELL)
