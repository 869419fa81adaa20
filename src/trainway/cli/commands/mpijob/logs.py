"""`trainway mpijob logs`: the log of a launcher or of a worker, waited for until it begins."""

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

import click

from trainway.cli.kubectl_options import Target, carry_out, target_of, target_options
from trainway.cli.output import echo_line
from trainway.cli.times import parse_duration
from trainway.errors import UsageError, WaitTimeoutError

if TYPE_CHECKING:
    from trainway.training.cluster_logs import LogQuery


@click.command("logs")
@click.argument("name")
@click.option("--launcher", is_flag=True, help="The log of the launcher, which is the default.")
@click.option("--worker", type=click.IntRange(min=0), metavar="N", help="The log of worker N.")
@click.option("-f", "--follow", is_flag=True, help="Go on until the job ends.")
@click.option("--tail", type=click.IntRange(min=-1), metavar="N", help="Only the last N lines.")
@click.option("--wait-timeout", metavar="TIME", help="Wait for the pod at most so long: 30s, 5m.")
@target_options
def logs(name: str, launcher: bool, worker: int | None, **options: Any) -> None:
    """Print the log of the launcher or of a worker.

    If its pod has not started yet, wait for it, and say what it waits for.
    """
    target = target_of(options)
    if launcher and worker is not None:
        raise UsageError("--launcher and --worker cannot be given together")
    limit = options["wait_timeout"]
    seconds = None if limit is None else parse_duration(limit)
    tail = None if options["tail"] in (None, -1) else options["tail"]
    role, index = ("launcher", 0) if worker is None else ("worker", worker)
    carry_out(_logs(target, name, (role, index, options["follow"], tail), seconds))


async def _logs(
    target: Target, name: str, wanted: tuple[str, int, bool, int | None], seconds: float | None
) -> None:
    query = _query(wanted)
    from trainway.training.cluster_logs import log_pieces  # noqa: PLC0415 - needs the extra

    async with (
        target.mpijobs() as jobs,
        aclosing(log_pieces(jobs, name, query, echo_line)) as pieces,
    ):
        try:
            async with asyncio.timeout(seconds):
                first = await anext(pieces, b"")
        except TimeoutError:
            raise WaitTimeoutError(
                f"the {query.title} has written nothing after {seconds:g} s"
            ) from None
        click.echo(first, nl=False)
        async for piece in pieces:
            click.echo(piece, nl=False)


def _query(wanted: tuple[str, int, bool, int | None]) -> "LogQuery":
    from trainway.training.packages import require_packages  # noqa: PLC0415 - seldom needed

    require_packages()
    from trainway.training.cluster_logs import LogQuery  # noqa: PLC0415 - needs the extra

    role, index, follow, tail = wanted
    return LogQuery(role, index, follow=follow, tail=tail)
