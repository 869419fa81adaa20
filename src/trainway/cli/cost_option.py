"""`--max-cost`: how much a job may cost."""

from typing import Final

import click

max_cost_option: Final = click.option(
    "--max-cost",
    type=click.FloatRange(0, 1e9, min_open=True),
    metavar="DOLLARS",
    help="How much the job may cost, by the prices of config.yaml or of rented machines. At 80 %"
    " somebody is told, and when all is spent, the job ends. Of several jobs, for each.",
)
