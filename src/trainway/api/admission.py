"""What a cluster says after the CRD: the rules of Trainer's webhooks and of the MPI controller.

All functions take objects that passed `kinds.check` and went through `kinds.read`. Rules of a
TrainJob that need the template of its runtime belong to the compiler's plugins.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from trainway.api.mpijob import CONTROLLER, LAUNCHER, MULTIKUEUE, WORKER, MPIJob, ReplicaSpec
from trainway.api.rules import matches
from trainway.api.runtime import ClusterTrainingRuntime, TrainingRuntime
from trainway.api.runtime_patch import RuntimePatch
from trainway.api.trainjob import TrainJob
from trainway.jobset.labels import ANCESTOR_STEP, SUPPORT, WEBHOOK_VALIDATION
from trainway.schema.field import (
    FieldError,
    Path,
    forbidden,
    invalid,
    not_supported,
    path_text,
    required,
)
from trainway.schema.validation import unknown_field

TRAINER_STEP = "trainer"
REQUIRED_CONTAINERS: Mapping[str, str] = {
    TRAINER_STEP: "node",
    "dataset-initializer": "dataset-initializer",
    "model-initializer": "model-initializer",
}
"""The container that a replicated job must have for the step its label names."""

_DEPRECATION = (
    "is deprecated and will be removed in a future release of Kubeflow Trainer. "
    "See runtime deprecation policy: "
    "https://trainer.kubeflow.org/en/latest/operator-guides/runtime.html#runtime-deprecation-policy"
)
_REPLICATED_JOBS: Path = ("spec", "template", "spec", "replicatedJobs")
_PATCHES: Path = ("spec", "runtimePatches")
_OVERRIDES: Path = ("spec", "podTemplateOverrides")
_ROLES: Path = ("spec", "mpiReplicaSpecs")
_RUN_POLICY: Path = ("spec", "runPolicy")
_HOST_NAME = "^[a-z]([-a-z0-9]*[a-z0-9])?$"
_LONGEST_HOST_NAME = 63


def validate_runtime(runtime: TrainingRuntime | ClusterTrainingRuntime) -> list[FieldError]:
    """What the webhook says against a new runtime, of either kind (D8)."""
    return [error for _, error in _runtime_problems(runtime)]


def validate_runtime_update(
    runtime: TrainingRuntime | ClusterTrainingRuntime,
) -> tuple[list[FieldError], list[FieldError]]:
    """What the webhook says against a changed runtime: errors, and what it only warns of.

    A job that needs an initializer which its runtime lacks is refused itself, so a runtime may lose
    one; without the trainer no job at all could run on it.
    """
    problems = list(_runtime_problems(runtime))
    errors = [error for blocks_all, error in problems if blocks_all]
    return errors, [error for blocks_all, error in problems if not blocks_all]


def _runtime_problems(
    runtime: TrainingRuntime | ClusterTrainingRuntime,
) -> Iterator[tuple[bool, FieldError]]:
    if runtime.metadata.labels.get(WEBHOOK_VALIDATION) == "disabled":
        return
    for index, job in enumerate(runtime.spec.template.spec.get("replicatedJobs") or []):
        yield from _replicated_job(index, job)


def _replicated_job(index: int, job: dict[str, Any]) -> Iterator[tuple[bool, FieldError]]:
    """Its problems, each with whether no job at all could run on such a runtime."""
    path: Path = (*_REPLICATED_JOBS, index)
    template = job.get("template") or {}
    ancestor = ((template.get("metadata") or {}).get("labels") or {}).get(ANCESTOR_STEP, "")
    if ancestor not in REQUIRED_CONTAINERS:
        return
    replicas = job.get("replicas", 1)
    if replicas != 1:
        yield True, invalid((*path, "replicas"), replicas, "always must be 1")
    pod = ((template.get("spec") or {}).get("template") or {}).get("spec") or {}
    names = [container.get("name") for container in pod.get("containers") or []]
    if REQUIRED_CONTAINERS[ancestor] not in names:
        where = (*path, "template", "spec", "template", "spec", "containers")
        detail = f"must contain the required container for the ancestor: {ancestor}"
        yield ancestor == TRAINER_STEP, invalid(where, names, detail)


def runtime_warnings(runtime: TrainingRuntime | ClusterTrainingRuntime) -> list[str]:
    """What to tell someone who creates this runtime."""
    return [f"{_quoted(runtime)} {_DEPRECATION}"] if _is_deprecated(runtime) else []


def trainjob_warnings(
    job: TrainJob, runtime: TrainingRuntime | ClusterTrainingRuntime
) -> list[str]:
    """What to tell someone who creates this TrainJob on this runtime."""
    warnings = [f"Referenced {_quoted(runtime)} {_DEPRECATION}"] if _is_deprecated(runtime) else []
    for index, patch in enumerate(job.spec.runtime_patches):
        change = patch.training_runtime_spec and patch.training_runtime_spec.template
        for name in (change and change.metadata) or {}:
            if name not in ("labels", "annotations"):
                path = (*_PATCHES, index, "trainingRuntimeSpec", "template", "metadata", name)
                warnings.append(f"{path_text(path)}: is not used; only labels and annotations are")
    return warnings


def _is_deprecated(runtime: TrainingRuntime | ClusterTrainingRuntime) -> bool:
    """Only cluster runtimes are deprecated: those are the ones that Trainer ships."""
    label = runtime.metadata.labels.get(SUPPORT)
    return isinstance(runtime, ClusterTrainingRuntime) and label == "deprecated"


def _quoted(runtime: TrainingRuntime | ClusterTrainingRuntime) -> str:
    return f'{runtime.kind} "{runtime.metadata.name}"'


def stamp_runtime_patches(new: TrainJob, old: TrainJob | None, now: str) -> TrainJob:
    """The TrainJob with the time of each patch set, as the mutating webhook does."""
    former = {patch.manager: patch for patch in old.spec.runtime_patches} if old else {}
    patches = [
        _stamped(patch, former.get(patch.manager), now) for patch in new.spec.runtime_patches
    ]
    if not patches:
        return new
    spec = new.spec.model_copy(update={"runtime_patches": patches})
    return new.model_copy(update={"spec": spec})


def _stamped(patch: RuntimePatch, former: RuntimePatch | None, now: str) -> RuntimePatch:
    if former is None:
        time: str | None = patch.time or now
    elif patch.training_runtime_spec == former.training_runtime_spec:
        time = former.time
    else:
        time = now
    return patch.model_copy(update={"time": time})


def validate_trainjob_update(
    old: TrainJob, new: TrainJob, active_jobs: Sequence[str] = ()
) -> list[FieldError]:
    """What the webhook says against changing runtime patches, or what Kueue has in their place.

    `active_jobs` are the replicated jobs of the JobSet that still have active pods.
    """
    before, after = old.spec, new.spec
    errors: list[FieldError] = []
    for path, name, changed in (
        (_PATCHES, "RuntimePatches", before.runtime_patches != after.runtime_patches),
        (
            _OVERRIDES,
            "PodTemplateOverrides",
            before.pod_template_overrides != after.pod_template_overrides,
        ),
    ):
        if changed and not before.suspend and not after.suspend:
            detail = (
                f"{name} can only be modified when the TrainJob is suspended"
                " before or after the update"
            )
            errors.append(forbidden(path, detail))
        elif changed:
            errors += [
                forbidden(
                    path,
                    f"{name} cannot be modified when the JobSet's"
                    f" ReplicatedJob {job} is still active",
                )
                for job in active_jobs
            ]
    return errors


def validate_mpijob(job: MPIJob) -> list[FieldError]:
    """What the MPI controller says against a job."""
    return [*_mpijob_name(job), *_mpijob_fields(job), *_roles(job), *_run_policy(job)]


def mpijob_warnings(job: MPIJob) -> list[str]:
    """Roles that no one runs: upstream takes any name and looks at two."""
    roles = (LAUNCHER, WORKER)
    return [
        str(unknown_field((*_ROLES, role), roles))
        for role in job.spec.mpi_replica_specs
        if role not in roles
    ]


def _mpijob_name(job: MPIJob) -> Iterator[FieldError]:
    worker = job.spec.mpi_replica_specs.get(WORKER)
    last = max(worker.replicas, 1) - 1 if worker else 0
    host = f"{job.metadata.name}-worker-{last}"
    if len(host) > _LONGEST_HOST_NAME or not matches(host, _HOST_NAME):
        detail = (
            f'the last worker would be called "{host}", which is not an RFC 1035 DNS label: at most'
            f" {_LONGEST_HOST_NAME} lower case letters, digits and '-', starting with a letter"
        )
        yield invalid(("metadata", "name"), job.metadata.name, detail)


def _roles(job: MPIJob) -> Iterator[FieldError]:
    roles = job.spec.mpi_replica_specs
    path: Path = (*_ROLES, (LAUNCHER,))
    launcher = roles.get(LAUNCHER)
    if launcher is None:
        yield required(path, "a job needs a launcher")
    else:
        if launcher.replicas != 1:
            yield invalid((*path, "replicas"), launcher.replicas, "must be 1")
        yield from _replica_spec(path, launcher)
    path = (*_ROLES, (WORKER,))
    worker = roles.get(WORKER)
    if worker is not None:
        if worker.replicas < 1:
            detail = (
                "must be greater than or equal to 1, and the default is 0;"
                " for a job without workers, leave out Worker"
            )
            yield invalid((*path, "replicas"), worker.replicas, detail)
        yield from _replica_spec(path, worker)


def _replica_spec(path: Path, spec: ReplicaSpec) -> Iterator[FieldError]:
    supported = ("Never", "OnFailure")
    if spec.restart_policy not in supported:
        yield not_supported((*path, "restartPolicy"), spec.restart_policy, supported)
    if not (spec.template.get("spec") or {}).get("containers"):
        where = (*path, "template", "spec", "containers")
        yield required(where, "must define at least one container")


def _mpijob_fields(job: MPIJob) -> Iterator[FieldError]:
    spec = job.spec
    yield from _not_negative(("spec", "slotsPerWorker"), spec.slots_per_worker)
    if not spec.ssh_auth_mount_path:
        yield required(("spec", "sshAuthMountPath"), "must be the path to mount the SSH keys at")
    policies = ("AtStartup", "WaitForWorkersReady")
    if spec.launcher_creation_policy not in policies:
        path = ("spec", "launcherCreationPolicy")
        yield not_supported(path, spec.launcher_creation_policy, policies)


def _run_policy(job: MPIJob) -> Iterator[FieldError]:
    policy = job.spec.run_policy
    supported: tuple[str, ...] = ("None", "Running", "All")
    if "clean_pod_policy" not in policy.model_fields_set:
        yield required((*_RUN_POLICY, "cleanPodPolicy"))
    elif policy.clean_pod_policy not in supported:
        path = (*_RUN_POLICY, "cleanPodPolicy")
        yield not_supported(path, policy.clean_pod_policy, supported)
    seconds = policy.ttl_seconds_after_finished
    yield from _not_negative((*_RUN_POLICY, "ttlSecondsAfterFinished"), seconds)
    seconds = policy.active_deadline_seconds
    yield from _not_negative((*_RUN_POLICY, "activeDeadlineSeconds"), seconds)
    yield from _not_negative((*_RUN_POLICY, "backoffLimit"), policy.backoff_limit)
    supported = (CONTROLLER, MULTIKUEUE)
    if policy.managed_by is not None and policy.managed_by not in supported:
        yield not_supported((*_RUN_POLICY, "managedBy"), policy.managed_by, supported)
    if policy.scheduling_policy is not None:
        path = (*_RUN_POLICY, "schedulingPolicy", "minAvailable")
        yield from _not_negative(path, policy.scheduling_policy.min_available)


def _not_negative(path: Path, value: int | None) -> Iterator[FieldError]:
    if value is not None and value < 0:
        yield invalid(path, value, "must be greater than or equal to 0")
