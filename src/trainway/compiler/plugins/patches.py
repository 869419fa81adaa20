"""Runtime patches and pod template overrides: who may write one, and what it may name.

Names are looked up in the runtime as it was before any patch. Upstream looks after merging, where
every name exists, so its rules never fire (defect N1).
"""

import re
from collections.abc import Iterator
from typing import Any, Final

from trainway.api.pod_override import PodTemplateOverride
from trainway.api.runtime_patch import RuntimePatch
from trainway.compiler.workload import (
    DATASET_INITIALIZER,
    MODEL_INITIALIZER,
    NODE,
    Workload,
    template_patch,
)
from trainway.jobset.model import PodTemplate, ReplicatedJob, replicated_jobs
from trainway.schema.field import FieldError, Path, invalid

OWN_CONTAINERS: Final = (DATASET_INITIALIZER, MODEL_INITIALIZER, NODE)
"""Containers whose environment belongs to the TrainJob itself."""

_LABEL: Final = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_PATH_CHARS: Final = r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+"
_DOMAIN_PREFIXED: Final = re.compile(rf"{_LABEL}(\.{_LABEL})*/{_PATH_CHARS}", re.ASCII)


class Patches:
    """Active where the job has `spec.runtimePatches` or `spec.podTemplateOverrides`."""

    name = "Patches"
    order = 950

    def validate(self, workload: Workload) -> Iterator[FieldError]:
        """Check every patch against the unpatched runtime."""
        jobs = {job.name: job for job in replicated_jobs(workload.template)}
        for index, patch in enumerate(workload.job.spec.runtime_patches):
            path: Path = ("spec", "runtimePatches", index)
            if not is_domain_prefixed_path(patch.manager):
                detail = 'must be a domain-prefixed path (such as "acme.io/foo")'
                yield invalid((*path, "manager"), patch.manager, detail)
            path = (*path, "trainingRuntimeSpec", "template", "spec", "replicatedJobs")
            for number, job_patch in enumerate(_job_patches(patch)):
                yield from _job_errors((*path, number), job_patch, jobs)
        for index, override in enumerate(workload.job.spec.pod_template_overrides):
            path = ("spec", "podTemplateOverrides", index)
            yield from _override_errors(path, override, jobs)


def is_domain_prefixed_path(text: str) -> bool:
    """Whether a name has the form `acme.io/foo`, as Kubernetes defines it."""
    return _DOMAIN_PREFIXED.fullmatch(text) is not None


def _job_patches(patch: RuntimePatch) -> list[dict[str, Any]]:
    template = template_patch(patch)
    return list((template.spec or {}).get("replicatedJobs") or []) if template else []


def _job_errors(
    path: Path, patch: dict[str, Any], jobs: dict[str, ReplicatedJob]
) -> Iterator[FieldError]:
    name = patch["name"]
    if name not in jobs:
        detail = "must not have replicated job that doesn't exist in the runtime job template"
        yield invalid((*path, "name"), name, detail)
        return
    pod, known = _pod_patch(patch), jobs[name].pod
    path = (*path, "template", "spec", "template", "spec")
    for kind, word in (("initContainers", "initContainer"), ("containers", "container")):
        for index, container in enumerate(pod.get(kind) or []):
            where = (*path, kind, index)
            yield from _container_errors(where, word, container, name, known)


def _override_errors(
    path: Path, override: PodTemplateOverride, jobs: dict[str, ReplicatedJob]
) -> Iterator[FieldError]:
    for number, target in enumerate(override.target_jobs):
        if target.name not in jobs:
            detail = "must not have targetJob that doesn't exist in the runtime job template"
            yield invalid((*path, "targetJobs", number, "name"), target.name, detail)


def _pod_patch(patch: dict[str, Any]) -> dict[str, Any]:
    value: Any = patch
    for key in ("template", "spec", "template", "spec"):
        value = value.get(key) or {}
    return dict(value)


def _container_errors(
    path: Path, word: str, patch: dict[str, Any], job: str, known: PodTemplate
) -> Iterator[FieldError]:
    name = patch["name"]
    siblings = known.containers if word == "container" else known.init_containers
    if all(container.name != name for container in siblings):
        detail = f"must not have {word} that doesn't exist in the runtime job {job}"
        yield invalid((*path, "name"), name, detail)
    elif word == "container" and name in OWN_CONTAINERS and patch.get("env"):
        names = ", ".join(OWN_CONTAINERS)
        yield invalid((*path, "env"), name, f"must not have envs for the {names} containers")
