"""Takes submissions in: what a job is made of is compiled, checked and recorded, and nothing sent.

The jobs of an array come as one submission, and are taken all or none.
"""

import asyncio
import hashlib
import json
import os
import stat
import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Final

from trainway.backends import capabilities
from trainway.backends.base import ArrayPlace, Backend, Request, Workload
from trainway.engine.array import placed
from trainway.engine.costs.account import job_budget, one_of_several, part, run_budget
from trainway.engine.errors import UnfittingJobError
from trainway.engine.export.terms import export_column
from trainway.engine.ids import Ids
from trainway.engine.job_size import check_array
from trainway.engine.moving.recovery_terms import recovery_of
from trainway.engine.observation import Observation
from trainway.engine.queue import never_fits
from trainway.engine.queues.entry import queue_of, with_grace
from trainway.engine.record import Event, JobRecord, JobSpec, stored
from trainway.engine.run.record import NewRun, RunRecord
from trainway.engine.storage.folder_check import rehearse
from trainway.engine.submission import JOB_TYPES, Prepared, Submission, name_of, parted, type_of
from trainway.engine.times import time_text
from trainway.engine.worker_pool.job import without_setup
from trainway.errors import InvalidError, UsageError
from trainway.jobset.job_remarks import remarks_of
from trainway.jobset.labels import ACCOUNT
from trainway.json_types import Json
from trainway.queueing.queue_policy import QueuePolicy
from trainway.sweep.parameter import MOST_TRIALS, check_names, check_value
from trainway.sweep.placeholders import parameters_of
from trainway.sweep.ranks import ranked, trial

_SHOWN: Final = 200
"""How many characters of a path that is wrong are shown."""
_KEPT_ENVIRONMENT: Final = ("HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TMPDIR", "TZ", "USER")
"""What a job gets of the server's own environment if its submitter gave none."""


@dataclass(frozen=True)
class NewJob:
    """A job that is to be stored."""

    record: JobRecord
    spec: JobSpec
    event: Event
    prepared: Prepared
    backend: Backend
    run: RunRecord | None = None
    """The run that it comes with."""
    more: tuple[Event, ...] = ()
    """What else happens to it as it is stored."""


