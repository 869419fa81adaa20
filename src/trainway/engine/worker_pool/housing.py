"""Houses jobs that are for a cloud: each gets a worker pool of its own before it is stored.

A job never runs on a cloud as such. Which machines it needs is seen by compiling it; that it can
have them, and that the credentials are good, is seen before anything is made. A pool whose job is
not stored after all goes again, and has rented nothing by then.

Tasks of a pipeline, trials of a search, and jobs whose place is chosen later are stored without a
pool. They get one, each its own, when their turn comes (`moving/choosing.py`).
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from trainway.backends import capabilities
from trainway.backends.registry import Registry
from trainway.counting import counted
from trainway.engine.admission import Admitted
from trainway.engine.cluster.clusters import Clusters
from trainway.engine.cluster.request import Launch
from trainway.engine.ids import Ids
from trainway.engine.intake import elements, prepare
from trainway.engine.placement.offer import Prefer
from trainway.engine.rental.choice import Chosen
from trainway.engine.run.record import NewRun, RunRecord
from trainway.engine.submission import TASK_TYPE, Submission, parted, type_of
from trainway.engine.worker_pool.deadline_pools import among, at_pools, in_one, pools_for
from trainway.engine.worker_pool.group_machines import machines_of_group
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
    store: Callable[[Sequence[Submission], NewRun | RunRecord], Awaitable[Admitted]]
    """Stores the jobs of a run, all or none."""

    @asynccontextmanager
    async def house(self, submission: Submission, jobs: int = 1) -> AsyncIterator[Submission]:
        """A submission that is about to be stored; on a cloud, with a pool of its own.

        What gets its machines later (`admit`) is left as it is. So do jobs of which each has a
        limit of its own, since nobody can tell what each of several costs that share machines.
        """
        if not self.is_housed(submission):
            yield submission
            return
        name = pool_name(submission.key or self.ids.new())
        machines, _ = await self.offer(submission)
        submission, _ = in_one(submission)
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

    @staticmethod
    def is_housed(submission: Submission) -> bool:
        """Whether a submission has pools of its own before it is stored."""
        is_apart = submission.is_run and submission.max_cost_each is not None
        is_later = submission.pipeline or submission.search is not None or submission.prefer
        return not (is_apart or is_later) and family_of(submission.backend).rents

    async def admit(self, jobs: Sequence[Submission], run: NewRun | RunRecord) -> Admitted:
        """Store the jobs of a run; on a cloud each gets its machines when its turn comes.

        Raises why one of them, which may go nowhere else, cannot have any. Jobs of a run that is no
        pipeline are alike, so one of them is looked at.
        """
        asked = len(jobs) if run.pipeline else 1
        due = [await self._in_turn(job, asks=rank < asked) for rank, job in enumerate(jobs)]
        return await self.store(due, run)

    async def _in_turn(self, job: Submission, *, asks: bool) -> Submission:
        if not family_of(job.backend).rents:
            return job
        job = replace(job, prefer=job.prefer or Prefer.ORDER)
        if job.candidates:
            return job
        if job.deadline is not None:
            raise UsageError(
                "a pipeline, a search, or a run that is submitted again cannot keep a deadline on"
                f" {job.backend} alone",
                field="options.deadline",
                hint="add a place of your own to --on, or leave out the deadline",
            )
        if asks:
            await self.offer(job)
        return replace(job, labels={**job.labels, **place_label(job.backend)})

    async def offer(self, submission: Submission) -> tuple[Machines, Chosen]:
        """The machines of a job, and the first offer for them; raises why there is none."""
        submission, places = in_one(submission)
        name, machines = await self._machines(submission)
        machines = among(machines, places)
        wanted = Launch(name, submission.backend, machines.nodes, machines.resources)
        return machines, await self.clusters.offered(wanted)

    async def _machines(self, submission: Submission) -> tuple[str, Machines]:
        """What is to be rented for each job of a submission, and what it is for."""
        first = elements(submission)[0] if submission.is_run else submission
        backend = self.registry.get(submission.backend)
        prepared = await prepare(first, backend)
        capabilities.release(backend, prepared.port)
        source, _ = parted(prepared.objects)
        task, jobset = task_of(source or {}), prepared.jobset
        name = prepared.name if prepared.name[:1].isalpha() else ""
        if task is not None:
            machines = machines_of_task(task)
        elif source is not None and type_of(source) == TASK_TYPE:
            machines = machines_of_group(source, machines_of(source, jobset))
        else:
            machines = machines_of(source or jobset, jobset, prepared.companions)
        return name, as_spot(machines) if submission.use_spot else machines


def described(chosen: Chosen) -> str:
    """An offer as a sentence for those who choose between places."""
    spot = " as spot" if chosen.spot else ""
    where = "/".join(part for part in (chosen.cloud, chosen.region, chosen.zone) if part)
    machines = counted(chosen.nodes, "machine")
    return f"{machines} ({chosen.instance_type}) can be rented{spot} at {where} in a few minutes"
