"""Runs: several jobs of one submission, listed, shown, ended and submitted again as one."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from trainway.engine.admission import Admitted
from trainway.engine.job_filter import Filter
from trainway.engine.ledger import Ledger
from trainway.engine.live import LiveJob
from trainway.engine.phases import Phase
from trainway.engine.reading import Page, Reading
from trainway.engine.record import JobRecord
from trainway.engine.run.record import NewRun, RunRecord, phase_of
from trainway.engine.submission import Submission
from trainway.engine.view import API_VERSION
from trainway.errors import ConflictError, NotFoundError
from trainway.json_types import Json

KIND: Final = "Run"


class Deletes(Protocol):
    """Forgets a job."""

    async def __call__(self, ref: str, *, force: bool = False) -> Json:
        """End it if it runs, and forget it."""
        ...


@dataclass(frozen=True)
class RunContext:
    """What is done with the jobs of a run."""

    ledger: Ledger
    reading: Reading
    live: Mapping[str, LiveJob]
    """The jobs that are not over."""
    cancel: Callable[[Sequence[LiveJob]], Awaitable[None]]
    """Ends them, all or none."""
    delete: Deletes
    again: Callable[[JobRecord], Awaitable[Submission]]
    """What a job was made from, to be submitted once more."""
    admit: Callable[[Sequence[Submission], NewRun], Awaitable[Admitted]]


class Runs:
    """All runs of one server."""

    def __init__(self, around: RunContext) -> None:
        self._around = around
        self._ledger = around.ledger
        self._store = around.ledger.store

    async def page(self, limit: int, *, cursor: str = "", name: str = "") -> Page:
        """Runs, newest first."""
        runs = self._store.runs
        found = await self._ledger.call(runs.page, limit + 1, before=cursor, name=name)
        shown = found[:limit]
        counts = await self._ledger.call(runs.counts, [run.id for run in shown])
        items = [_view(run, counts.get(run.id, {})) for run in shown]
        return Page(items, shown[-1].id if len(found) > limit else None)

    async def get(self, ref: str) -> Json:
        """A run, and its jobs in short, by rank."""
        run = await self._ledger.call(self._store.runs.get, ref)
        return self._shown(run, await self._jobs(run))

    async def cancel(self, ref: str) -> Json:
        """End all jobs of a run that are not over."""
        run = await self._ledger.call(self._store.runs.get, ref)
        left = [job.id for job in await self._jobs(run) if not job.is_over]
        if not left:
            raise ConflictError(f"all jobs of the run {run.name} have already ended")
        await self._cancel(left)
        return self._shown(run, await self._jobs(run))

    async def delete(self, ref: str, *, force: bool = False) -> list[Json]:
        """End all jobs of a run, wait until nothing of them is left, and forget them."""
        run = await self._ledger.call(self._store.runs.get, ref)
        jobs = await self._jobs(run)
        await self._cancel([job.id for job in jobs])
        gone: list[Json] = []
        for job in jobs:
            try:
                gone.append(await self._around.delete(job.id, force=force))
            except NotFoundError:  # somebody else was faster
                continue
        return gone

    async def rerun(self, ref: str, phases: Collection[Phase] = ()) -> tuple[Json, list[str]]:
        """Submit the jobs of a run again that ended so, as a new run of that name; none: all."""
        run = await self._ledger.call(self._store.runs.get, ref)
        jobs = [job for job in await self._jobs(run) if not phases or job.phase in phases]
        if not jobs:
            wanted = " or ".join(sorted(phase.lower() for phase in phases))
            raise ConflictError(f"no job of the run {run.name} is {wanted}")
        again = [await self._around.again(job) for job in jobs]
        admitted = await self._around.admit(again, NewRun(run.name, run.parallel))
        made = await self.of(admitted.records)
        return made, admitted.warnings

    async def of(self, records: Sequence[JobRecord]) -> Json:
        """The run of these jobs, which are all of it."""
        run = await self._ledger.call(self._store.runs.get, records[0].run or "")
        return self._shown(run, records)

    async def _cancel(self, ids: Sequence[str]) -> None:
        lives = [self._around.live[id_] for id_ in ids if id_ in self._around.live]
        await self._around.cancel(lives)

    async def _jobs(self, run: RunRecord) -> list[JobRecord]:
        wanted = Filter(run=run.id)
        found = await self._ledger.call(self._store.page, wanted, run.size, summary=True)
        return found[::-1]

    def _shown(self, run: RunRecord, jobs: Sequence[JobRecord]) -> Json:
        counts: dict[str, int] = {}
        for job in jobs:
            counts[job.phase] = counts.get(job.phase, 0) + 1
        return {**_view(run, counts), "jobs": [self._around.reading.summary(job) for job in jobs]}


def _view(run: RunRecord, counts: dict[str, int]) -> Json:
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {"id": run.id, "name": run.name, "creationTimestamp": run.created},
        "spec": {"backend": run.backend, "jobs": run.size, "parallel": run.parallel},
        "status": {"phase": phase_of(counts), "phases": counts},
    }
