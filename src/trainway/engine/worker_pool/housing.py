"""Houses jobs that are for a cloud: each gets a worker pool of its own before it is stored.

A job never runs on a cloud as such. Which machines it needs is seen by compiling it; that it can
have them, and that the credentials are good, is seen before anything is made. A pool whose job is
not stored after all goes again, and has rented nothing by then.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from trainway.backends import capabilities
from trainway.backends.registry import Registry
from trainway.counting import counted
from trainway.engine.cluster.clusters import Clusters
from trainway.engine.cluster.request import Launch
from trainway.engine.ids import Ids
from trainway.engine.intake import elements, prepare
from trainway.engine.rental.choice import Chosen
from trainway.engine.submission import TASK_TYPE, Submission, at_places, parted, type_of
from trainway.engine.worker_pool.deadline_pools import at_pools, pools_for
from trainway.engine.worker_pool.job_pool import as_spot, machines_of_task, pool_name, task_of
from trainway.engine.worker_pool.machines import Machines, machines_of
from trainway.engine.worker_pool.pools import WorkerPools
from trainway.engine.worker_pool.rented_place import place_label
from trainway.errors import UsageError
from trainway.families.builtin import WORKERS
from trainway.families.table import family_of


@dataclass(frozen=True)
class Housing:
    """Where jobs that are for a cloud come to live."""

    pools: WorkerPools
    clusters: Clusters
    registry: Registry
    ids: Ids

    @asynccontextmanager
    async def house(self, submission: Submission, jobs: int = 1) -> AsyncIterator[Submission]:
        """A submission that is about to be stored; on a cloud, with a pool of its own."""
        submission = led_by_own(submission)
        if not family_of(submission.backend).rents or submission.placement:
            yield submission
            return
        name = pool_name(submission.key or self.ids.new())
        machines, _ = await self.offer(submission)
        pools = pools_for(submission, name, jobs, machines)
        for pool in pools:
            self.pools.hold(pool.name)
        try:
            for pool in pools:
                await self.pools.apply(pool)
            labels = {**submission.labels, **place_label(submission.backend)}
            housed = replace(submission, labels=labels)
            yield at_pools(housed, [f"{WORKERS}/{pool.name}" for pool in pools])
        finally:
            for pool in pools:
                self.pools.settle(pool.name)  # without a job it goes again

    async def offer(self, submission: Submission) -> tuple[Machines, Chosen]:
        """The machines of a job, and the first offer for them; raises why there is none."""
        name, machines = await self._machines(submission)
        wanted = Launch(name, submission.backend, machines.nodes, machines.resources)
        return machines, await self.clusters.offered(wanted)

    async def _machines(self, submission: Submission) -> tuple[str, Machines]:
        """What is to be rented for each job of a submission, and what it is for."""
        if submission.pipeline or submission.search is not None:
            what = "a pipeline" if submission.pipeline else "a search"
            raise _unhoused(what, submission.backend)
        first = elements(submission)[0] if submission.is_run else submission
        backend = self.registry.get(submission.backend)
        prepared = await prepare(first, backend)
        capabilities.release(backend, prepared.port)
        source, _ = parted(prepared.objects)
        task, jobset = task_of(source or {}), prepared.jobset
        name = prepared.name if prepared.name[:1].isalpha() else ""
        if task is None and type_of(source or jobset) == TASK_TYPE:  # its setups differ
            raise _unhoused("a job group", submission.backend)
        machines = (
            machines_of(source or jobset, jobset, prepared.companions)
            if task is None
            else machines_of_task(task)
        )
        return name, as_spot(machines) if submission.use_spot else machines


def _unhoused(what: str, place: str) -> UsageError:
    return UsageError(
        f"{what} cannot have machines of {place} yet",
        hint="make a worker pool there (trainway jobs pool apply), and run it with --pool",
    )


def led_by_own(submission: Submission) -> Submission:
    """A submission whose place is chosen later, with a place at the front that is no cloud.

    Until then it waits there in name only; nothing is rented for a job that may go elsewhere.
    """
    if not submission.prefer or not family_of(submission.backend).rents:
        return submission
    for each in at_places(submission):
        if not family_of(each.backend).rents:
            return each
    raise UsageError(
        "one of several places between which is chosen later must not be a cloud",
        hint="add local to --on, or write --on cloud, which chooses between all clouds by itself",
    )


def described(chosen: Chosen) -> str:
    """An offer as a sentence for those who choose between places."""
    spot = " as spot" if chosen.spot else ""
    where = "/".join(part for part in (chosen.cloud, chosen.region, chosen.zone) if part)
    machines = counted(chosen.nodes, "machine")
    return f"{machines} ({chosen.instance_type}) can be rented{spot} at {where} in a few minutes"
