"""`trainway usage`: the GPU-hours, CPU-hours and cost of jobs, added up."""

from typing import Final

import click

from trainway.cli.connection import connect
from trainway.cli.job_options import output_option
from trainway.cli.job_text import utc_now
from trainway.cli.output import echo, echo_line, to_json
from trainway.cli.times import parse_since
from trainway.cli.usage_table import as_csv, table
from trainway.errors import UsageError

_LABEL: Final = "label"
GROUPS: Final = ("user", _LABEL, "backend", "day", "job", "attempt", "cluster")


@click.command("usage")
@click.argument("key", metavar="[KEY]", required=False)
@click.option(
    "--by",
    type=click.Choice(GROUPS),
    help="Add up by user, backend, day, job, attempt, cluster or by a label.",
)
@click.option("--since", metavar="TIME", help="Only hours of the last 7d, or since 2026-11-15.")
@output_option(("table", "json", "csv"))
def command(key: str | None, by: str | None, since: str | None, output: str) -> None:
    """Add up the GPU-hours and CPU-hours of all jobs.

    Hours are what jobs requested, times the time in which they ran. Where config.yaml has prices,
    what that cost stands beside them; jobs that are deleted count with what they had cost. With
    --by label, KEY is the key of the label: trainway usage --by label team.
    """
    report(key, by, since, output, with_money=False)


def report(
    key: str | None, by: str | None, since: str | None, output: str, *, with_money: bool
) -> None:
    """Ask, and print what was asked for; `cost-report` does so too."""
    if by == _LABEL and key is None:
        raise UsageError("--by label needs the key of a label", hint="write --by label team")
    if by != _LABEL and key is not None:
        raise UsageError(f"there is no argument {key!r} here", hint=f"write --by label {key}")
    start = parse_since(since, utc_now()) if since else None
    found = connect().usage(by, key, start)
    group = "job" if by == "attempt" else key or by or ""
    if with_money:
        found["items"] = [each for each in found["items"] if each.get("cost") is not None]
    if output == "json":
        echo(to_json(found))
    elif output == "csv":
        echo(as_csv(found, group or "all", with_money=with_money))
    else:
        echo(table(found, group, with_money=with_money))
        if with_money and found["total"].get("cost") is None:
            echo_line("no price is known: config.yaml may have a section prices, see docs/costs.md")
        if found.get("leftOut"):
            echo_line(f"{found['leftOut']:,} more are in the total; --since shortens the list")
