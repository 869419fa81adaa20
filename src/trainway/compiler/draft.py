"""A text that is still being written: the objects in it, and what is wrong where. Pure.

Whoever writes a manifest in an editor wants all errors with their places, also of a text that is
not even YAML yet. So nothing is raised here: what is wrong is a `Finding`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from trainway.api.document import Place, Places, Steps
from trainway.api.forms.job_form import JobForm
from trainway.api.forms.table import field_of, form_of
from trainway.api.manifest import object_places, parse_manifests
from trainway.api.task import task_object
from trainway.api.task.task_file import SERIAL, looks_like_tasks, parse
from trainway.api.task.task_object import Origin
from trainway.compiler.task import later, unresolved
from trainway.errors import ManifestError
from trainway.jobset.job_name import job_name
from trainway.json_types import Json

_REFUSAL: Final = re.compile(r"(?P<kind>[A-Za-z]+)/(?P<name>[^:]*): (?P<rest>.*)", re.DOTALL)
_FIELD: Final = re.compile(
    r"(?P<path>[A-Za-z_][\w-]*(?:\.[\w-]+|\[[^\]]*\])*): (?P<why>.*)", re.DOTALL
)
_VOLUME: Final = "this describes a volume; there is nothing to run"
_STEP: Final = re.compile(r"\[([^\]]*)\]|([^.\[\]]+)")


@dataclass(frozen=True)
class Finding:
    """Something wrong with a draft."""

    message: str
    path: str = ""
    """The field of the manifest; empty: it is about the whole."""
    input: str = ""
    """The field of the form; empty: it is about none."""
    place: Place | None = None


@dataclass(frozen=True)
class Draft:
    """What a text comes to."""

    text: str
    objects: list[Json] = field(default_factory=list)
    """What would be submitted; empty where there is something wrong with the text itself."""
    form: JobForm | None = None
    findings: list[Finding] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    brings_files: bool = False
    """Whether a task names files of the machine on which it is written."""
    is_pipeline: bool = False
    """Whether each of its tasks becomes a job of its own."""

    def finding(self, refusal: str) -> Finding:
        """A refusal of the compiler, `TrainJob/name: spec.field: why`, with its place."""
        told = _REFUSAL.fullmatch(refusal)
        rest = told["rest"] if told else refusal
        named = _FIELD.fullmatch(rest)
        if named is None:
            return Finding(rest)
        path = named["path"]
        name = field_of(self.form.kind, path) if self.form else ""
        return Finding(rest, path, name, self._place(path, told["kind"] if told else ""))

    def _place(self, path: str, kind: str) -> Place | None:
        documents = object_places(self.text)
        if len(documents) == len(self.objects):
            chosen = [
                places
                for places, obj in zip(documents, self.objects, strict=True)
                if not kind or obj.get("kind") == kind
            ]
        else:
            chosen = documents
        return _nearest(chosen[0], steps_of(path)) if chosen else None


def read_draft(text: str, origin: Origin) -> Draft:
    """The draft of a text; `origin` is who writes it."""
    try:
        documents = parse_manifests(text)
        is_tasks = looks_like_tasks(documents)
        if not documents:
            return Draft(text, findings=[Finding("there is nothing here yet")])
        form = _form(documents)
        if is_tasks:
            return _tasks(text, origin, form)
    except ManifestError as error:
        place = (error.line, error.column)
        return Draft(text, findings=[Finding(error.problem, place=place)])
    return Draft(text, documents, form)


def _form(documents: Sequence[Json]) -> JobForm | None:
    """The form of the one job; a text with several things has more than a form can show."""
    found = [form_of(document) for document in documents]
    return found[0] if len(found) == 1 else None


def _tasks(text: str, origin: Origin, form: JobForm | None) -> Draft:
    parsed = parse(text)
    draft = Draft(text, form=form, warnings=list(parsed.warnings))
    if parsed.is_volume:
        return replace(draft, findings=[Finding(_VOLUME)])
    if parsed.file is None:
        findings = [
            Finding(
                str(item.error),
                item.error.field,
                field_of(form.kind, item.error.field) if form else "",
                item.place,
            )
            for item in parsed.errors
        ]
        return replace(draft, findings=findings)
    tasks = parsed.file.tasks
    problems = [*later(tasks), *unresolved(tasks)]
    if problems:
        return replace(draft, findings=[draft.finding(problem) for problem in problems])
    name = job_name(parsed.file.name or "task")
    objects = task_object.objects_of(parsed.file, name, origin, notes=parsed.warnings)
    brings_files = any(
        task.workdir or any(mount.is_local for mount in task.file_mounts) for task in tasks
    )
    is_pipeline = len(tasks) > 1 and parsed.file.execution == SERIAL
    return replace(draft, objects=objects, brings_files=brings_files, is_pipeline=is_pipeline)


def steps_of(path: str) -> Steps:
    """`spec.env[0][a/b]` as steps."""
    return tuple(
        int(inside) if inside.isdecimal() else inside or name
        for inside, name in _STEP.findall(path)
    )


def _nearest(places: Places, steps: Steps) -> Place | None:
    """Where a field stands; of one that is not there, where it should stand."""
    if steps in places.keys:
        return places.keys[steps]
    while steps and steps not in places.values:
        steps = steps[:-1]
    return places.keys.get(steps) or places.values.get(steps)
