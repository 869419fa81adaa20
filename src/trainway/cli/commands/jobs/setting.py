"""`trainway jobs set`."""

import click

from trainway.cli.completions import complete_queues
from trainway.cli.connection import connect
from trainway.cli.job_options import job_argument
from trainway.cli.output import echo
from trainway.cli.priority_option import priority_option
from trainway.errors import UsageError


@click.command("set")
@job_argument
@priority_option(default=None)
@click.option(
    "--queue", metavar="QUEUE", shell_complete=complete_queues, help="The queue to wait in."
)
def set_job(ref: str, priority: int | None, queue: str | None) -> None:
    """Change the priority of a job, or put it into another queue.

    It counts from the next decision of the queue on. A job that runs goes on.
    """
    from trainway.sdk.queue_rest import QueueRest  # noqa: PLC0415 - other commands do without

    if priority is None and queue is None:
        raise UsageError("there is nothing to change", hint="give --priority or --queue")
    job = QueueRest(connect().transport).set_job(ref, priority, queue)
    spec = job["spec"]
    name = job["metadata"]["name"]
    echo(f"{name} has priority {spec['priority']} in queue {spec['queue']}\n")
