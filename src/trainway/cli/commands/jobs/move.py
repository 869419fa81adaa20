"""`trainway jobs move`: a job goes on in another place, as the same job."""

import click

from trainway.cli.connection import connect
from trainway.cli.job_options import jobs_argument
from trainway.cli.output import echo
from trainway.cli.wishes import infra_option
from trainway.sdk.moving import move as ask


@click.command("move")
@jobs_argument
@infra_option("The place where they go on, such as ssh/lab or local.", required=True)
def move(refs: tuple[str, ...], backend: str) -> None:
    """Have jobs go on in another place, with their files and their output.

    A running job is suspended first: its processes get SIGTERM and their grace period, and should
    write a checkpoint to TRAINWAY_OUTPUT_DIR. It keeps its name, id, history, logs and metrics.
    If the other place does not take it, it goes on where it was. The command returns when the move
    is stored; trainway jobs show tells how far it is.
    """
    rest = connect()
    for job in [rest.get(ref) for ref in refs]:
        moved = ask(rest, job["metadata"]["id"], backend)
        name, before = moved["metadata"]["name"], job["spec"]["backend"]
        echo(f"{name} moves from {before} to {backend}\n")
