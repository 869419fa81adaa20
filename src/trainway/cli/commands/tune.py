"""`trainway tune`: a hyperparameter search from the command line."""

from typing import Any, Final

import click

from trainway.cli.commands.run import carry_out, wait
from trainway.cli.commands.run import command as run
from trainway.cli.completions import complete_runs
from trainway.cli.connection import connect
from trainway.cli.cost_option import cost_options
from trainway.cli.job_options import given_label_option
from trainway.cli.metrics_option import metrics_option
from trainway.cli.notify_option import notify_option
from trainway.cli.output import echo
from trainway.cli.priority_option import priority_option
from trainway.cli.queue_option import queue_option
from trainway.cli.run_words import RunCommand, words_argument
from trainway.cli.slurm_option import slurm_option
from trainway.cli.wishes import infra_option, wishes_group
from trainway.errors import UsageError

_ALGORITHMS: Final = ("random", "grid", "tpe")
_PRUNING: Final = ("median", "halving")

_HELP: Final = """Search for the best hyperparameters of a script, command or job.

\b
trainway tune train.py --param lr=log:1e-5:1e-1 --param bs=8,16,32 --objective loss:min --trials 20
trainway tune --continue NAME --trials +20

Each trial is a job of one run and gets its parameters like the jobs of a sweep: as --NAME VALUE, in
place of {NAME}, and as variables. It must report the objective: trainway.report(step=1, loss=0.5).
A parameter is a list (8,16,32) or a range: uniform:0:0.5, log:1e-5:1e-1 or int:2:8.

Exit status: 0 a best trial was found, 4 none was, 1 an error, 2 wrong usage, 3 something was not
found.
"""


@click.command("tune", cls=RunCommand, help=_HELP)
@words_argument("targets", "[FILE|SCRIPT|COMMAND] [ARGS]...")
@click.option(
    "--param",
    "parameters",
    multiple=True,
    metavar="NAME=VALUES",
    help="Search this parameter: a list of values or a range; several are possible.",
)
@click.option("--objective", metavar="METRIC[:min|max]", help="The metric to optimize.")
@click.option(
    "--trials",
    metavar="N",
    help="Run this many trials; by default 20, or the whole grid. With --continue: +N.",
)
@click.option("--parallel", type=click.IntRange(min=1), help="Run this many trials at a time.")
@click.option(
    "--algorithm",
    type=click.Choice(_ALGORITHMS),
    default="random",
    show_default=True,
    help="How values are chosen; tpe learns from earlier trials and needs trainway[optimize].",
)
@click.option("--prune", type=click.Choice(_PRUNING), help="Stop bad trials early.")
@click.option("--seed", type=int, help="The same seed tries the same values.")
@click.option(
    "--continue",
    "former",
    metavar="NAME",
    shell_complete=complete_runs,
    help="Let a search that exists have more trials.",
)
@wishes_group
@given_label_option
@priority_option()
@queue_option
@infra_option("Where to run; trainway doctor lists the places.")
@slurm_option
@cost_options
@notify_option
@metrics_option
@click.option(
    "-d", "--detach", is_flag=True, help="Only submit the search, and print its first trials."
)
@click.option(
    "--dry-run", "--dryrun", is_flag=True, help="Only print the objects and the first trials."
)
@click.pass_context
def command(ctx: click.Context, /, targets: tuple[str, ...], **options: Any) -> int:
    """Submit the search, then show it until it ends."""
    if options["former"] is not None:
        if targets or ctx.obj or options["parameters"] or options["objective"]:
            raise UsageError(
                "--continue goes on with the script, parameters and objective of the search",
                hint=f"write trainway tune --continue {options['former']} --trials +20",
            )
        return _continue(options["former"], options["trials"], detach=options["detach"])
    if not options["objective"]:
        raise UsageError("there is no objective", hint="add --objective loss:min")
    from trainway.sdk.searches import SearchOptions, search_of  # noqa: PLC0415 - slow

    search = search_of(
        SearchOptions(
            options["parameters"],
            options["objective"],
            None if options["trials"] is None else _number(options["trials"]),
            options["parallel"],
            options["algorithm"],
            options["prune"],
            options["seed"],
        )
    )
    unused = run.make_context("run", [], resilient_parsing=True).params  # what only `run` asks
    return carry_out(targets, ctx.obj, {**unused, **options}, {"search": search})


def _continue(name: str, trials: str | None, *, detach: bool) -> int:
    from trainway.sdk.run_rest import RunRest  # noqa: PLC0415 - only for this

    if trials is None or not trials.startswith("+"):
        raise UsageError("how many more trials are not given", hint="add --trials +20")
    rest = connect()
    longer = RunRest(rest.transport).continue_run(name, _number(trials))
    if detach:
        echo(f"{longer['metadata']['name']} {longer['metadata']['id']}\n")
        return 0
    return wait(rest, longer["jobs"])


def _number(text: str) -> int:
    digits = text.removeprefix("+")
    if not digits.isdecimal() or not 0 < int(digits) <= 1_000:
        raise UsageError(f"--trials {text}: it must be a number from 1 to 1000")
    return int(digits)
