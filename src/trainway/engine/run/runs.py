"""Runs: several jobs of one submission, listed, shown, ended and submitted again as one."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

from trainway.engine.admission import Admitted
from trainway.engine.costs.account import anew, new_account, part, root_of
from trainway.engine.costs.budget import JobBudget
from trainway.engine.costs.run_budgets import refuse_spent
from trainway.engine.idempotency import identified
from trainway.engine.job_filter import Filter
from trainway.engine.ledger import Ledger
from trainway.engine.live import LiveJob
from trainway.engine.metrics.reading import MetricReading
from trainway.engine.phases import Phase
from trainway.engine.reading import Page, Reading
from trainway.engine.record import JobRecord
from trainway.engine.run.pipeline import Pipeline, to_rerun
from trainway.engine.run.record import NewRun, RunRecord, phase_of
from trainway.engine.run.search import Search, first_trials, search_view
from trainway.engine.run.searches import Admit, SearchContext, Searches
from trainway.engine.submission import Submission, suffixed
from trainway.engine.view import API_VERSION
from trainway.engine.wishes import PRUNED
from trainway.errors import ConflictError, NotFoundError
from trainway.jobset.labels import ACCOUNT, TASK
from trainway.json_types import Json
from trainway.optimization.decision import COMPLETE
from trainway.optimization.trial import best
from trainway.sweep.parameter import MOST_TRIALS

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
    admit: Admit
    metrics: MetricReading


@dataclass(frozen=True)
class Rerun:
    """What was submitted again."""

    run: Json
    """The run that the jobs belong to, with all of its jobs."""
    jobs: list[Json]
    """The new ones, in short."""
    warnings: list[str]


class Runs:
    """All runs of one server."""

    def __init__(self, around: RunContext) -> None:
        self._around = around
        self._ledger = around.ledger
        self._store = around.ledger.store
        self._pen = asyncio.Lock()
        """Held while jobs are replaced, so that nobody replaces the same ones meanwhile."""
        self.searches = Searches(
            SearchContext(around.ledger, around.live, around.metrics, around.again, around.admit)
        )

    @property
    def is_idle(self) -> bool:
        """Whether no search goes on."""
        return self.searches.is_idle

    async def search(self, submission: Submission) -> tuple[list[Json], list[str]]:
        """Begin a search: its first trials, in short, and what its owner should know."""
        trials, new = first_trials(identified(submission), suffixed(""))
        admitted = await self._around.admit(trials, new)
        run = await self._ledger.call(self._store.runs.get, admitted.records[0].run or "")
        if run.outcome is None:
            self.searches.add(run)
        jobs = [self._around.reading.summary(record) for record in admitted.records]
        return jobs, admitted.warnings

    async def proceed(self, ref: str, more: int) -> Json:
        """Let a search have so many more trials, whether it has ended or not."""
        run = await self._ledger.call(self._store.runs.get, ref)
        if run.search is None:
            raise ConflictError(f"the run {run.name} is not a search")
        refuse_spent(run)
        search = Search.stored(run.search)
        search = replace(search, trials=search.trials + more)
        if search.trials > MOST_TRIALS:
            raise ConflictError(f"a search has {MOST_TRIALS} trials at most")
        size = search.study(run.name).size
        if size <= run.size:
            raise ConflictError(f"all {size} combinations of {run.name} are tried already")
        run = replace(run, search=search.text(), size=size, outcome=None)
        await self._ledger.write_run(run)
        self.searches.add(run)
        return await self._shown(run, await self._jobs(run))

    async def page(
        self, limit: int, *, cursor: str = "", name: str = "", pipelines: bool = False
    ) -> Page:
        """Runs, newest first; only pipelines, if that is wanted."""
        found = await self._ledger.call(
            self._store.runs.page, limit + 1, before=cursor, name=name, pipelines=pipelines
        )
        shown = found[:limit]
        items = await self._listed(shown)
        return Page(items, shown[-1].id if len(found) > limit else None)

    async def several(self, ids: Collection[str]) -> dict[str, Json]:
        """Runs by their ids, without their jobs."""
        found = await self._ledger.call(self._store.runs.several, ids)
        return {run.id: view for run, view in zip(found, await self._listed(found), strict=True)}

    async def _listed(self, runs: Sequence[RunRecord]) -> list[Json]:
        counts = await self._ledger.call(self._store.runs.counts, [run.id for run in runs])
        return [_view(run, counts.get(run.id, {}), {}, self.searches.waiting(run)) for run in runs]

    async def get(self, ref: str) -> Json:
        """A run, and its jobs in short, by rank."""
        run = await self._ledger.call(self._store.runs.get, ref)
        return await self._shown(run, await self._jobs(run))

    async def cancel(self, ref: str) -> Json:
        """End all jobs of a run that are not over."""
        run = await self._ledger.call(self._store.runs.get, ref)
        was_open = await self.searches.end(run)
        run = await self._ledger.call(self._store.runs.get, run.id)
        left = [job.id for job in await self._jobs(run) if not job.is_over]
        if not left and not was_open:
            raise ConflictError(f"all jobs of the run {run.name} have already ended")
        await self._cancel(left)
        return await self._shown(run, await self._jobs(run))

    async def delete(self, ref: str, *, force: bool = False) -> list[Json]:
        """End all jobs of a run, wait until nothing of them is left, and forget them."""
        run = await self._ledger.call(self._store.runs.get, ref)
        await self.searches.end(run)
        ids = await self._ledger.call(self._store.runs.all_jobs, run.id)
        await self._cancel(ids)
        gone: list[Json] = []
        for id_ in ids:
            try:
                gone.append(await self._around.delete(id_, force=force))
            except NotFoundError:  # somebody else was faster
                continue
        return gone

    async def rerun(self, ref: str) -> Rerun:
        """Submit all jobs of a run again, as a new run of that name."""
        run = await self._ledger.call(self._store.runs.get, ref)
        jobs = await self._jobs(run)
        if run.pipeline and len(jobs) < run.size:
            raise ConflictError(f"jobs of the pipeline {run.name} were deleted",
                                hint="submit its file again")  # fmt: skip
        is_charged = any(ACCOUNT in job.label_map for job in jobs)
        account = new_account() if is_charged else ""
        again = [
            part(await self._around.again(job), account, str(rank)) for rank, job in enumerate(jobs)
        ]
        budget = anew(run.budget, account)
        new = NewRun(run.name, run.parallel, pipeline=run.pipeline, budget=budget)
        admitted = await self._around.admit(again, new)
        run = await self._ledger.call(self._store.runs.get, admitted.records[0].run or "")
        return await self._rerun(run, [], admitted)

    async def replace(self, ref: str, phases: Collection[Phase]) -> Rerun:
        """Submit those jobs of a run again that ended so, each in its place."""
        async with self._pen:
            run = await self._ledger.call(self._store.runs.get, ref)
            all_jobs = await self._jobs(run)
            jobs = [job for job in all_jobs if _is_to_replace(job, phases)]
            if not jobs:
                wanted = " or ".join(sorted(phases))
                raise ConflictError(f"no job of the run {run.name} has the phase {wanted}")
            return await self._replaced(run, all_jobs, jobs)

    async def replace_from(self, ref: str, task: str) -> Rerun:
        """Submit a task of a pipeline and all that come after it again, each in its place."""
        async with self._pen:
            run = await self._ledger.call(self._store.runs.get, ref)
            if run.pipeline is None:
                raise ConflictError(f"the run {run.name} is not a pipeline")
            all_jobs = await self._jobs(run)
            phases = {name: job.phase for name, job in _by_task(all_jobs).items()}
            again = to_rerun(Pipeline.stored(run.pipeline), phases, task)
            jobs = [job for job in all_jobs if job.label_map.get(TASK) in again]
            return await self._replaced(run, all_jobs, jobs)

    async def _replaced(
        self, run: RunRecord, all_jobs: Sequence[JobRecord], jobs: Sequence[JobRecord]
    ) -> Rerun:
        """Submit some of the jobs of a run again, each in its place."""
        refuse_spent(run)
        kept = {name: job.id for name, job in _by_task(all_jobs).items()}
        again = [replace(_in_place(await self._around.again(job), job), kept=kept) for job in jobs]
        async with self._reopened(run):
            admitted = await self._around.admit(again, run)
        others = [job for job in all_jobs if job not in jobs]
        return await self._rerun(run, others, admitted)

    @asynccontextmanager
    async def _reopened(self, run: RunRecord) -> AsyncIterator[None]:
        """Let a search that has ended, and that nobody cancelled, judge its new trials.

        Before they are there: if this server is killed meanwhile, the next one finds it open.
        """
        ended = json.loads(run.outcome) if run.search and run.outcome else None
        if ended is None or _search_phase(ended) is Phase.CANCELLED:
            yield
            return
        again = replace(run, outcome=None)
        await self._ledger.write_run(again)
        try:
            yield
        finally:
            self.searches.add(again)

    async def _rerun(
        self, run: RunRecord, others: Sequence[JobRecord], admitted: Admitted
    ) -> Rerun:
        """The answer; what is stored already is not asked for, since that could fail."""
        shown = await self._shown(run, sorted([*others, *admitted.records], key=_place))
        new = [self._around.reading.summary(record) for record in admitted.records]
        return Rerun(shown, new, admitted.warnings)

    async def _found(self, run: RunRecord) -> Mapping[str, Any]:
        """What a search is, and the best it has found."""
        if run.search is None:
            return {}
        search = Search.stored(run.search)
        study = search.study(run.name)
        trials = await self.searches.trials(run, replace(study, pruning=None))
        return search_view(search, study, best(trials, maximize=study.maximize))

    async def _cancel(self, ids: Sequence[str]) -> None:
        lives = [self._around.live[id_] for id_ in ids if id_ in self._around.live]
        await self._around.cancel(lives)

    async def _jobs(self, run: RunRecord) -> list[JobRecord]:
        wanted = Filter(run=run.id)
        found = await self._ledger.call(self._store.page, wanted, run.size, summary=True)
        return sorted(found, key=_place)

    async def _shown(self, run: RunRecord, jobs: Sequence[JobRecord]) -> Json:
        counts: dict[str, int] = {}
        for job in jobs:
            counts[job.phase] = counts.get(job.phase, 0) + 1
        view = _view(run, counts, await self._found(run), self.searches.waiting(run))
        account = root_of(jobs[0].label_map.get(ACCOUNT, "")) if jobs else ""
        view["status"] |= {"usage": await self._ledger.charge(account)} if account else {}
        return {
            **view,
            "jobs": [self._around.reading.summary(job) for job in jobs],
        }


def _place(job: JobRecord) -> str:
    """What the jobs of a run are sorted by: the first job that had the place of each."""
    return job.place or job.id


def _by_task(jobs: Sequence[JobRecord]) -> dict[str, JobRecord]:
    """The jobs of a pipeline by their tasks; those of other runs have none."""
    named = ((job.label_map.get(TASK), job) for job in jobs)
    return {name: job for name, job in named if name is not None}


def _is_to_replace(job: JobRecord, phases: Collection[Phase]) -> bool:
    """Whether a job ended so; a trial that its search has stopped ended as it should."""
    return job.phase in phases and job.reason != PRUNED


def _in_place(submission: Submission, job: JobRecord) -> Submission:
    """The submission of who takes the place of a job; the key lets a job be replaced once."""
    account = root_of(job.label_map.get(ACCOUNT, ""))
    submission = part(submission, account, f"after-{job.id}")
    return replace(submission, place=_place(job), key=f"replacement/{job.id}")


def _view(
    run: RunRecord, counts: dict[str, int], search: Mapping[str, Any], waiting: str | None
) -> Json:
    phase: Phase = phase_of(counts)
    told: Json = {}
    if run.search is not None:
        end = json.loads(run.outcome) if run.outcome else None
        told, phase = {"search": end, "waiting": waiting}, _search_phase(end)
    if budget := JobBudget.of(run.budget):
        told["budget"] = {**budget.view(), "ended": budget.ended or None}
    more: Json = {"search": dict(search)} if search else {}
    if run.pipeline:
        more["pipeline"] = {"tasks": Pipeline.stored(run.pipeline).view()}
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {"id": run.id, "name": run.name, "creationTimestamp": run.created},
        "spec": {"backend": run.backend, "jobs": run.size, "parallel": run.parallel},
        "status": {"phase": phase, "phases": counts, **told},
        **more,
    }


def _search_phase(end: Json | None) -> Phase:
    """The phase of a run that is a search: trials may fail, and it succeeds."""
    if end is None:
        return Phase.RUNNING
    phases = {COMPLETE: Phase.SUCCEEDED, "Cancelled": Phase.CANCELLED}
    return phases.get(end["type"], Phase.FAILED)
