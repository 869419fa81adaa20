"""What the webhooks say about a TrainJob: times of its patches, and whether its runtime takes it.

Pure: what must be read from the cluster to answer comes in as `Facts`.
"""

import re
from dataclasses import dataclass, field
from typing import Final

from pydantic import ValidationError

from trainway.api.admission import (
    stamp_runtime_patches,
    trainjob_warnings,
    validate_trainjob_update,
)
from trainway.api.trainjob import TrainJob
from trainway.compiler.trainjob import (
    Target,
    runtime_kind_error,
    runtime_missing_error,
    trainjob_errors,
)
from trainway.compiler.workload import Lookup, Runtime
from trainway.json_types import Json
from trainway.operator.webhooks.json_patch import json_patch
from trainway.operator.webhooks.review import Question, allowed, denied
from trainway.schema.field import FieldError

_FREE_FIELDS: Final = ("suspend",)
"""What may change without anyone looking at the runtime."""
_PATCHING_FIELDS: Final = ("runtimePatches", "podTemplateOverrides")
_KUEUE: Final = re.compile(r"system:serviceaccount:[^:]+:[^:]*kueue[^:]*-controller-manager")
"""The service account of Kueue's controller, as its manifests and its chart name it."""
_DROPPED: Final = frozenset({"labels", "annotations"})
_DECIDED_BY_KUEUE: Final = ("suspend", "podTemplateOverrides", "runtimePatches")


@dataclass(frozen=True)
class Facts:
    """What the cluster knows about the things a TrainJob depends on."""

    runtime: Runtime | None = None
    """The runtime of the job: its snapshot if there is one, else the live one."""
    problem: FieldError | None = None
    """Why the runtime cannot be had."""
    priority_classes: frozenset[str] = field(default_factory=frozenset)
    """Those of the runtime's priority classes that exist."""
    active_jobs: tuple[str, ...] = ()
    """Replicated jobs of the job's JobSet that have active pods."""


def as_stored(job: Json) -> Json:
    """The job without what the API server drops when all webhooks have changed it.

    Kueue up to 0.16 gives a job that it queues `spec.labels`, which Trainer 2.2 took away.
    """
    spec = job.get("spec")
    if not isinstance(spec, dict) or not _DROPPED & spec.keys():
        return job
    kept = {name: value for name, value in spec.items() if name not in _DROPPED}
    return {**job, "spec": kept}


def default(question: Question, now: str) -> Json:
    """Stamp the runtime patches with the time at which each was last changed.

    Nothing has judged the object yet. What is no TrainJob is passed on for the schema to refuse.
    """
    spec = question.object.get("spec")
    if not isinstance(spec, dict):
        return allowed(question)
    kept = _kept_from_kueue(question, spec)
    patches = _stamped(question, kept, now)
    wanted = kept | ({"runtimePatches": patches} if patches else {})
    return allowed(question, patch=json_patch(spec, wanted, "/spec"))


def _kept_from_kueue(question: Question, spec: Json) -> Json:
    """The spec with all of it restored that Kueue up to 0.16 loses or rewrites.

    It sends back the whole object as Trainer 2.1 knew it: without newer fields, and with quantities
    in another spelling, which would count as changes. Only what a queue decides is taken from it.
    """
    old = (question.old or {}).get("spec")
    if not _KUEUE.fullmatch(question.user) or not isinstance(old, dict):
        return spec
    decided = {name: spec[name] for name in _DECIDED_BY_KUEUE if name in spec}
    others = {name: value for name, value in old.items() if name != "podTemplateOverrides"}
    return others | decided


def _stamped(question: Question, spec: Json, now: str) -> list[Json]:
    """The patches with their times; none where there is nothing to be stamped."""
    patches = spec.get("runtimePatches")
    if not patches:
        return []
    try:
        new = TrainJob.parse(as_stored({**question.object, "spec": spec}))
        old = TrainJob.parse(question.old) if question.old else None
    except ValidationError:
        return []
    times = [patch.time for patch in stamp_runtime_patches(new, old, now).spec.runtime_patches]
    return [
        {name: value for name, value in (patch | {"time": time}).items() if value is not None}
        for patch, time in zip(patches, times, strict=True)
    ]


def needs_validation(question: Question) -> bool:
    """Whether the answer depends on more than the question."""
    return question.is_change and _significant(question.object) != _significant(question.old)


def _significant(obj: Json | None) -> Json | None:
    spec = (obj or {}).get("spec")
    return spec and {name: value for name, value in spec.items() if name not in _FREE_FIELDS}


def patches_changed(question: Question) -> bool:
    """Whether an update changes patches or overrides, which it may not do while pods run."""
    if question.old is None:
        return False
    new, old = question.object["spec"], question.old["spec"]
    return any((new.get(name) or []) != (old.get(name) or []) for name in _PATCHING_FIELDS)


def validate(question: Question, job: TrainJob, facts: Facts, target: Target) -> Json:
    """All reasons why the job may not run, or may not change like this."""
    wrong_kind = runtime_kind_error(job)
    if wrong_kind is not None:
        return denied(question, [wrong_kind])
    errors = _update_errors(question, job, facts)
    if facts.runtime is None:
        return denied(question, [facts.problem or runtime_missing_error(job), *errors])
    classes = Lookup(has_priority_class=facts.priority_classes.__contains__)
    looking = Target(target.network, target.keys, classes, target.framework)
    errors = [*trainjob_errors(job, facts.runtime, looking), *errors]
    warnings = trainjob_warnings(job, facts.runtime)
    if errors:
        return denied(question, errors, warnings=warnings)
    return allowed(question, warnings=warnings)


def _update_errors(question: Question, job: TrainJob, facts: Facts) -> list[FieldError]:
    if question.old is None or not patches_changed(question):
        return []
    return validate_trainjob_update(TrainJob.parse(question.old), job, facts.active_jobs)
