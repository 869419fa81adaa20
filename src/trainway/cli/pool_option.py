"""`-p`, of the commands that submit jobs: run on the workers of a worker pool."""

from typing import Any, Final

import click

from trainway.cli.completions import complete_worker_pools
from trainway.errors import UsageError

pool_option: Final = click.option(
    "-p",
    "--pool",
    metavar="NAME",
    shell_complete=complete_worker_pools,
    help="Run on the next free worker of this worker pool; trainway jobs pool status shows them.",
)


def with_pool(options: dict[str, Any]) -> None:
    """Have the place of the job be the worker pool, where one is named."""
    name = options.pop("pool", None)
    if name is None:
        return
    if options.get("backend") is not None:
        raise UsageError("--pool cannot be combined with --on", hint="a worker pool has its place")
    from trainway.sdk.worker_pools import place_of_pool  # noqa: PLC0415 - where one is named

    options["backend"] = place_of_pool(name)
