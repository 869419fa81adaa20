"""Jobs that somebody is still writing: checked and compiled as if submitted, and not stored.

A page asks for this at every pause of its writer, so everything that is wrong is told at once, with
the field that it is about, and nothing is raised.
"""

import asyncio
import getpass
import os
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from trainway.api.forms.table import form_of
from trainway.api.task.task_object import Origin
from trainway.backends import capabilities
from trainway.backends.base import Backend
from trainway.backends.masking import masked_object
from trainway.backends.registry import Registry
from trainway.compiler.draft import Draft, Finding, read_draft
from trainway.counting import counted
from trainway.engine.intake import elements, prepare, refuse_unfitting
from trainway.engine.submission import (
    JOB_TYPES,
    TASK_TYPE,
    Amend,
    Prepared,
    Submission,
    parted,
    type_of,
)
from trainway.errors import DatabaseError, InvalidError, TrainwayError
from trainway.families.table import family_of
from trainway.jobset.labels import TASK, USER
from trainway.json_types import Json

__all__ = [
    "Checked",
    "checked",
    "form_of",
    "labels_here",
    "opened",
    "read",
    "replacing",
    "the_job",
]

_LONGEST_LABEL: Final = 63
_FILES_STAY: Final = (
    "the task names files of this machine, and the page cannot send them along: submit it with "
    "`trainway run`"
)


@dataclass(frozen=True)
class Checked:
    """What was found out about a draft."""

    compiled: list[Json]
    """What the backend would be given; empty where something is wrong."""
    findings: list[Finding]
    warnings: list[str]


def read(text: str) -> Draft:
    """The draft of a text that is written here."""
    return read_draft(text, origin_here())


def origin_here() -> Origin:
    """Who owns the server, which is who writes drafts."""
    try:
        user = getpass.getuser()
    except (OSError, KeyError):  # no name for the user's number
        user = str(os.getuid())
    home = str(Path.home())
    now = datetime.now(UTC).strftime("%Y-%m-%d-%H-%M-%S-%f")
    return Origin(at=now, by=user, directory=home, home=home)


def labels_here() -> dict[str, str]:
    """Who submits it, as a label, written without what no label can have."""
    fitting = re.sub("[^A-Za-z0-9._-]", "-", origin_here().by)[:_LONGEST_LABEL].strip("-._")
    return {USER: fitting} if fitting else {}


def opened(objects: Sequence[Json]) -> tuple[list[Json], list[str]]:
    """The job among the objects as somebody would write it, and the names of the others."""
    job, rest = parted(objects)
    names = [f"{obj.get('kind')}/{(obj.get('metadata') or {}).get('name')}" for obj in rest]
    if job is None:
        return [], names
    if type_of(job) != TASK_TYPE:
        return [job], names
    header = job["spec"].get("header")
    tasks = [item["task"] for item in _tasks(job)]
    return [*([header] if header else []), *tasks], names


async def checked(
    draft: Draft, registry: Registry, submitted: Callable[[], Awaitable[Submission]]
) -> Checked:
    """Everything that is wrong with a draft, which `submitted` makes a submission of."""
    if draft.findings:
        return Checked([], draft.findings, draft.warnings)
    try:
        submission = await submitted()
        if draft.brings_files and family_of(submission.backend).travels:
            raise InvalidError([_FILES_STAY])
        backend = registry.get(submission.backend, submission.kubeconfig)
        await capabilities.look(backend)
        jobs = await asyncio.to_thread(_jobs, submission, backend)
        made = [await _prepared(job, backend) for job in jobs]
    except InvalidError as error:
        findings = [draft.finding(line) for line in error.lines]
        return Checked([], _with_hint(findings, error.hint), draft.warnings)
    except DatabaseError:
        raise  # which says nothing about the draft
    except TrainwayError as error:
        name = (error.field or "").removeprefix("options.")
        return Checked([], [Finding(error.sentence, input=name)], draft.warnings)
    compiled = [obj for each in made for obj in (*each.companions, each.jobset)]
    warnings = [line for each in made for line in each.warnings]
    return Checked([masked_object(obj) for obj in compiled], [], warnings)


def _jobs(submission: Submission, backend: Backend) -> list[Submission]:
    """What is submitted of a draft: it, or the tasks of a pipeline, which have no ids yet."""
    if not submission.pipeline:
        return [submission]
    from trainway.engine.run.tasks import linked  # noqa: PLC0415 - it loads the compiler

    tasks = elements(submission)
    return linked(tasks, [task.labels[TASK] for task in tasks], [backend] * len(tasks))


async def _prepared(job: Submission, backend: Backend) -> Prepared:
    prepared = await prepare(job, backend)
    capabilities.release(backend, prepared.port)
    await asyncio.to_thread(refuse_unfitting, prepared, job, backend)
    return prepared


def the_job(draft: Draft) -> Json:
    """The one job of a draft, which has nothing beside it; InvalidError if it has."""
    if len(draft.objects) != 1 or type_of(draft.objects[0]) not in JOB_TYPES:
        raise InvalidError(
            ["leave one job here: whatever else it was submitted with goes along as it was"]
        )
    return draft.objects[0]


def replacing(job: Json) -> Amend:
    """Puts another job in the place of one that is submitted again.

    A task keeps what its text does not have: its secrets, its files, and where it came from.
    """

    def amend(before: Json) -> Json:
        if type_of(before) != TASK_TYPE or type_of(job) != TASK_TYPE:
            return job
        old, new = _tasks(before), _tasks(job)
        if len(old) != len(new):
            raise InvalidError([f"it had {counted(len(old), 'task')}, and now it has {len(new)}"])
        tasks = [
            {**item, "secrets": was.get("secrets") or []}
            for was, item in zip(old, new, strict=True)
        ]
        kept = {
            key: before["spec"][key] for key in ("secretName", "filesName") if key in before["spec"]
        }
        return {
            **job,
            **{key: before[key] for key in ("origin", "files") if key in before},
            "spec": {**job["spec"], **kept, "tasks": tasks},
        }

    return amend


def _tasks(task: Json) -> list[Json]:
    return list(task["spec"]["tasks"])


def _with_hint(findings: list[Finding], hint: str | None) -> list[Finding]:
    if not hint:
        return findings
    return [replace(item, message=f"{item.message} ({hint})") for item in findings]
