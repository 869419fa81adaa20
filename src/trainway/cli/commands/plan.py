"""`trainway plan`: where a job could run, and which place `run` would choose."""

from typing import Any, Final

import click

from trainway.cli.commands.run import command as run
from trainway.cli.job_options import given_label_option, output_option
from trainway.cli.output import echo, to_json
from trainway.cli.placing import placement, table
from trainway.cli.priority_option import priority_option
from trainway.cli.run_submission import with_places
from trainway.cli.run_words import RunCommand, words_argument
from trainway.cli.several_jobs import several_group, several_of
from trainway.cli.slurm_option import slurm_option
from trainway.cli.wishes import infra_option, prefer_option, wishes_group, wishes_of

_HELP: Final = """Show where a job could run, and which place would be chosen.

\b
trainway plan FILE.yaml                         every place that the server knows
trainway plan FILE.yaml --on slurm/hpc,local    only these

Nothing is submitted. Every place is asked whether it would take the job and whether all of it fits
now. A place where it fits now comes before one where it would wait. Between those the cheaper place
is chosen (prices in config.yaml), then the one where fewer jobs wait, then the one named first;
with --prefer order, and for a list, the order counts.

Exit status: 0 a place takes the job, 1 none does, 2 wrong usage.
"""


@click.command("plan", cls=RunCommand, help=_HELP)
@words_argument("targets", "[FILE|SCRIPT|COMMAND] [ARGS]...")
@wishes_group
@click.option(
    "--pack", is_flag=True, help="Let several nodes of the job share one SSH host or Slurm node."
)
@given_label_option
@priority_option()
@infra_option("The places to ask: one, a list such as slurm/hpc,local, or any.")
@prefer_option
@slurm_option
@click.option(
    "--oversubscribe", is_flag=True, help="Start the job even if it requests more than there is."
)
@several_group
@output_option(("table", "json"))
@click.pass_context
def command(ctx: click.Context, /, targets: tuple[str, ...], output: str, **options: Any) -> int:
    """Ask all places, and print what they say."""
    unused = run.make_context("run", [], resilient_parsing=True).params  # what only `run` asks
    wanted = {**unused, **options}
    wishes = with_places(targets, wishes_of(options), wanted)
    found = placement(targets, ctx.obj, wishes, wanted, several_of(options))
    if output == "json":
        echo(to_json({"chosen": found.chosen, "offers": found.offers}))
    else:
        echo(table(found))
    return 0 if found.chosen is not None else 1
