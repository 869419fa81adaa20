"""A TrainJob and its runtime as a JobSet and what belongs to it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from trainway.api.trainjob import CONTROLLER, GROUP, TrainJob, TrainJobSpec
from trainway.compiler.compiled import Compiled
from trainway.compiler.elasticity import annotation_errors
from trainway.compiler.framework import Framework
from trainway.compiler.initializer_steps import (
    add_missing_steps,
    choose_images,
    storage_errors,
)
from trainway.compiler.keys import GeneratedKeys, Keys
from trainway.compiler.network import KubernetesNetwork, NetworkFactory
from trainway.compiler.plugins.elastic import elasticity_errors
from trainway.compiler.registry import default_framework
from trainway.compiler.restarts import max_restarts, recovered_exit_codes
from trainway.compiler.workload import Lookup, Runtime, Workload, new_workload
from trainway.jobset.labels import MAX_RESTARTS, RECOVER_ON_EXIT_CODES
from trainway.jobset.merge_patch import MergePatchError
from trainway.schema.field import ABSENT, FieldError, invalid

RUNTIME_KINDS: Final = ("ClusterTrainingRuntime", "TrainingRuntime")


@dataclass(frozen=True)
class Target:
    """What compilation takes from outside: addresses, keys, plugins and a look at the world."""

    network: NetworkFactory = KubernetesNetwork
    keys: Keys = field(default_factory=GeneratedKeys)
    lookup: Lookup = field(default_factory=Lookup)
    framework: Framework = field(default_factory=default_framework)
    initializer_images: Mapping[str, str] = field(default_factory=dict)
    """The images that take the place of upstream's, by the step that they do."""


def compile_trainjob(job: TrainJob, runtime: Runtime, target: Target) -> Compiled:
    """The objects of the job, or all reasons why it may not run on this runtime.

    A job that another controller manages is checked like any other, but has no objects.
    """
    workload, errors = _checked(job, runtime, target)
    if workload is None or errors or job.spec.managed_by != CONTROLLER:
        return Compiled(errors=errors)
    return Compiled(target.framework.build(workload))


def trainjob_errors(job: TrainJob, runtime: Runtime, target: Target) -> list[FieldError]:
    """All reasons why the job may not run on this runtime; nothing is built."""
    return _checked(job, runtime, target)[1]


def _checked(
    job: TrainJob, runtime: Runtime, target: Target
) -> tuple[Workload | None, list[FieldError]]:
    annotations = job.metadata.annotations
    try:
        max_restarts(annotations)
    except ValueError:
        where = ("metadata", "annotations", (MAX_RESTARTS,))
        return None, [invalid(where, annotations[MAX_RESTARTS], "must be a number of restarts")]
    errors = [*annotation_errors(annotations), *storage_errors(annotations)]
    if errors:
        return None, errors
    try:
        recovered_exit_codes(annotations)
    except ValueError:
        where = ("metadata", "annotations", (RECOVER_ON_EXIT_CODES,))
        said = annotations[RECOVER_ON_EXIT_CODES]
        return None, [invalid(where, said, "must be exit codes from 1 to 255, such as 33,34")]
    try:
        workload = new_workload(job, runtime, target.network, target.keys, target.lookup)
    except MergePatchError as error:
        return None, [invalid(("spec", "runtimePatches"), ABSENT, str(error))]
    add_missing_steps(workload)
    choose_images(workload, target.initializer_images)
    errors = [*elasticity_errors(workload), *target.framework.validate(workload)]
    return workload, sorted(errors, key=_field_order)


def runtime_kind_error(job: TrainJob) -> FieldError | None:
    """The error for a reference to something that is not a runtime."""
    ref = job.spec.runtime_ref
    if ref.api_group == GROUP and ref.kind in RUNTIME_KINDS:
        return None
    name = f"{ref.kind}.{ref.api_group}" if ref.api_group else ref.kind
    supported = " or ".join(f"{kind}.{GROUP}" for kind in RUNTIME_KINDS)
    return invalid(("spec", "runtimeRef"), name, f"unsupported runtime: use {supported}")


def runtime_missing_error(job: TrainJob) -> FieldError:
    """The error for a reference to a runtime that does not exist."""
    ref = job.spec.runtime_ref
    what = ref.kind[0].lower() + ref.kind[1:]
    plural = f"{ref.kind.lower()}s.{GROUP}"
    detail = (
        f'{plural} "{ref.name}" not found: '
        f"specified {what} must be created before the TrainJob is created"
    )
    return invalid(("spec", "runtimeRef"), ref.name, detail)


_FIELDS: Final = [info.alias or name for name, info in TrainJobSpec.model_fields.items()]


def _field_order(error: FieldError) -> int:
    name = error.path[1] if len(error.path) > 1 else ""
    return _FIELDS.index(str(name)) if name in _FIELDS else len(_FIELDS)
