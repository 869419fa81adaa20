"""The commands that change jobs or wait for them; each takes several."""

import time
from contextlib import suppress

import click

from trainway.cli.connection import connect
from trainway.cli.job_options import job_argument, jobs_argument
from trainway.cli.job_text import ending
from trainway.cli.output import echo, echo_line
from trainway.cli.times import parse_duration
from trainway.errors import ConflictError, JobFailedError, NotFoundError, WaitTimeoutError
from trainway.json_types import Json
from trainway.sdk.phases import SUCCEEDED, remains
from trainway.sdk.rest import Rest, is_terminal, phase
from trainway.sdk.transport import StreamControl


@click.command("wait")
@jobs_argument
@click.option("--timeout", metavar="DURATION", help="Stop waiting after this time: 90s, 5m, 1h30m.")
def wait(refs: tuple[str, ...], timeout: str | None) -> int:
    """Wait until jobs have ended.

    Exit status: 0 all succeeded, 4 one failed or was cancelled, 5 the timeout was reached.
    """
    deadline = None if timeout is None else time.monotonic() + parse_duration(timeout)
    rest = connect()
    jobs = [rest.get(ref) for ref in refs]
    for position, job in enumerate(jobs):
        jobs[position] = _ended(rest, job, deadline)
        if not is_terminal(jobs[position]):
            name = job["metadata"]["name"]
            raise WaitTimeoutError(f"{name} is {phase(jobs[position])} after {timeout}")
        echo(f"{ending(jobs[position])}\n")
    failed = any(phase(job) != SUCCEEDED for job in jobs)
    return JobFailedError.exit_code if failed else 0


@click.command("suspend")
@jobs_argument
def suspend(refs: tuple[str, ...]) -> None:
    """Stop the processes of jobs and keep the jobs, so that they can be resumed."""
    _act(refs, "suspend", "suspended")


@click.command("resume")
@jobs_argument
def resume(refs: tuple[str, ...]) -> None:
    """Resume suspended jobs."""
    _act(refs, "resume", "resumed")


@click.command("scale")
@job_argument
@click.argument("nodes", type=click.IntRange(min=1, max=10_000))
def scale(ref: str, nodes: int) -> None:
    """Give a job another number of NODES while it waits in the queue.

    Meant are the nodes of a TrainJob's trainer, the workers of an MPIJob, the nodes of a task, or
    the pods of a JobSet with one role. A job that has started keeps its nodes.
    """
    job = connect().scale(ref, nodes)
    echo(f"{job['metadata']['name']} scaled to {nodes} {'node' if nodes == 1 else 'nodes'}\n")


@click.command("delete")
@jobs_argument
@click.option(
    "--force",
    is_flag=True,
    help="Also delete jobs whose cluster does not answer, and say what may be left there.",
)
def delete(refs: tuple[str, ...], *, force: bool) -> None:
    """Delete jobs and all their files; running jobs are cancelled first."""
    rest = connect()
    jobs = [rest.get(ref) for ref in refs]
    for job in jobs if len(jobs) > 1 else ():  # they end together, and not one after the other
        with suppress(ConflictError, NotFoundError):  # it has ended meanwhile
            rest.act(job["metadata"]["id"], "cancel")
    for job in jobs:
        name = job["metadata"]["name"]
        left = remains(rest.delete(job["metadata"]["id"], force=force))
        echo(f"{name} deleted\n")
        if left:
            echo_line(f"warning: {name}: {left}")


def _act(refs: tuple[str, ...], verb: str, done: str) -> None:
    """All jobs are looked up first, so that a wrong name changes nothing."""
    rest = connect()
    for job in [rest.get(ref) for ref in refs]:
        rest.act(job["metadata"]["id"], verb)
        echo(f"{job['metadata']['name']} {done}\n")


def _ended(rest: Rest, job: Json, deadline: float | None) -> Json:
    """The job when it has ended, or when the time is over."""
    if not is_terminal(job):
        for seen in rest.watch(job["metadata"]["id"], StreamControl(deadline)):
            job = seen
    return job
