"""Which manifest a form makes, which form a manifest would be, and which field an error is about.

One row for each kind of form. Pure.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from trainway.api.forms import mpijob_form, script_form, task_form, trainjob_form
from trainway.api.forms.job_form import FormKind, JobForm, at
from trainway.json_types import Json

RuntimeLookup = Callable[[str], Json | None]

PATHS: Final[Mapping[FormKind, Sequence[tuple[str, str]]]] = {
    FormKind.TRAINJOB: trainjob_form.PATHS,
    FormKind.MPIJOB: mpijob_form.PATHS,
    FormKind.TASK: task_form.PATHS,
    FormKind.SCRIPT: script_form.PATHS,
}
"""The fields of a form by the paths of the manifest that they stand for, or begin."""


def document_of(form: JobForm, runtime: RuntimeLookup) -> Json:
    """The manifest that a form describes."""
    match form.kind:
        case FormKind.TRAINJOB:
            return trainjob_form.trainjob(form)
        case FormKind.MPIJOB:
            return mpijob_form.mpijob(form)
        case FormKind.TASK:
            return task_form.task(form)
        case FormKind.SCRIPT:
            named = runtime(form.runtime) if form.runtime else None
            policy = at(named, "spec", "mlPolicy")
            return script_form.script(form, policy if isinstance(policy, dict) else None)


def form_of(document: Json) -> JobForm | None:
    """The form that a manifest would be; None: no form describes such a thing."""
    kind = document.get("kind")
    if kind is None and "apiVersion" not in document:
        return task_form.read(document)
    if kind == "MPIJob":
        return mpijob_form.read(document)
    code = script_form.read(document) if kind in ("TrainJob", "JobSet") else None
    return code or (trainjob_form.read(document) if kind == "TrainJob" else None)


def field_of(kind: FormKind, path: str) -> str:
    """The field of the form that a path of the manifest is about; empty: none is."""
    fitting = [
        (len(start), name)
        for start, name in PATHS[kind]
        if path == start or path.startswith((f"{start}.", f"{start}["))
    ]
    return max(fitting)[1] if fitting else ""
