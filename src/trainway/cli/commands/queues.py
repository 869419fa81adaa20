"""`trainway queues`: what the jobs of each queue may have, and who waits in it."""

from collections.abc import Callable
from typing import Any, Final

import click

from trainway.cli.completions import complete_files, complete_queues
from trainway.cli.connection import connect
from trainway.cli.job_options import output_option
from trainway.cli.job_text import utc_now
from trainway.cli.listing import LISTINGS, echo_listing
from trainway.cli.output import echo, to_json, to_yaml
from trainway.cli.queue_text import HEADER, row, text
from trainway.cli.refusal import RefusedError
from trainway.errors import InvalidError, UsageError
from trainway.sdk.queue_rest import QueueRest

Command = Callable[..., Any]
_APPLY: Final = """Make queues, or change those that exist.

\b
apiVersion: trainway.dev/v1
kind: Queue
metadata: {name: research}
spec:
  quota: {cpu: 64, memory: 256Gi, gpu: 8, jobs: 20}

What a file leaves out is not limited. A queue that is paused stays so.
"""


def _name_argument(command: Command) -> Command:
    return click.argument("name", metavar="NAME", shell_complete=complete_queues)(command)


@click.group("queues")
def command() -> None:
    """Share machines between teams: quotas, priorities, fair shares.

    A job waits in the queue that trainway run --queue names, or in the one called default, which
    has no limits until you give it some. The jobs of clusters are shown by trainway queue.
    """


@command.command("list")
@output_option(LISTINGS)
def list_queues(output: str) -> None:
    """List queues, with what their jobs use of their quotas."""
    echo_listing(_connected().queues(), output, HEADER, row)


@command.command("show")
@_name_argument
@output_option(("table", "json", "yaml"))
def show(name: str, output: str) -> None:
    """Show a queue, and each job that waits in it: its position, and exactly why it waits."""
    queue = _connected().queue(name)
    if output == "json":
        echo(to_json(queue))
    elif output == "yaml":
        echo(to_yaml([queue]))
    else:
        echo(text(queue, utc_now()))


@command.command("apply", help=_APPLY)
@click.argument("files", metavar="[FILE]...", nargs=-1, shell_complete=complete_files)
@click.option(
    "-f",
    "--filename",
    "filenames",
    metavar="FILE",
    multiple=True,
    help="A file of queues (kind: Queue), a folder of such files, or - for stdin. May be given"
    " several times.",
)
def apply(files: tuple[str, ...], filenames: tuple[str, ...]) -> None:
    """Make queues, or change those that exist."""
    from trainway.cli.reading import chosen, read_inputs  # noqa: PLC0415 - only to apply

    inputs = read_inputs(chosen(filenames, files))
    rest = _connected()
    known = {queue["metadata"]["name"] for queue in rest.queues()}
    for given in inputs:
        try:
            name = rest.apply_queue(given.data)["metadata"]["name"]
        except InvalidError as error:
            lines = [f"{given.source}: {line}" for line in error.lines]
            raise RefusedError(lines, error.exit_code) from None
        except UsageError as error:  # as of a file that is no queue at all
            said = ": ".join(part for part in (given.source, error.field, error.message) if part)
            raise RefusedError([said], error.exit_code) from None
        echo(f"{name} {'changed' if name in known else 'created'}\n")
        known.add(name)


@command.command("pause")
@_name_argument
def pause(name: str) -> None:
    """Start no more jobs of a queue; those that run go on, and new ones may come in."""
    _connected().pause_queue(name)
    echo(f"{name} paused\n")


@command.command("resume")
@_name_argument
def resume(name: str) -> None:
    """Let jobs of a queue that is paused or drained come in and start again."""
    _connected().resume_queue(name)
    echo(f"{name} resumed\n")


@command.command("drain")
@_name_argument
def drain(name: str) -> None:
    """Take no more jobs into a queue; those that wait in it still start."""
    _connected().drain_queue(name)
    echo(f"{name} takes in no more jobs\n")


@command.command("delete")
@_name_argument
def delete(name: str) -> None:
    """Delete a queue in which there is no job."""
    _connected().delete_queue(name)
    echo(f"{name} deleted\n")


def _connected() -> QueueRest:
    return QueueRest(connect().transport)
