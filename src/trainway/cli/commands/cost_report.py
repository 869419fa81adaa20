"""`trainway cost-report`: what jobs have cost; the figures of `usage`, under SkyPilot's name."""

import click

from trainway.cli.commands.usage import GROUPS, report
from trainway.cli.job_options import output_option
from trainway.errors import UsageError


@click.command("cost-report")
@click.argument("key", metavar="[KEY]", required=False)
@click.option(
    "--by",
    type=click.Choice(GROUPS),
    default="job",
    show_default=True,
    help="Add up by job, attempt, cluster, user, backend, day or by a label.",
)
@click.option("--since", metavar="TIME", help="Only costs of the last 7d, or since 2026-11-15.")
@click.option("--days", type=click.IntRange(1), help="Only costs of so many days until now.")
@output_option(("table", "json", "csv"))
def command(key: str | None, by: str, since: str | None, days: int | None, output: str) -> None:
    """Add up what jobs have cost.

    Own machines cost what the section prices of config.yaml says, rented ones their price. What
    runs counts until now. SAVED is what the same machines would have cost more on demand. With
    --by label, KEY is the key of the label: trainway cost-report --by label team.
    """
    if since is not None and days is not None:
        raise UsageError("--since cannot be used together with --days", hint="give one of them")
    report(key, by, f"{days}d" if days else since, output, with_money=True)
