"""`trainway jobs cancel`: jobs by their ids or names, as SkyPilot names them too."""

import click

from trainway.cli.cluster_connection import confirm
from trainway.cli.cluster_options import yes_option
from trainway.cli.completions import complete_refs, complete_worker_pools
from trainway.cli.connection import connect
from trainway.cli.output import echo, echo_line
from trainway.sdk.managed_jobs import end_all, to_cancel
from trainway.sdk.rest import phase
from trainway.sdk.worker_pool_rest import WorkerPoolRest


@click.command("cancel")
@click.argument("refs", metavar="[NAME]...", nargs=-1, shell_complete=complete_refs)
@click.option("-n", "--name", help="The one job with this name that waits or runs.")
@click.option(
    "-p", "--pool", metavar="NAME", shell_complete=complete_worker_pools,
    help="All jobs of this worker pool that wait or run.",
)  # fmt: skip
@click.option("-a", "--all", "every", is_flag=True, help="All your jobs that wait or run.")
@click.option("-u", "--all-users", is_flag=True, help="All jobs of all users that wait or run.")
@click.option(
    "--graceful", is_flag=True, help="Accepted: processes always have their grace period."
)
@yes_option
def cancel(
    refs: tuple[str, ...],
    name: str | None,
    pool: str | None,
    every: bool,
    all_users: bool,
    graceful: bool,  # noqa: ARG001 - as the help says
    yes: bool,
) -> int:
    """End jobs, and wait until none of their processes is left.

    Name them by their names or ids. Only --all, --all-users and --pool ask before they do it.
    """
    rest = connect()
    jobs = to_cancel(rest, refs, name, every=every, all_users=all_users, pool=pool)
    if not jobs:
        if pool is not None:
            WorkerPoolRest(rest.transport).worker_pool(pool)  # or it says that there is none
        echo_line("there is nothing to cancel")
        return 0
    if every or all_users or pool is not None:
        names = ", ".join(f"{job['metadata']['name']} ({job['metadata']['id']})" for job in jobs)
        if not confirm(f"Cancel {names}?", yes=yes):
            return 1
    end_all(
        rest,
        jobs,
        lambda job: echo(f"{job['metadata']['name']} {phase(job).lower()}\n"),
        lambda said: echo_line(f"error: {said}"),
    )
    return 0
