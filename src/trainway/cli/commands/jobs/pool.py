"""`trainway jobs pool`: workers that are held ready for jobs."""

import sys
from pathlib import Path
from typing import Any, Final

import click

from trainway.api.task.pool import MOST_WORKERS
from trainway.cli.cluster_action import one_by_one
from trainway.cli.cluster_connection import confirm
from trainway.cli.cluster_options import infra_option, yes_option
from trainway.cli.colours import is_colourful
from trainway.cli.columns import Columns
from trainway.cli.completions import complete_files, complete_worker_pools
from trainway.cli.job_options import output_option
from trainway.cli.job_text import painter, utc_now
from trainway.cli.output import echo, echo_line, to_json_list, to_yaml
from trainway.cli.refusal import RefusedError
from trainway.cli.upload_view import UploadView
from trainway.cli.variables import env_option, given_variables, task_options
from trainway.cli.worker_pool_text import POOLS, WORKERS, applied_line, pool_row, worker_rows
from trainway.errors import InvalidError, UsageError
from trainway.json_types import Json
from trainway.sdk.cluster_tasks import TaskWishes
from trainway.sdk.rest import LogQuery
from trainway.sdk.worker_pool_rest import WorkerPoolRest

_APPLY: Final = """Make a worker pool, or change the one of that name.

\b
trainway jobs pool apply FILE.yaml -p NAME
trainway jobs pool apply -p NAME --workers 4      only change how many there are

FILE is a task with a pool section (pool: {workers: 2}, or pool: {min_workers: 1, max_workers: 8}),
resources and a setup, and no run. Each worker runs the setup once. Then jobs of
trainway jobs launch -p NAME start on it at once.
"""


@click.group("pool")
def pool() -> None:
    """Hold workers ready, so that jobs start on them at once.

    A worker is set up once, and runs one job after the other.
    """


@pool.command("apply", help=_APPLY)
@click.argument("file", metavar="[FILE]", required=False, shell_complete=complete_files)
@click.option(
    "-p", "--pool", "name", metavar="NAME", shell_complete=complete_worker_pools,
    help="The name of the worker pool; by default that of the task.",
)  # fmt: skip
@click.option(
    "--workers",
    type=click.IntRange(min=1, max=MOST_WORKERS),
    help="Have this many workers, whatever FILE says.",
)
@click.option(
    "--mode",
    type=click.Choice(("rolling", "blue_green")),
    help="Accepted: a changed pool replaces each worker when it has no job.",
)
@infra_option
@env_option
@task_options
@yes_option
def apply_pool(
    file: str | None,
    name: str | None,
    workers: int | None,
    mode: str | None,
    infra: str,
    **options: Any,
) -> None:
    """Read the task, and send it."""
    from trainway.sdk.worker_pools import apply, pool_task  # noqa: PLC0415 - only here

    if mode == "blue_green":
        raise UsageError(
            "workers are replaced one by one, when they have no job: there is no other mode",
            hint="make a pool of another name, and take this one down when that is ready",
        )
    if file is None:
        if not name or workers is None:
            raise UsageError(
                "there is no file", hint="give FILE, or -p NAME and --workers to change a pool"
            )
        echo(f"{applied_line(_connected().resize_worker_pool(name, workers))}\n")
        return
    told = given_variables(options)
    wishes = TaskWishes(name=name, env=told.env, secrets=told.secrets)
    try:
        made = apply(_connected(), pool_task(Path(file), wishes, workers), infra)
    except InvalidError as error:
        raise RefusedError([f"{file}: {line}" for line in error.lines], error.exit_code) from None
    echo(f"{applied_line(made)}\n")


@pool.command("status")
@click.argument("names", metavar="[NAME]...", nargs=-1, shell_complete=complete_worker_pools)
@output_option(("table", "json", "yaml", "name"))
def status(names: tuple[str, ...], output: str) -> None:
    """Show worker pools and their workers."""
    rest = _connected()
    found = [rest.worker_pool(name) for name in names] if names else rest.worker_pools()
    if output == "json":
        echo(to_json_list(found))
    elif output == "yaml":
        echo(to_yaml(found))
    elif output == "name":
        echo("".join(f"{each['metadata']['name']}\n" for each in found))
    elif found:
        _show(found)
    else:
        echo_line("there are no worker pools")


def _show(pools: list[Json]) -> None:
    now = utc_now()
    paint = painter(colourful=is_colourful(sys.stdout))
    echo(Columns(POOLS, paint).table([pool_row(each, now) for each in pools]))
    rows = [row for each in pools for row in worker_rows(each, now)]
    if rows:
        echo("\n" + Columns(WORKERS, paint).table(rows))
    for each in pools:
        said = [each["status"]["message"], *(w["message"] for w in each["status"]["workers"])]
        for line in dict.fromkeys(text for text in said if text):
            echo_line(f"{each['metadata']['name']}: {line}")


@pool.command("logs")
@click.argument("name", metavar="NAME", shell_complete=complete_worker_pools)
@click.argument("number", metavar="[WORKER]", type=click.IntRange(min=1), required=False)
@click.option(
    "-f/", "--follow/--no-follow", help="Keep printing new lines until the setup has ended."
)
@click.option("--tail", type=click.IntRange(min=0), help="Only this many lines from the end.")
def logs(name: str, number: int | None, follow: bool, tail: int | None) -> None:
    """Print what the setup of a worker wrote.

    WORKER is its number in jobs pool status; without it, it is the newest worker that has a setup.
    What jobs write on workers is in trainway jobs logs.
    """
    from trainway.cli.log_printing import print_logs  # noqa: PLC0415 - only here
    from trainway.sdk.worker_pools import setup_job_of  # noqa: PLC0415 - as above

    rest = _connected()
    query = LogQuery(tail=tail, all_attempts=True, follow=follow)
    print_logs(rest, setup_job_of(rest.worker_pool(name), number), query)


@pool.command("down")
@click.argument("names", metavar="[NAME]...", nargs=-1, shell_complete=complete_worker_pools)
@click.option("-a", "--all", "every", is_flag=True, help="All worker pools.")
@click.option(
    "--cancel-jobs",
    "--purge",
    is_flag=True,
    help="Cancel jobs of the pool that have not ended.",
)
@yes_option
def down(names: tuple[str, ...], every: bool, cancel_jobs: bool, yes: bool) -> int:
    """Take worker pools down: release all workers, and forget the pools.

    A pool with jobs that have not ended stays, unless you add --cancel-jobs.
    """
    from trainway.sdk.worker_pools import take_down  # noqa: PLC0415 - only here

    if every and names:
        raise UsageError("--all cannot be combined with names")
    if not names and not every:
        raise click.UsageError("NAME is missing", click.get_current_context())
    rest = _connected()
    known = rest.worker_pools() if every else [rest.worker_pool(name) for name in names]
    found = [str(each["metadata"]["name"]) for each in known]
    if not found:
        echo_line("there are no worker pools")
        return 0
    if not confirm(f"Take down {', '.join(found)}?", yes=yes):
        return 1
    return one_by_one(found, lambda name: take_down(rest, name, cancel_jobs=cancel_jobs), "is down")


def _connected() -> WorkerPoolRest:
    rest = WorkerPoolRest.connect(warn=lambda message: echo_line(f"warning: {message}"))
    rest.on_upload = UploadView().show
    return rest
