"""How a job leaves a cluster: Slurm gives it up, all that it left is fetched, then it is forgotten.

That it is being given up is written on the login node before Slurm is told, so that a server that
comes later does not take its end in the queue for its own. Everything may be asked for twice.
"""

import asyncio
from typing import Final

from trainway.backends.slurm.job_copy import JobCopy
from trainway.backends.slurm.luggage import Request
from trainway.errors import UnavailableError

PATIENCE_S: Final = 60.0
"""How long one attempt waits for what a job left; what has come stays for the next one."""


async def depart(copy: JobCopy, request: Request) -> None:
    """Have a suspended job leave; when this returns nothing of it is on the cluster.

    AgentError: it stays, since it has ended or Slurm does not let it be suspended. Whoever follows
    it then says so to the copy.
    """
    copy.depart()
    answer = await request("leave", id=copy.id, **copy.position())
    if not answer.get("gone"):
        await _fetch(copy)
    await request("forget", id=copy.id)
    copy.leave()


async def _fetch(copy: JobCopy) -> None:
    """Wait until all that it left is here."""
    try:
        async with asyncio.timeout(PATIENCE_S):
            is_here = await copy.fetched()
    except TimeoutError:
        raise UnavailableError("not all that the job left on the cluster has come yet") from None
    if not is_here:
        raise UnavailableError(
            "output of the job could not be written here", hint="jobs events says which, and why"
        )
