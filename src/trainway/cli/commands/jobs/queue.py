"""`trainway jobs queue`: the list of jobs as SkyPilot's users know it."""

from typing import Final

import click

from trainway.cli.columns import Columns
from trainway.cli.commands.jobs.listing import WantedJobs
from trainway.cli.connection import connect
from trainway.cli.job_options import output_option
from trainway.cli.job_text import utc_now
from trainway.cli.managed_job_text import HEADER, POOL, USER, managed_row, pool_cell
from trainway.cli.output import echo, echo_line, to_json_list
from trainway.cli.times import parse_since
from trainway.json_types import Json
from trainway.sdk.managed_jobs import STATUSES, record, whose

_LIMIT: Final = 50
_NAMES: Final = tuple(dict.fromkeys(status.value for status in STATUSES.values()))


@click.command("queue")
@click.option("-s", "--skip-finished", is_flag=True, help="Only jobs that have not ended.")
@click.option(
    "--status",
    "statuses",
    type=click.Choice(_NAMES, case_sensitive=False),
    multiple=True,
    help="Only jobs with this status. Repeat it for several.",
)
@click.option(
    "--since",
    "--after",
    metavar="TIME",
    help="Only jobs submitted in the last 2d, or since 2026-11-15.",
)
@click.option(
    "--before", metavar="TIME", help="Only jobs submitted earlier than 2d ago, or than 2026-11-15."
)
@click.option("-u", "--all-users", is_flag=True, help="Also the jobs of other users.")
@click.option(
    "-l",
    "--limit",
    type=click.IntRange(min=1),
    default=_LIMIT,
    show_default=True,
    help="Show this many of the newest jobs.",
)
@click.option("-a", "--all", "everything", is_flag=True, help="Show all jobs.")
@click.option("-r", "--refresh", is_flag=True, help="Accepted: what is shown is always up to date.")
@click.option("-v", "--verbose", is_flag=True, help="Accepted: nothing is ever shortened.")
@output_option(("table", "json"))
def queue(  # noqa: PLR0913, PLR0917 - one for each option, passed by name
    skip_finished: bool,
    statuses: tuple[str, ...],
    since: str | None,
    before: str | None,
    all_users: bool,
    limit: int,
    everything: bool,
    refresh: bool,  # noqa: ARG001 - only SkyPilot's controller has to be woken up
    verbose: bool,  # noqa: ARG001 - as the help says
    output: str,
) -> None:
    """Show your jobs, newest first, with the columns of sky jobs queue.

    trainway jobs list shows the same jobs with more ways to choose them.
    """
    now = utc_now()
    wanted = WantedJobs(
        name=None,
        phases=_phases(statuses),
        active=skip_finished,
        limit=None if everything else limit,
        summary=True,
        labels=tuple(whose(all_users=all_users)),
        since=parse_since(since, now) if since else None,
        metrics=(),
        before=parse_since(before, now) if before else None,
    )
    found, has_more = wanted.found(connect())
    if has_more:
        echo_line(f"the newest {limit} are shown; --limit N or --all shows more")
    records = [record(job, now) for job in found]
    if output == "json":
        echo(to_json_list({**each, "status": each["status"].value} for each in records))
    elif records:
        header, rows = _table(records, [managed_row(each, now) for each in records], all_users)
        echo(Columns(header).table(rows))
    else:
        is_chosen = bool(statuses or since or before)
        none = "no job waits or runs" if skip_finished else "there are no jobs"
        echo_line("there are no such jobs" if is_chosen else none)


def _phases(statuses: tuple[str, ...]) -> tuple[str, ...]:
    """The phases that these statuses stand for."""
    chosen = {name.upper() for name in statuses}
    return tuple(phase for phase, status in STATUSES.items() if status.value in chosen)


def _table(
    records: list[Json], rows: list[list[str]], with_users: bool
) -> tuple[tuple[str, ...], list[list[str]]]:
    """The header and the rows, with what only some jobs have: a worker pool, another user."""
    header: tuple[str, ...] = HEADER
    if any(each["pool"] for each in records):
        header = (*header, POOL)
        rows = [[*row, pool_cell(each)] for row, each in zip(rows, records, strict=True)]
    if not with_users:
        return header, rows
    users = [str(each["user_name"] or "-") for each in records]
    return (*header[:3], USER, *header[3:]), [
        [*row[:3], user, *row[3:]] for row, user in zip(rows, users, strict=True)
    ]
