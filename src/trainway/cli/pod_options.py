"""Options that say which pod of a job is meant, and which container of it."""

from typing import Any

import click

from trainway.cli.job_options import Command
from trainway.errors import UsageError


def pod_options(command: Command) -> Command:
    """`--role` and `--rank`."""
    command = click.option("--rank", type=click.IntRange(min=0), help="The pod with this rank.")(
        command
    )
    return click.option("--role", help="A pod of this role: node, launcher, worker, ...")(command)


def container_option(command: Command) -> Command:
    """`--container`."""
    return click.option("-c", "--container", help="The container of the pod.")(command)


def container_of(place: dict[str, Any], named: str | None) -> str:
    """The container that is meant."""
    if named is None:
        return str(place["container"])
    if named not in place["containers"]:
        hint = f"there are {', '.join(place['containers'])}"
        raise UsageError(f"{place['pod']} has no container {named}", hint=hint)
    return named