@dataclass(frozen=True)
class Intake:
    """Makes jobs of submissions."""

    ids: Ids
    clock: Callable[[], datetime]
    label: Callable[[Prepared, str], Awaitable[Prepared]]
    """Gives a job the labels that its backend, of that name, wants on it."""
    check_notify: Callable[[Iterable[str]], list[str]] = list
    """Refuses whom a job cannot notify."""
    admitting: Callable[[str, bool], QueuePolicy] = lambda name, _: QueuePolicy(name)
    """Gives the queue of that name; refuses where it takes in no jobs, unless one sets up."""

    async def take(
        self,
        submissions: Sequence[Submission],
        backends: Sequence[Backend],
        run: NewRun | RunRecord | None,
    ) -> list[NewJob]:
        """The jobs of one request; the backend of each was asked whether it would take it."""
        workdir = _workdir(submissions[0].workdir)
        self.check_notify(submissions[0].notify)
        for backend in {id(each): each for each in backends}.values():
            await capabilities.look(backend)
        made: list[NewJob] = []
        ports: list[tuple[Backend, int]] = []
        record = run if isinstance(run, RunRecord) else None
        ids = [self.ids.new() for _ in submissions]
        if run is not None and run.pipeline:
            from trainway.engine.run.tasks import linked  # noqa: PLC0415 - it loads the compiler

            submissions = linked(submissions, ids, backends)
        try:
            for rank, (submission, backend) in enumerate(zip(submissions, backends, strict=True)):
                prepared = await prepare(submission, backend)
                ports.append((backend, prepared.port))
                policy = self.admitting(queue_of(submission, prepared), submission.sets_up)
                prepared = with_grace(prepared, policy)
                if rank == 0:
                    _check_array(prepared, len(submissions), backend)
                refuse_unfitting(prepared, submission, backend)
                new, array = ids[rank], ids[0]
                is_array = isinstance(run, NewRun) and run.is_array
                place = ArrayPlace(array, rank, len(submissions)) if is_array else None
                workload = _workload(new, prepared, submission, workdir, place)
                request = backend.plan(workload)
                if rank == 0 or (run is not None and run.pipeline):
                    await rehearse(backend, request, prepared.objects)
                if isinstance(run, NewRun):
                    record = record or self._run(run, array, len(submissions), backend)
                labels = placed(prepared.labels, place, run.name if run else "")
                prepared = await self.label(replace(prepared, labels=labels), backend.name)
                made.append(self._job(submission, prepared, workload, backend, request, record))
        except BaseException:
            for backend, port in ports:
                capabilities.release(backend, port)
            raise
        return made

    async def plan(
        self, submission: Submission, backend: Backend, count: int | None
    ) -> tuple[Request, list[str]]:
        """What would be sent for the first of `count` jobs, and what their owner should know."""
        workdir = _workdir(submission.workdir)
        self.check_notify(submission.notify)
        await capabilities.look(backend)
        prepared = await prepare(submission, backend)
        capabilities.release(backend, prepared.port)
        policy = self.admitting(queue_of(submission, prepared), submission.sets_up)
        prepared = with_grace(prepared, policy)
        _check_array(prepared, count or 1, backend)
        new = self.ids.new()
        place = ArrayPlace(new, 0, count) if count else None
        workload = _workload(new, prepared, submission, workdir, place)
        return backend.plan(workload), prepared.warnings

    def _run(self, run: NewRun, first: str, count: int, backend: Backend) -> RunRecord:
        return RunRecord(
            id=first,
            name=run.name,
            backend=backend.name,
            created=time_text(self.clock()),
            size=run.size or count,
            parallel=run.parallel,
            search=run.search,
            template=run.template,
            pipeline=run.pipeline,
            budget=run.budget,
        )

    def _job(
        self,
        submission: Submission,
        prepared: Prepared,
        workload: Workload,
        backend: Backend,
        request: Request,
        run: RunRecord | None,
    ) -> NewJob:
        handle = request.handle
        now = time_text(self.clock())
        columns = {
            "labels": dict(prepared.labels),
            "handle": handle,
            "demand": prepared.demand.to_dict(),
            "observed": Observation.planned(prepared.jobset["spec"]).to_dict(),
        }
        parameters = parameters_of(parted(prepared.objects)[0])
        if parameters:
            columns["parameters"] = parameters
        remarks, problems = remarks_of(parted(prepared.objects)[0])
        if problems:
            raise InvalidError([f"{prepared.kind}/{prepared.name}: {each}" for each in problems])
        columns |= remarks
        record = JobRecord(
            id=handle["id"],
            name=prepared.name,
            namespace=prepared.namespace,
            kind=prepared.kind,
            backend=backend.name,
            priority=submission.priority,
            oversubscribe=submission.oversubscribe,
            workdir=workload.workdir,
            created=now,
            deadline_seconds=None if handle.get("deadline") else prepared.deadline_seconds,
            ttl_seconds=prepared.ttl_seconds,
            idempotency_key=submission.key or None,
            request_digest=submission.digest or None,
            candidates=_candidates(submission, now),
            recovery=recovery_of(submission, prepared.objects, backend.name, self.clock()),
            export=export_column(prepared.objects, backend, handle, prepared.name if run else ""),
            notify=json.dumps(list(submission.notify)) if submission.notify else None,
            budget=job_budget(submission),
            run=run.id if run else None,
            place=submission.place or None,
            queue=queue_of(submission, prepared),
            **stored(columns),
        )
        environ = dict(submission.environ) or own_environment(os.environ, sys.executable)
        spec = JobSpec(prepared.objects, environ, prepared.jobset, prepared.companions)
        said = f"{prepared.kind} {prepared.name} was submitted"
        event = Event(now, "Normal", "Created", said, f"job/{record.name}")
        return NewJob(record, spec, event, prepared, backend, run)


def _candidates(submission: Submission, now: str) -> str | None:
    """The other places that a job may go to, as its record has them."""
    if not submission.candidates and not submission.prefer:
        return None
    told = {"rest": list(submission.candidates), "max_wait_s": submission.max_wait, "since": now}
    return json.dumps(told | ({"prefer": submission.prefer} if submission.prefer else {}))


def elements(submission: Submission) -> list[Submission]:
    """The submissions of the jobs of a run, by rank; each has a key of its own."""
    account = submission.labels.get(ACCOUNT, "")
    one = one_of_several(submission)
    if submission.pipeline:
        from trainway.engine.run.tasks import tasks_of  # noqa: PLC0415 - it loads the compiler

        tasks = [part(task, account, str(rank)) for rank, task in enumerate(tasks_of(one))]
        return [replace(task, key=_key(submission.key, rank)) for rank, task in enumerate(tasks)]
    count = _count(submission)
    name = name_of(submission)
    return [
        replace(
            part(one, account, str(rank)),
            objects=_trial(submission, submission.objects, rank, count),
            candidates=_trial_places(submission, f"{name}-{rank}" if name else "", rank, count),
            name=f"{name}-{rank}" if name else "",
            key=_key(submission.key, rank),
            num_jobs=None,
            parameters=None,
            parallel=None,
        )
        for rank in range(count)
    ]


def run_of(submission: Submission, jobs: Sequence[Submission]) -> NewRun:
    """The run that these jobs of a submission are."""
    parallel = submission.parallel
    if submission.pipeline:
        from trainway.engine.run.tasks import pipeline_of  # noqa: PLC0415 - as above

        order = pipeline_of(submission).text()
        return NewRun(name_of(submission), parallel, pipeline=order, budget=run_budget(submission))
    is_free = parallel is None or parallel >= len(jobs)
    stays = not submission.candidates and submission.recovery_strategy is None
    is_array = is_free and stays and submission.parameters is None
    name = jobs[0].name.removesuffix("-0")
    return NewRun(name, parallel, is_array, budget=run_budget(submission))


