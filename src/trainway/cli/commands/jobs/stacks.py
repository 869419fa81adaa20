"""`trainway jobs stacks`: where the Python processes of a job are."""

import click

from trainway.cli.connection import connect
from trainway.cli.job_options import job_argument, output_option
from trainway.cli.output import echo, to_json, to_yaml
from trainway.cli.stack_text import stack_text
from trainway.errors import UnavailableError
from trainway.json_types import Json
from trainway.sdk.rest import Rest, is_terminal
from trainway.sdk.stacks import kept_stacks, of_rank, take_stacks


@click.command("stacks")
@job_argument
@click.option("--rank", type=click.IntRange(min=0), help="Only the pod with this rank.")
@click.option(
    "--attempt",
    type=click.IntRange(min=1),
    help="The stacks that were kept of this attempt; the first is 1.",
)
@output_option(("table", "json", "yaml"))
def stacks(ref: str, rank: int | None, attempt: int | None, output: str) -> None:
    """Show where every Python process of a job is: its stacks.

    py-spy reads them while the processes go on; install it with pip install
    'trainway[debug]' on the machines of the job. What was taken of all nodes is kept:
    it is shown again for a job that has ended, and with --attempt.
    """
    rest = connect()
    found = _found(rest, ref, rank, attempt)
    if output == "json":
        echo(to_json(found))
    elif output == "yaml":
        echo(to_yaml([found]))
    else:
        echo(stack_text(found))
    if not any(process["threads"] for each in found["ranks"] for process in each["processes"]):
        hints = [str(each["hint"]) for each in found["ranks"] if each.get("hint")]
        raise UnavailableError("there are no stacks to show", hint=hints[0] if hints else None)


def _found(rest: Rest, ref: str, rank: int | None, attempt: int | None) -> Json:
    if attempt is not None:
        return of_rank(kept_stacks(rest, ref, attempt - 1), rank)
    if is_terminal(rest.get(ref)):
        return of_rank(kept_stacks(rest, ref), rank)
    return take_stacks(rest, ref, rank)
