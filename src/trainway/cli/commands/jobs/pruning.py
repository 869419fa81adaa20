"""`trainway jobs prune`: delete jobs that are over."""

from collections.abc import Iterator, Sequence
from typing import Final

import click

from trainway.cli.cluster_connection import confirm
from trainway.cli.cluster_options import yes_option
from trainway.cli.connection import connect
from trainway.cli.job_options import label_option
from trainway.cli.job_text import utc_now
from trainway.cli.output import echo, echo_line
from trainway.cli.times import parse_duration, parse_time
from trainway.errors import TrainwayError
from trainway.json_types import Json
from trainway.sdk.phases import CANCELLED, FAILED, SUCCEEDED
from trainway.sdk.rest import Rest, is_terminal

_PAGE: Final = 1000
_UNITS: Final = ("bytes", "KiB", "MiB", "GiB", "TiB")
_STEP: Final = 1024


@click.command("prune")
@click.option(
    "--older-than", metavar="DURATION", help="Only jobs that ended longer ago than this: 30d, 12h."
)
@click.option(
    "--phase",
    "phases",
    type=click.Choice((SUCCEEDED, FAILED, CANCELLED), case_sensitive=False),
    multiple=True,
    help="Only jobs that ended like this. Repeat it for several phases.",
)
@label_option("Only jobs with this label: team=nlp, or team for any value. Repeat it for more.")
@click.option("--dry-run", is_flag=True, help="Only say which jobs would be deleted.")
@yes_option
def prune(
    older_than: str | None,
    phases: tuple[str, ...],
    labels: tuple[str, ...],
    dry_run: bool,
    yes: bool,
) -> int:
    """Delete jobs that have ended, with all their files.

    Jobs that have not ended are never touched. Exit status: 1 if a job could not be deleted.
    """
    age = None if older_than is None else parse_duration(older_than)
    rest = connect()
    jobs = [job for job in _ended(rest, phases, labels) if age is None or _age(job) > age]
    if not jobs:
        echo_line("there are no jobs to delete")
        return 0
    room = room_text(sum(rest.size(job["metadata"]["id"]) for job in jobs))
    count = f"{len(jobs)} job" + ("s" if len(jobs) > 1 else "")
    if dry_run:
        for job in jobs:
            metadata = job["metadata"]
            echo(f"{metadata['name']} {metadata['id']} {job['status']['phase']}\n")
        echo_line(f"{count} would be deleted, which would free {room} on the server's machine")
        return 0
    if not confirm(f"Delete {count} and free {room} on the server's machine?", yes=yes):
        return 1
    failed = _delete(rest, jobs)
    echo(f"{len(jobs) - failed} of {count} deleted; their files took {room}\n")
    return 1 if failed else 0


def room_text(size: float) -> str:
    """An amount of bytes, in the largest unit that leaves a number above 1."""
    for unit in _UNITS:
        if size < _STEP or unit == _UNITS[-1]:
            return f"{size:.0f} {unit}" if unit == _UNITS[0] else f"{size:.1f} {unit}"
        size /= _STEP
    raise AssertionError


def _ended(rest: Rest, phases: Sequence[str], labels: Sequence[str]) -> Iterator[Json]:
    cursor: str | None = None
    while True:
        items, cursor = rest.page(
            limit=_PAGE,
            cursor=cursor,
            phase=",".join(phases) or None,
            active=False,
            labels=labels,
            summary=True,
        )
        yield from (job for job in items if is_terminal(job))
        if not cursor:
            return


def _age(job: Json) -> float:
    """Seconds since it ended."""
    ended = job["status"].get("completionTime") or job["metadata"]["creationTimestamp"]
    return (utc_now() - parse_time(ended)).total_seconds()


def _delete(rest: Rest, jobs: Sequence[Json]) -> int:
    """Delete them; how many could not be, each with its reason."""
    failed = 0
    for job in jobs:
        try:
            rest.delete(job["metadata"]["id"])
        except TrainwayError as error:
            failed += 1
            echo_line(f"warning: {job['metadata']['name']} is not deleted: {error.sentence}")
    return failed
