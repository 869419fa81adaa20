"""`trainway mpijob suspend`, `resume` and `delete`."""

from collections.abc import Sequence
from typing import Any

import click

from trainway.cli.kubectl_options import (
    Target,
    carry_out,
    selector_option,
    target_of,
    target_options,
)
from trainway.cli.mpijob_printing import PRINTED, told
from trainway.cli.output import echo, echo_line
from trainway.errors import NotFoundError, TrainwayError, UsageError


@click.command("suspend")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@target_options
def suspend(names: tuple[str, ...], **options: Any) -> int:
    """Stop the pods of MPIJobs and keep the jobs."""
    return carry_out(_suspend(target_of(options), names, suspend=True))


@click.command("resume")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@target_options
def resume(names: tuple[str, ...], **options: Any) -> int:
    """Let suspended MPIJobs run."""
    return carry_out(_suspend(target_of(options), names, suspend=False))


async def _suspend(target: Target, names: Sequence[str], *, suspend: bool) -> int:
    code = 0
    async with target.mpijobs() as jobs:
        for name in names:
            try:
                await jobs.suspend(name, suspend=suspend)
            except TrainwayError as error:
                code = told(error, names)
                continue
            echo(f"{PRINTED}/{name} {'suspended' if suspend else 'resumed'}\n")
    return code


@click.command("delete")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@selector_option
@click.option("--all", "everything", is_flag=True, help="All MPIJobs of the namespace.")
@click.option("--ignore-not-found", is_flag=True, help="A job that is not there is no error.")
@click.option("--wait/--no-wait", default=True, help="Wait until the jobs are gone; the default.")
@target_options
def delete(names: tuple[str, ...], selector: str, everything: bool, **options: Any) -> int:
    """Delete MPIJobs with their pods."""
    target = target_of(options)
    if sum(map(bool, (names, selector, everything))) != 1:
        raise UsageError("name the jobs to delete, or select them with -l, or give --all")
    return carry_out(_delete(target, names, selector, options))


async def _delete(
    target: Target, names: Sequence[str], selector: str, options: dict[str, Any]
) -> int:
    code = 0
    async with target.mpijobs() as jobs:
        if not names:
            found, _ = await jobs.list(selector)
            names = [job["metadata"]["name"] for job in found]
            if not names:
                echo_line(f"No MPIJobs found in {jobs.namespace} namespace.")
        for name in names:
            try:
                await jobs.delete(name, wait=options["wait"])
            except NotFoundError as error:
                if not options["ignore_not_found"]:
                    code = told(error, names)
                continue
            echo(f'{PRINTED} "{name}" deleted\n')
    return code