def _count(submission: Submission) -> int:
    """How many jobs; a UsageError if they cannot be a run."""
    trials = submission.parameters
    if trials is not None and submission.num_jobs is not None:
        raise UsageError("a run has num_jobs or parameters, not both", field="options.parameters")
    field = "options.num_jobs" if trials is None else "options.parameters"
    count = (submission.num_jobs or 1) if trials is None else len(trials)
    if count > MOST_TRIALS:
        raise UsageError(
            f"{count} jobs are too many for one submission, which has {MOST_TRIALS} at most",
            field=field,
        )
    if not count:
        raise UsageError("there are no parameters", field=field)
    for assignment in trials or ():
        check_names(assignment)
        for name, value in assignment.items():
            check_value(name, value)
    return count


def _trial_places(submission: Submission, name: str, rank: int, count: int) -> list[Json]:
    """The other places of one of the jobs, for which it has its name already."""
    places = []
    for place in submission.candidates:
        objects = _trial(submission, place["objects"], rank, count)
        places.append({**place, "objects": [_named(obj, name) for obj in objects]})
    return places


def _named(obj: Json, name: str) -> Json:
    if not name or type_of(obj) not in JOB_TYPES or not isinstance(obj.get("metadata"), dict):
        return obj
    return {**obj, "metadata": {**obj["metadata"], "name": name}}


def _trial(submission: Submission, objects: Sequence[Json], rank: int, count: int) -> list[Json]:
    """The objects of one of the jobs."""
    if submission.parameters is None:
        return ranked(objects, rank, count)
    return trial(
        objects,
        rank,
        count,
        submission.parameters[rank],
        is_job=lambda obj: type_of(obj) in JOB_TYPES,
        placeholders=submission.placeholders,
    )


def _key(key: str, rank: int) -> str:
    """The first job has the key of the request; the others one that follows from it."""
    if not key or not rank:
        return key
    return f"{hashlib.sha256(key.encode()).hexdigest()}-{rank}"


async def prepare(submission: Submission, backend: Backend) -> Prepared:
    """Compile a submission, in a thread."""
    submission, told = without_setup(submission, backend.name)
    prepared = await asyncio.to_thread(_compiled, submission, backend)
    return replace(prepared, warnings=[*prepared.warnings, *told]) if told else prepared


def _compiled(submission: Submission, backend: Backend) -> Prepared:
    # The compiler is imported with the first job: the server starts sooner without it.
    from trainway.engine.preparation import prepare as compiled  # noqa: PLC0415 - see above

    return compiled(submission, backend)


def _check_array(prepared: Prepared, count: int, backend: Backend) -> None:
    if count > 1:
        job, _ = parted(prepared.objects)
        check_array(job or {}, prepared.jobset["spec"], count, backend)


def refuse_unfitting(prepared: Prepared, submission: Submission, backend: Backend) -> None:
    """Raise for a gang that the whole machine has no room for."""
    if submission.oversubscribe or backend.schedules:
        return
    never = never_fits(prepared.demand, capabilities.capacity(backend))
    if never:
        raise UnfittingJobError(
            f"{prepared.name} can never start: it needs {never}",
            hint="request less, or run it anyway with --oversubscribe",
        )


def _workload(
    job_id: str,
    prepared: Prepared,
    submission: Submission,
    workdir: str,
    place: ArrayPlace | None,
) -> Workload:
    source, submitted = parted(prepared.objects)
    return Workload(
        id=job_id,
        name=prepared.name,
        namespace=prepared.namespace,
        jobset=prepared.jobset,
        objects=prepared.companions,
        workdir=workdir,
        environ={},
        port=prepared.port,
        source=source,
        submitted=submitted,
        priority=submission.priority,
        oversubscribe=submission.oversubscribe,
        place=place,
    )


def _workdir(path: str) -> str:
    if not path:
        return str(Path.home())
    if not Path(path).is_absolute():
        raise UsageError(f"it is not an absolute path: {path}", field="options.workdir")
    try:
        is_there = stat.S_ISDIR(Path(path).stat().st_mode)
    except (OSError, ValueError) as error:  # a path may be too long, or none at all
        why = getattr(error, "strerror", None) or str(error)
        said = f"there is no directory {path[:_SHOWN]} here: {why}"
        raise UsageError(said, field="options.workdir") from None
    if not is_there:
        raise UsageError(f"{path[:_SHOWN]} is not a directory", field="options.workdir")
    return path


def own_environment(environ: Mapping[str, str], python: str) -> dict[str, str]:
    """What a job gets of the server's own environment, with the programs beside its Python last."""
    kept = {name: environ[name] for name in _KEPT_ENVIRONMENT if name in environ}
    path = [part for part in kept.get("PATH", os.defpath).split(os.pathsep) if part]
    beside = str(Path(python).parent)
    return {**kept, "PATH": os.pathsep.join([*path, *([] if beside in path else [beside])])}
