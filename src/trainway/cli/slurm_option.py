"""`--slurm KEY=VALUE`, for the commands that take jobs to Slurm."""

from collections.abc import Callable
from typing import Any

import click

Command = Callable[..., Any]


def slurm_option(command: Command) -> Command:
    """The option; what is given stands in `slurm`."""
    return click.option(
        "--slurm",
        "slurm",
        metavar="KEY[=VALUE]",
        multiple=True,
        help="On slurm/CLUSTER, any option of sbatch: qos=high, constraint=ib, exclusive."
        " May be given several times.",
    )(command)
