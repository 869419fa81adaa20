"""`trainway plan`: where a job could run, and which place `run` would choose."""

from collections.abc import Mapping
from typing import Any, Final

import click

from trainway.cli.commands.run import command as run
from trainway.cli.job_options import given_label_option, output_option
from trainway.cli.output import echo, to_json
from trainway.cli.placing import placement, table, task_placements, task_tables
from trainway.cli.priority_option import priority_option
from trainway.cli.run_submission import task_places, with_places
from trainway.cli.run_words import RunCommand, words_argument
from trainway.cli.several_jobs import several_group, several_of
from trainway.cli.slurm_option import slurm_option
from trainway.cli.wishes import infra_option, prefer_option, wishes_group, wishes_of
from trainway.sdk.placement import Placement

_HELP: Final = """Show where a job could run, and which place would be chosen.

\b
trainway plan FILE.yaml                         every place that the server knows
trainway plan FILE.yaml --on slurm/hpc,local    only these

Of a pipeline there is a table for each task, which names its places itself or has all of them.
Nothing is submitted. Every place is asked whether it would take the job and whether all of it fits
now. A place where it fits now, or a cloud where machines can be rented for it, comes before one
where it would wait. Between those the cheaper place is chosen (own prices stand in config.yaml),
then one that is there at once, then the one where fewer jobs wait, then the one named first; with
--prefer order, and for a list, the order counts.

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
    several = several_of(options)
    named = task_places(targets, wishes, several)
    if named:
        return _show_tasks(task_placements(targets, named, wishes, wanted), output)
    found = placement(targets, ctx.obj, wishes, wanted, several)
    if output == "json":
        echo(to_json({"chosen": found.chosen, "offers": found.offers}))
    else:
        echo(table(found))
    return 0 if found.chosen is not None else 1


def _show_tasks(found: Mapping[str, Placement], output: str) -> int:
    """What the places say to each task of a pipeline."""
    if output == "json":
        tasks = [
            {"name": task, "chosen": each.chosen, "offers": each.offers}
            for task, each in found.items()
        ]
        echo(to_json({"tasks": tasks}))
    else:
        echo(task_tables(found))
    return 0 if all(each.chosen is not None for each in found.values()) else 1
