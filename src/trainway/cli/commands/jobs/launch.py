"""`trainway jobs launch`: `trainway run` under the name, and with the options, of SkyPilot."""

import os.path
from typing import Any, Final

import click

from trainway.cli.cluster_options import yes_option
from trainway.cli.commands.run import carry_out
from trainway.cli.commands.run import command as run
from trainway.cli.pool_option import with_pool
from trainway.cli.run_words import RunCommand
from trainway.cli.several_jobs import several_of
from trainway.cli.sky_place import place_of
from trainway.sdk.cluster_tasks import COMMAND
from trainway.sdk.recovery_strategy import EAGER_NEXT, FAILOVER, NONE

_STRATEGIES: Final = {"FAILOVER": FAILOVER, "EAGER_NEXT_REGION": EAGER_NEXT, "none": NONE}
_HELP: Final = """Run a job and show it until it ends, as trainway run does.

\b
trainway jobs launch TASK.yaml
trainway jobs launch -n hello 'echo $HOSTNAME'
trainway jobs launch -- COMMAND ARGS...

All options of trainway run are options here too. A single text with spaces is the text of a shell.

Exit status: 0 the job succeeded, 4 it failed, 1 an error, 2 wrong usage, 3 something was not found.
"""


@click.command("launch", cls=RunCommand, help=_HELP, params=list(run.params))
@click.option(
    "--job-recovery",
    type=click.Choice(tuple(_STRATEGIES), case_sensitive=False),
    help="The same as --recovery-strategy, in SkyPilot's words.",
)
@click.option("--detach-run", is_flag=True, help="The same as --detach.")
@click.option("--cloud", metavar="FAMILY", help="The same as --infra: local, ssh, slurm or k8s.")
@click.option("--region", help="With --cloud: the pool, the Slurm cluster or the context.")
@click.option("--zone", help="With --region: the partition of a Slurm cluster.")
@yes_option
@click.pass_context
def launch(ctx: click.Context, /, targets: tuple[str, ...], **options: Any) -> int:
    """Translate what is SkyPilot's, and run."""
    options["detach"] |= options.pop("detach_run")
    del options["yes"]  # nobody is asked
    strategy = options.pop("job_recovery")
    options["recovery_strategy"] = options["recovery_strategy"] or _STRATEGIES.get(strategy)
    place = (options.pop("cloud"), options.pop("region"), options.pop("zone"))
    options["backend"] = place_of(options["backend"], *place)
    with_pool(options)
    words: list[str] | None = ctx.obj
    if words is None and len(targets) == 1 and _is_shell_text(targets[0]):
        words = ["bash", "-c", *targets]
        targets = ()
        options["name"] = options["name"] or COMMAND
    return carry_out(targets, words, options, several_of(options))


def _is_shell_text(word: str) -> bool:
    """Whether a word is a whole command, and not the name of a file or program."""
    return any(sign.isspace() for sign in word) and not os.path.exists(word)  # noqa: PTH110 - it may be too long for a path
