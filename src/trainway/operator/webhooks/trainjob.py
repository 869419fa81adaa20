"""What the webhooks say about a TrainJob: times of its patches, and whether its runtime takes it.

Pure: what must be read from the cluster to answer comes in as `Facts`.
"""

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
from trainway.operator.webhooks.json_patch import json_patch
from trainway.operator.webhooks.review import Json, Question, allowed, denied
from trainway.schema.field import FieldError

_FREE_FIELDS: Final = ("suspend",)
"""What may change without anyone looking at the runtime."""


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
    from_cache: bool = False
    """Whether the runtime may be newer in the cluster."""


def default(question: Question, now: str) -> Json:
    """Stamp the runtime patches with the time at which each was last changed.

    Nothing has judged the object yet. What is no TrainJob is passed on for the schema to refuse.
    """
    patches = (question.object.get("spec") or {}).get("runtimePatches")
    if not patches:
        return allowed(question)
    try:
        new = TrainJob.parse(question.object)
        old = TrainJob.parse(question.old) if question.old else None
    except ValidationError:
        return allowed(question)
    times = [patch.time for patch in stamp_runtime_patches(new, old, now).spec.runtime_patches]
    stamped = [
        {name: value for name, value in (patch | {"time": time}).items() if value is not None}
        for patch, time in zip(patches, times, strict=True)
    ]
    return allowed(question, patch=json_patch(patches, stamped, "/spec/runtimePatches"))


def needs_validation(question: Question) -> bool:
    """Whether the answer depends on more than the question."""
    return question.is_change and _significant(question.object) != _significant(question.old)


def _significant(obj: Json | None) -> Json | None:
    spec = (obj or {}).get("spec")
    return spec and {name: value for name, value in spec.items() if name not in _FREE_FIELDS}


def patches_changed(question: Question) -> bool:
    """Whether an update changes runtime patches, which it may not do while pods run."""
    if question.old is None:
        return False
    new, old = question.object["spec"], question.old["spec"]
    return bool((new.get("runtimePatches") or []) != (old.get("runtimePatches") or []))


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
