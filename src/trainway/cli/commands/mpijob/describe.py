"""`trainway mpijob describe`: all that is known of MPIJobs, and who is to blame."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import click

from trainway.cli.kubectl_options import (
    Target,
    carry_out,
    selector_option,
    target_of,
    target_options,
)
from trainway.cli.mpijob_printing import told
from trainway.cli.mpijob_text import description
from trainway.cli.output import echo
from trainway.errors import NotFoundError, UsageError


@click.command("describe")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@target_options
@selector_option
def describe(names: tuple[str, ...], **options: Any) -> int:
    """Show spec, queue, conditions, replicas, events, last lines, and what went wrong."""
    target = target_of(options)
    if bool(names) == bool(options["selector"]):
        raise UsageError("name the jobs to describe, or select them with -l")
    return carry_out(_describe(target, names, options["selector"]))


async def _describe(target: Target, names: Sequence[str], selector: str) -> int:
    from trainway.training.facts import facts_of  # noqa: PLC0415 - needs the extra

    async with target.mpijobs() as jobs:
        if selector:
            found, _ = await jobs.list(selector)
            names = [job["metadata"]["name"] for job in found]
            if not names:
                raise NotFoundError(f"no MPIJob has the labels {selector}")
        code, texts = 0, 0
        for name in names:
            try:
                text = description(await facts_of(jobs, name), datetime.now(UTC))
            except NotFoundError as error:
                code = told(error, names)
                continue
            echo(f"\n{text}" if texts else text)
            texts += 1
        return code
