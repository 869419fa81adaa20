"""Waits for the end of MPIJobs, and says meanwhile how they stand."""

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace

from trainway.cli.kubectl_options import Target
from trainway.cli.mpijob_text import waiting
from trainway.cli.output import echo_line
from trainway.errors import JobFailedError, WaitTimeoutError
from trainway.json_types import Json
from trainway.training.cluster_jobs import ClusterJobs
from trainway.training.facts import facts_of
from trainway.training.members import culprit
from trainway.training.state import JobStatus, State, status_of


async def wait_for(target: Target, jobs: Sequence[Json], seconds: float | None) -> int:
    """Wait for the end of all of them; the exit status."""
    code = 0
    async with target.mpijobs() as there:
        try:
            async with asyncio.timeout(seconds):
                for job in jobs:
                    here = replace(there, namespace=job["metadata"]["namespace"])
                    code = max(code, await _wait(here, job["metadata"]["name"]))
        except TimeoutError:
            echo_line(f"error: not ended after {seconds:g} s")
            return WaitTimeoutError.exit_code
    return code


async def _wait(jobs: ClusterJobs, name: str) -> int:
    said: State | None = None
    async with aclosing(jobs.states(name)) as states:
        async for job in states:
            status = status_of(job)
            if status.state is not said:
                said = status.state
                echo_line(f"{name}: {await _told(jobs, name, status)}")
            if status.is_over:
                return 0 if status.state is State.SUCCEEDED else JobFailedError.exit_code
    return 1


async def _told(jobs: ClusterJobs, name: str, status: JobStatus) -> str:
    if status.state is State.QUEUED:
        return f"{status.state}: {waiting(await facts_of(jobs, name))}"
    if status.state is not State.FAILED:
        return status.state
    members, _ = await jobs.members(name)
    guilty = culprit(members)
    why = f"the {guilty.title} {guilty.problem}" if guilty else status.message or status.reason
    return f"{status.state}: {why}"
