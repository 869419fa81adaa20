"""The tasks of a pipeline as jobs of their own: what was submitted as one becomes a run.

Apart from `intake`, since reading a task brings the compiler along.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from trainway.api.task import pipeline, task_object
from trainway.api.task.recovery import strategy_name
from trainway.api.task.task import Task
from trainway.api.task.task_file import SERIAL
from trainway.api.task.task_inputs import input_place
from trainway.api.task.task_object import TaskJob
from trainway.api.task.task_parts import parts, with_outputs
from trainway.backends.base import Backend, Isolation, isolation_of
from trainway.backends.capabilities import SharesOutput
from trainway.compiler.task_files import PLACE
from trainway.compiler.task_pods import names_of
from trainway.engine.placement.offer import Prefer
from trainway.engine.run.pipeline import Pipeline
from trainway.engine.submission import TASK_TYPE, Submission, name_of, parted, type_of
from trainway.errors import InvalidError, UsageError
from trainway.families.family import Files, Runs
from trainway.families.table import family_of
from trainway.jobset.labels import TASK
from trainway.json_types import Json
from trainway.schema.field import path_text
from trainway.sweep.parameter import MOST_TRIALS

_NO_DEADLINE: Final[Json] = {"deadline": None, "work": None, "sure": ""}
"""A task that cannot move keeps no deadline; it runs at the sure place."""
_LONGEST: Final = 63
"""So long may a label be, and a job has its task as one."""


def tasks_of(submission: Submission) -> list[Submission]:
    """The submissions of the tasks, in the order of the file; InvalidError says why not."""
    if submission.num_jobs is not None or submission.parameters is not None:
        raise UsageError("a pipeline is run once", field="options.pipeline",
                         hint="leave out num_jobs and parameters")  # fmt: skip
    _, job, _ = _read(submission)
    titles = pipeline.titles(job.file.tasks)
    wrong = [name for name in submission.placement if name not in titles]
    if wrong:
        raise UsageError(f"there is no task {wrong[0]}", field="options.placement")
    places = {str(each["backend"]): each for each in (_own(submission), *submission.candidates)}
    made = {name: _parts(submission, each["objects"]) for name, each in places.items()}
    if any(len(parts_there) != len(titles) for parts_there in made.values()):
        raise UsageError("the places have pipelines of their own", field="options.candidates",
                         hint="send the same tasks for each place")  # fmt: skip
    tasks, order = [], Pipeline(pipeline.dependencies(job.file.tasks))
    for rank, title in enumerate(titles):
        named, prefer = _places(submission, title, list(places))
        if is_bound := submission.deadline is not None and _is_bound(submission, made, rank):
            named = [name for name in named if name == submission.sure] or named
        first, *rest = [{**places[name], "objects": made[name][rank]} for name in named]
        task = replace(
            submission,
            objects=first["objects"],
            backend=first["backend"],
            kubeconfig=tuple(first.get("kubeconfig") or ()),
            environ=first.get("environ") or {},
            name="",
            labels={**submission.labels, TASK: title},
            pipeline=False,
            parallel=None,
            placement={},
            candidates=rest,
            prefer=prefer if rest else "",
            recovery_strategy=_strategy(submission, job.file.tasks[rank], first["objects"]),
        )
        if submission.deadline is not None:
            stage = order.stage(title)
            task = replace(task, **_NO_DEADLINE) if is_bound else replace(task, stage=stage)
        tasks.append(task)
    return tasks


def _is_bound(submission: Submission, made: Mapping[str, list[list[Json]]], rank: int) -> bool:
    """Whether a task stays where it began, since what it reads was brought there."""
    objects = made[submission.backend][rank]
    return bool(outputs_read(objects)) and not _is_here(submission)


def _strategy(submission: Submission, task: Task, objects: Sequence[Json]) -> str | None:
    """What follows when the place of a task is lost: what is asked of all, or of it itself.

    One that reads what others have written stays where that has been brought.
    """
    if outputs_read(objects) and not _is_here(submission):
        return None
    return submission.recovery_strategy or strategy_name(task.recovery)


def _own(submission: Submission) -> Json:
    """The place that a submission is for, as one of those that its tasks may go to."""
    common = {"backend": submission.backend, "objects": submission.objects}
    files, environ = list(submission.kubeconfig), dict(submission.environ)
    return {**common, "kubeconfig": files, "environ": environ}


def _parts(submission: Submission, objects: Sequence[Json]) -> list[list[Json]]:
    """The objects of each task, as they were made for a place."""
    obj, job, others = _read(replace(submission, objects=objects))
    return parts(obj, job, others, names_of(job.file.tasks))


def _places(submission: Submission, task: str, known: Sequence[str]) -> tuple[list[str], str]:
    """Where a task may run, and what counts between these places."""
    wanted = submission.placement.get(task)
    if wanted is None:
        return list(known), Prefer.ORDER
    places = [str(place) for place in wanted["places"]]
    missing = [place for place in places if place not in known]
    if missing:
        raise UsageError(f"the pipeline was not sent for {missing[0]}",
                         field=f"options.placement.{task}")  # fmt: skip
    return places, str(wanted["prefer"])


def pipeline_of(submission: Submission) -> Pipeline:
    """The tasks of a submission, and their order."""
    _, job, _ = _read(submission)
    return Pipeline(pipeline.dependencies(job.file.tasks))


def _read(submission: Submission) -> tuple[Json, TaskJob, list[Json]]:
    obj, others = parted(submission.objects)
    if obj is None or type_of(obj) != TASK_TYPE:
        raise UsageError("only a file of tasks can be a pipeline", field="options.pipeline")
    name = name_of(submission)
    job, errors = task_object.read(
        {**obj, "metadata": {**(obj.get("metadata") or {}), "name": name}}
    )
    if job is None:
        raise InvalidError([f"Task/{name}: {error}" for error in errors])
    if job.file.execution != SERIAL:
        raise UsageError("there is one task, or they run in parallel", field="options.pipeline")
    if len(job.file.tasks) > MOST_TRIALS:
        raise UsageError(f"a pipeline has {MOST_TRIALS} tasks at most", field="options.pipeline")
    long = [name for name in pipeline.titles(job.file.tasks) if len(name) > _LONGEST]
    if long:
        told = f"a task of a pipeline has a name of {_LONGEST} characters at most"
        raise InvalidError([f"Task/{name}: name: {told}: {long[0]}"])
    return obj, job, others


def linked(
    submissions: Sequence[Submission], ids: Sequence[str], backends: Sequence[Backend]
) -> list[Submission]:
    """The submissions of tasks that will have these ids, told where the outputs they read are.

    On this machine all outputs are where the server has them. To another place they are sent when
    the turn of the task comes, so such a task has no place before.
    """
    new = {item.labels[TASK]: id_ for item, id_ in zip(submissions, ids, strict=True)}
    sources = {item.labels[TASK]: _all_places(item) for item in submissions}
    made, problems = [], []
    for item, backend in zip(submissions, backends, strict=True):
        known = {**item.kept, **new}
        found: dict[str, str] = {}
        for path, task in _references(item.objects):
            problem = "its job was deleted" if task not in known else ""
            problem = problem or _unread(item) or _unkept(sources.get(task, ()))
            if problem:
                problems.append(f"{item.labels[TASK]}: {path}: ${{tasks.{task}.output}}: {problem}")
            elif isinstance(backend, SharesOutput) and _is_here(item):
                found[task] = backend.shared_output(known[task])
            else:
                found[task] = f"{PLACE}/{input_place(task)}"
        if found and not _is_here(item):
            item = replace(item, prefer=item.prefer or Prefer.ORDER)  # noqa: PLW2901 - the same one
        made.append(replace(item, objects=with_outputs(item.objects, found)))
    if problems:
        raise InvalidError(
            problems, hint="write it to a place that both tasks can read, such as a volume"
        )
    return made


def why_not_there(tasks: Sequence[Submission], name: str) -> str:
    """Why a task of a pipeline cannot be where it is, for what it or others read; empty: it can."""
    (task,) = (each for each in tasks if each.labels[TASK] == name)
    is_read = any(name in outputs_read(each.objects) for each in tasks)
    reads = _unread(task) if outputs_read(task.objects) else ""
    return reads or (_unkept([task.backend]) if is_read else "")


def outputs_read(objects: Sequence[Json]) -> list[str]:
    """The tasks whose outputs the objects of a task read."""
    return list(dict.fromkeys(name for _, name in _references(objects)))


def _references(objects: Sequence[Json]) -> list[tuple[str, str]]:
    """Whose outputs a task reads, and in which fields."""
    obj, _ = parted(objects)
    if not pipeline.may_read(obj):  # most tasks read none, and to parse each anew takes its time
        return []
    job, _ = task_object.read(obj or {})
    tasks = job.file.tasks if job is not None else ()  # the compiler will say what is wrong
    return [(path_text(path), name) for task in tasks for path, name in pipeline.references(task)]


def _all_places(submission: Submission) -> list[str]:
    """Every place that a task may go to."""
    return [submission.backend, *(str(each["backend"]) for each in submission.candidates)]


def _is_here(submission: Submission) -> bool:
    return all(family_of(place).files is Files.HERE for place in _all_places(submission))


def _unread(submission: Submission) -> str:
    """Why a task cannot read what another has written; empty: it can."""
    obj, _ = parted(submission.objects)
    isolation = isolation_of(obj or {})
    if Isolation.CONTAINER in (isolation, submission.isolation):
        return "a task in a container does not see the files of another job"
    pods = _in_pods(_all_places(submission))
    return f"jobs on {pods[0]} do not see the files of other jobs" if pods else ""


def _unkept(places: Sequence[str]) -> str:
    """Why the output of a task that may run in these places cannot be had; empty: it can."""
    pods = _in_pods(places)
    return f"what a task writes on {pods[0]} is deleted with its pods" if pods else ""


def _in_pods(places: Sequence[str]) -> list[str]:
    return [place for place in places if family_of(place).runs is not Runs.PROCESSES]
