"""`trainway jobs list`."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from time import sleep
from typing import Final

import click

from trainway.cli.colours import is_colourful
from trainway.cli.columns import Columns
from trainway.cli.connection import connect
from trainway.cli.job_options import label_option, output_option, phase_option, watch_option
from trainway.cli.job_text import HEADER, WIDE, ids, painter, row, utc_now
from trainway.cli.output import echo, echo_line, to_json, to_json_list, to_yaml
from trainway.cli.times import parse_since
from trainway.json_types import Json
from trainway.sdk.rest import Rest

_LIMIT: Final = 100
_PAGE: Final = 1000
_LOOK_S: Final = 1.0
"""The time between two looks at the list; there is a stream for one job, not for all."""


@dataclass(frozen=True)
class WantedJobs:
    """Which jobs to list."""

    name: str | None
    phases: tuple[str, ...]
    active: bool
    limit: int | None
    summary: bool
    labels: tuple[str, ...]
    since: str | None
    metrics: tuple[str, ...]
    before: str | None = None
    """Only those that were submitted earlier than that."""

    def found(self, rest: Rest) -> tuple[list[Json], bool]:
        """The jobs, and whether there are more."""
        if self.limit is None:
            return list(self._all(rest)), False
        found = list(islice(self._all(rest), self.limit + 1))
        return found[: self.limit], len(found) > self.limit

    def _all(self, rest: Rest) -> Iterator[Json]:
        cursor: str | None = None
        while True:
            items, cursor = rest.page(
                limit=_PAGE if self.limit is None else min(_PAGE, self.limit + 1),
                cursor=cursor,
                name=self.name,
                phase=",".join(self.phases) or None,
                active=self.active or None,
                summary=self.summary,
                labels=self.labels,
                since=self.since,
                metrics=self.metrics,
            )
            yield from (job for job in items if self._is_early(job))
            if not cursor:
                return

    def _is_early(self, job: Json) -> bool:
        if self.before is None:
            return True
        created = datetime.fromisoformat(job["metadata"]["creationTimestamp"])
        return created < datetime.fromisoformat(self.before)


@click.command("list")
@click.option("--name", help="Only jobs with this name.")
@phase_option("Only jobs in this phase. Repeat it for several phases.")
@label_option("Only jobs with this label: team=nlp, or team for any value. Repeat it for more.")
@click.option(
    "--since", metavar="TIME", help="Only jobs submitted in the last 2d, or since 2026-11-15."
)
@click.option(
    "--metric",
    "metrics",
    metavar="CONDITION",
    multiple=True,
    help="Only jobs whose last report meets this: 'loss<0.3'. Repeat it for more.",
)
@click.option("--active", is_flag=True, help="Only jobs that have not ended.")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=_LIMIT,
    show_default=True,
    help="Show this many of the newest jobs.",
)
@click.option("-a", "--all", "everything", is_flag=True, help="Show all jobs.")
@output_option()
@watch_option("Keep printing what changes.")
def list_jobs(  # noqa: PLR0913, PLR0917 - one for each option, passed by name
    name: str | None,
    phases: tuple[str, ...],
    labels: tuple[str, ...],
    since: str | None,
    metrics: tuple[str, ...],
    active: bool,
    limit: int,
    everything: bool,
    output: str,
    watch: bool,
) -> None:
    """List jobs, newest first.

    With -o name it prints only their ids, which the other commands accept.
    """
    summary = output in ("table", "wide", "name")
    wanted = WantedJobs(
        name=name,
        phases=phases,
        active=active,
        limit=None if everything else limit,
        summary=summary,
        labels=labels,
        since=parse_since(since, utc_now()) if since else None,
        metrics=metrics,
    )
    rest = connect()
    jobs, has_more = wanted.found(rest)
    if has_more:
        echo_line(f"the newest {limit} are shown; --limit N or --all shows more")
    printer = _Printer(output)
    printer.first(jobs)
    if watch:
        _watch(rest, wanted, jobs, printer)


def _watch(rest: Rest, wanted: WantedJobs, jobs: list[Json], printer: "_Printer") -> None:
    seen = {job["metadata"]["id"]: job for job in jobs}
    while True:
        sleep(_LOOK_S)
        jobs, _ = wanted.found(rest)
        changed = [job for job in jobs if seen.get(job["metadata"]["id"]) != job]
        seen |= {job["metadata"]["id"]: job for job in changed}
        printer.more(changed[::-1])


class _Printer:
    """Prints jobs in a form, and later those that have changed."""

    def __init__(self, output: str) -> None:
        self._output = output
        self._is_wide = output == "wide"
        paint = painter(colourful=is_colourful(sys.stdout))
        self._columns = Columns(WIDE if self._is_wide else HEADER, paint)

    def first(self, jobs: list[Json]) -> None:
        """All of them."""
        if self._output == "json":
            echo(to_json_list(jobs))
        elif self._output == "yaml":
            echo(to_yaml(jobs))
        elif self._output == "name":
            echo(ids(jobs))
        elif jobs:
            echo(self._columns.table(self._rows(jobs)))
        else:
            echo_line("there are no jobs")

    def more(self, jobs: list[Json]) -> None:
        """Those that have changed."""
        if self._output == "json":
            echo("".join(map(to_json, jobs)))
        elif self._output == "yaml":
            echo("".join(f"---\n{to_yaml([job])}" for job in jobs))
        elif self._output == "name":
            echo(ids(jobs))
        else:
            echo(self._columns.rows(self._rows(jobs)))

    def _rows(self, jobs: list[Json]) -> list[list[str]]:
        now = utc_now()
        return [row(job, now, wide=self._is_wide) for job in jobs]
