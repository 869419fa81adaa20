"""`--max-cost` and `--max-cost-each`: how much jobs may cost."""

from collections.abc import Callable
from typing import Any, Final

import click

Command = Callable[..., Any]
_DOLLARS: Final = click.FloatRange(0, 1e9, min_open=True)

max_cost_option: Final = click.option(
    "--max-cost",
    type=_DOLLARS,
    metavar="DOLLARS",
    help="How much it may cost, by the prices of config.yaml or of rented machines. At 80 %"
    " somebody is told, and when all is spent, it ends. Several jobs have one limit together.",
)
_each: Final = click.option(
    "--max-cost-each",
    type=_DOLLARS,
    metavar="DOLLARS",
    help="Of several jobs: how much each of them may cost.",
)


def cost_options(command: Command) -> Command:
    """Both."""
    return max_cost_option(_each(command))
