"""`trainway mpijob get`: a table of MPIJobs, or the objects themselves."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from trainway.cli.columns import Columns
from trainway.cli.kubectl_options import (
    FORMATS,
    Target,
    all_namespaces_option,
    carry_out,
    output_option,
    selector_option,
    target_of,
    target_options,
)
from trainway.cli.mpijob_printing import in_format
from trainway.cli.mpijob_text import header, row
from trainway.cli.output import echo, echo_line
from trainway.errors import NotFoundError, UsageError
from trainway.json_types import Json

if TYPE_CHECKING:
    from trainway.training.cluster_jobs import ClusterJobs


@click.command("get")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@target_options
@all_namespaces_option
@selector_option
@output_option(*FORMATS)
@click.option("-w", "--watch", is_flag=True, help="Go on and print each change.")
def get(names: tuple[str, ...], **options: Any) -> int:
    """List MPIJobs, or show those named."""
    target = target_of(options)
    if names and (target.namespace == "" or options["selector"]):
        raise UsageError("a job is named, so -A and -l make no sense", hint="leave them out")
    return carry_out(_get(target, names, options))


async def _get(target: Target, names: Sequence[str], options: dict[str, Any]) -> int:
    async with target.mpijobs() as jobs:
        shown = _Shown(jobs, options["output"] or "", is_one=len(names) == 1)
        found, version, code = await _found(jobs, names, options["selector"])
        if found or (shown.output in ("json", "yaml") and not names):
            shown.print_all(found)
        elif not names:
            place = f"in {jobs.namespace} namespace" if jobs.namespace else "in any namespace"
            echo_line(f"No MPIJobs found {place}.")
        while options["watch"] and not code:
            await shown.follow(version, options["selector"], names)
            found, version, _ = await _found(jobs, names, options["selector"])
            shown.print_changed(found)
        return code


async def _found(
    jobs: "ClusterJobs", names: Sequence[str], selector: str
) -> tuple[list[Json], str, int]:
    """The jobs, the version from which to watch, and the exit status."""
    if not names:
        items, version = await jobs.list(selector)
        return list(items), version, 0
    found, code = [], 0
    for name in names:
        try:
            found.append(await jobs.get(name))
        except NotFoundError as error:
            if len(names) == 1:
                raise
            echo_line(f"error: {error.message}")
            code = error.exit_code
    oldest = min((int(job["metadata"]["resourceVersion"]) for job in found), default=0)
    return found, str(oldest), code


class _Shown:
    """What was printed, so that a watch prints only what is new."""

    def __init__(self, jobs: "ClusterJobs", output: str, *, is_one: bool) -> None:
        self._jobs = jobs
        self.output = output
        self._is_one = is_one
        self._style = {"wide": output == "wide", "all_namespaces": jobs.namespace == ""}
        self._columns = Columns(header(**self._style))
        self._has_header = False
        self._versions: dict[str, str] = {}

    def print_all(self, jobs: Sequence[Json]) -> None:
        """The first time: with a header, or as one List."""
        for job in jobs:
            self._note(job)
        if self.output in ("", "wide"):
            echo(self._columns.table([self._row(job) for job in jobs]))
            self._has_header = True
        else:
            echo(in_format(jobs, self.output, is_one=self._is_one))

    def print_changed(self, jobs: Sequence[Json]) -> None:
        """Those that are not as they were printed last."""
        for job in jobs:
            self._print(job)

    async def follow(self, version: str, selector: str, names: Sequence[str]) -> None:
        """Print each change until the watch ends."""
        async for event in self._jobs.changes(version, selector):
            job = event.object
            if not names or job["metadata"]["name"] in names:
                self._print(job)

    def _print(self, job: Json) -> None:
        if not self._note(job):
            return
        if self.output in ("", "wide"):
            rows = [self._row(job)]
            echo(self._columns.rows(rows) if self._has_header else self._columns.table(rows))
            self._has_header = True
        else:
            echo(in_format([job], self.output, is_one=True))

    def _note(self, job: Json) -> bool:
        """Whether this version of a job is new."""
        metadata = job["metadata"]
        known = self._versions.get(metadata["uid"])
        self._versions[metadata["uid"]] = metadata["resourceVersion"]
        return bool(known != metadata["resourceVersion"])

    def _row(self, job: Json) -> list[str]:
        return row(job, datetime.now(UTC), **self._style)
