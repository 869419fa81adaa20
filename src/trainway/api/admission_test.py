from dataclasses import dataclass
from typing import Any

import pytest

from trainway.api.admission import (
    mpijob_warnings,
    runtime_warnings,
    stamp_runtime_patches,
    trainjob_warnings,
    validate_mpijob,
    validate_runtime,
    validate_trainjob_update,
)
from trainway.api.examples_test import (
    CLUSTER_RUNTIME,
    MPI_JOB,
    PATCH,
    POD,
    TIME,
    TRAIN_JOB,
    TRAINING_RUNTIME,
    Case,
    changed,
    refused,
)
from trainway.api.kinds import read
from trainway.api.mpijob import MPIJob
from trainway.api.runtime import ClusterTrainingRuntime, TrainingRuntime
from trainway.api.trainjob import TrainJob
from trainway.schema.field import ABSENT

JOBS = "spec.template.spec.replicatedJobs"
LABELS = f"{JOBS}[0].template.metadata.labels"
CONTAINERS = f"{JOBS}[0].template.spec.template.spec.containers"
STEP = "trainer.kubeflow.org/trainjob-ancestor-step"
POLICY_URL = (
    "https://trainer.kubeflow.org/en/latest/operator-guides/runtime.html#runtime-deprecation-policy"
)
DEPRECATED = (
    '"torch" is deprecated and will be removed in a future release of Kubeflow Trainer.'
    f" See runtime deprecation policy: {POLICY_URL}"
)


def runtime_of(data: dict[str, Any]) -> TrainingRuntime:
    runtime = read(data)
    assert isinstance(runtime, TrainingRuntime)
    return runtime


def trainjob_of(data: dict[str, Any]) -> TrainJob:
    job = read(data)
    assert isinstance(job, TrainJob)
    return job


def mpijob_of(data: dict[str, Any]) -> MPIJob:
    job = read(data)
    assert isinstance(job, MPIJob)
    return job


RUNTIME_CASES = [
    Case(f"{JOBS}[0].replicas", 1),
    refused(f"{JOBS}[0].replicas", 2, "Invalid value: 2: always must be 1"),
    refused(f"{JOBS}[0].replicas", 0, "Invalid value: 0: always must be 1"),
    refused(
        CONTAINERS,
        [{"name": "main"}],
        'Invalid value: ["main"]: must contain the required container for the ancestor: trainer',
    ),
    refused(
        LABELS,
        {STEP: "dataset-initializer"},
        'Invalid value: ["node"]: must contain the required container for the ancestor:'
        " dataset-initializer",
        at=CONTAINERS,
    ),
    refused(
        LABELS,
        {STEP: "model-initializer"},
        'Invalid value: ["node"]: must contain the required container for the ancestor:'
        " model-initializer",
        at=CONTAINERS,
    ),
    Case(LABELS, {STEP: "something-else"}),
    Case(LABELS, {}),
    Case(f"{JOBS}[0].template.metadata", ABSENT),
    Case("spec.template", ABSENT),
]


@pytest.mark.parametrize("case", RUNTIME_CASES, ids=str)
@pytest.mark.parametrize("runtime", [TRAINING_RUNTIME, CLUSTER_RUNTIME], ids=["some", "cluster"])
def test_d8_both_kinds_of_runtime_are_validated(runtime: dict[str, Any], case: Case) -> None:
    errors = validate_runtime(runtime_of(changed(runtime, case.path, case.value)))
    assert tuple(map(str, errors)) == case.errors


def test_a_job_beside_the_trainer_may_have_replicas() -> None:
    runtime = changed(TRAINING_RUNTIME, f"{JOBS}[0].replicas", 3)
    assert validate_runtime(runtime_of(changed(runtime, LABELS, {}))) == []


def test_validation_of_a_runtime_can_be_disabled() -> None:
    runtime = changed(TRAINING_RUNTIME, f"{JOBS}[0].replicas", 3)
    label = {"trainer.kubeflow.org/webhook-validation": "disabled"}
    assert validate_runtime(runtime_of(changed(runtime, "metadata.labels", label))) == []
    label = {"trainer.kubeflow.org/webhook-validation": "enabled"}
    assert len(validate_runtime(runtime_of(changed(runtime, "metadata.labels", label)))) == 1


def test_a_deprecated_cluster_runtime_is_told() -> None:
    label = {"trainer.kubeflow.org/support": "deprecated"}
    runtime = runtime_of(changed(CLUSTER_RUNTIME, "metadata.labels", label))
    assert isinstance(runtime, ClusterTrainingRuntime)
    job = trainjob_of(TRAIN_JOB)
    assert runtime_warnings(runtime) == [f"ClusterTrainingRuntime {DEPRECATED}"]
    assert trainjob_warnings(job, runtime) == [f"Referenced ClusterTrainingRuntime {DEPRECATED}"]


@pytest.mark.parametrize(
    ("runtime", "support"), [(TRAINING_RUNTIME, "deprecated"), (CLUSTER_RUNTIME, "supported")]
)
def test_other_runtimes_are_not_deprecated(runtime: dict[str, Any], support: str) -> None:
    labels = {"trainer.kubeflow.org/support": support}
    model = runtime_of(changed(runtime, "metadata.labels", labels))
    assert runtime_warnings(model) == []
    assert trainjob_warnings(trainjob_of(TRAIN_JOB), model) == []


def test_metadata_in_a_patch_that_nobody_reads_is_told() -> None:
    path = "spec.runtimePatches[0].trainingRuntimeSpec.template.metadata"
    job = trainjob_of(changed(TRAIN_JOB, f"{path}.name", "x"))
    assert trainjob_warnings(job, runtime_of(TRAINING_RUNTIME)) == [
        f"{path}.name: is not used; only labels and annotations are"
    ]


NOW = "2026-02-28T00:00:00Z"


@dataclass(frozen=True)
class Stamp:
    what: str
    given: str | None
    """The time in the new entry."""
    time: str | None
    """The time it ends up with."""
    former: dict[str, Any] | None = None
    """The entry in the old TrainJob; None: the job is being created."""


UNCHANGED = {"manager": "acme.io/foo", "trainingRuntimeSpec": PATCH["trainingRuntimeSpec"]}


@pytest.mark.parametrize(
    "case",
    [
        Stamp("created without time", None, NOW),
        Stamp("created with time", TIME, TIME),
        Stamp("new manager without time", None, NOW, {"manager": "acme.io/other"}),
        Stamp("new manager with time", TIME, TIME, {"manager": "acme.io/other"}),
        Stamp("unchanged", None, TIME, UNCHANGED | {"time": TIME}),
        Stamp("unchanged, other time given", NOW, TIME, UNCHANGED | {"time": TIME}),
        Stamp("unchanged, never stamped", NOW, None, UNCHANGED),
        Stamp("changed", None, NOW, {"manager": "acme.io/foo", "time": TIME}),
        Stamp("changed, with time", TIME, NOW, {"manager": "acme.io/foo", "time": TIME}),
    ],
    ids=lambda case: case.what,
)
def test_stamp(case: Stamp) -> None:
    new = trainjob_of(changed(TRAIN_JOB, "spec.runtimePatches[0].time", case.given))
    old = case.former and trainjob_of(changed(TRAIN_JOB, "spec.runtimePatches", [case.former]))
    stamped = stamp_runtime_patches(new, old or None, NOW)
    assert [patch.time for patch in stamped.spec.runtime_patches] == [case.time]


def test_stamping_changes_nothing_else() -> None:
    job = trainjob_of(changed(TRAIN_JOB, "spec.runtimePatches[0].time", None))
    stamped = stamp_runtime_patches(job, None, NOW)
    assert stamped.to_dict() == changed(TRAIN_JOB, "spec.runtimePatches[0].time", NOW)
    assert job.spec.runtime_patches[0].time is None
    plain = trainjob_of(changed(TRAIN_JOB, "spec.runtimePatches", ABSENT))
    assert stamp_runtime_patches(plain, None, NOW) is plain


PATCHES = "spec.runtimePatches: Forbidden: RuntimePatches"
ACTIVE = "cannot be modified when the JobSet's ReplicatedJob {} is still active"
NOT_SUSPENDED = (
    f"{PATCHES} can only be modified when the TrainJob is suspended before or after the update",
)


@dataclass(frozen=True)
class Update:
    before: bool
    """Whether the job was suspended before the update."""
    after: bool
    active: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()


@pytest.mark.parametrize(
    "case",
    [
        Update(False, False, errors=NOT_SUSPENDED),
        Update(False, False, ("node",), NOT_SUSPENDED),
        Update(True, True),
        Update(True, False),
        Update(False, True),
        Update(
            False,
            True,
            ("node", "launcher"),
            (
                f"{PATCHES} {ACTIVE.format('node')}",
                f"{PATCHES} {ACTIVE.format('launcher')}",
            ),
        ),
    ],
)
def test_update_of_runtime_patches(case: Update) -> None:
    old = changed(TRAIN_JOB, "spec.suspend", case.before)
    new = changed(TRAIN_JOB, "spec.suspend", case.after)
    new = changed(new, "spec.runtimePatches", [PATCH, {"manager": "acme.io/bar"}])
    errors = validate_trainjob_update(trainjob_of(old), trainjob_of(new), case.active)
    assert tuple(map(str, errors)) == case.errors


OVERRIDE = {"targetJobs": [{"name": "node"}], "spec": {"nodeSelector": {"pool": "a"}}}
OVERRIDES = "spec.podTemplateOverrides: Forbidden: PodTemplateOverrides"
NOT_WHILE_IT_RUNS = (
    f"{OVERRIDES} can only be modified when the TrainJob is suspended before or after the update"
)


@pytest.mark.parametrize(
    "case",
    [
        Update(False, False, errors=(NOT_WHILE_IT_RUNS,)),
        Update(True, True),
        Update(True, True, ("node",), (f"{OVERRIDES} {ACTIVE.format('node')}",)),
    ],
)
def test_update_of_pod_template_overrides(case: Update) -> None:
    old = changed(TRAIN_JOB, "spec.suspend", case.before)
    new = changed(TRAIN_JOB, "spec.suspend", case.after)
    new = changed(new, "spec.podTemplateOverrides", [OVERRIDE])
    errors = validate_trainjob_update(trainjob_of(old), trainjob_of(new), case.active)
    assert tuple(map(str, errors)) == case.errors


def test_an_update_that_leaves_the_patches_alone_is_free() -> None:
    old, new = trainjob_of(TRAIN_JOB), trainjob_of(changed(TRAIN_JOB, "metadata.labels", {}))
    assert validate_trainjob_update(old, new, ["node"]) == []


ROLES = "spec.mpiReplicaSpecs"
POLICY = "spec.runPolicy"
AT_LEAST_0 = "must be greater than or equal to 0"
NO_WORKERS = (
    "must be greater than or equal to 1, and the default is 0;"
    " for a job without workers, leave out Worker"
)


def bad_name(name: str, index: int) -> str:
    return (
        f'Invalid value: "{name}": the last worker would be called "{name}-worker-{index}", '
        "which is not an RFC 1035 DNS label: at most 63 lower case letters, digits and '-', "
        "starting with a letter"
    )


MPI_CASES = [
    Case("metadata.name", "a" * 54),
    refused("metadata.name", "a" * 55, bad_name("a" * 55, 1)),
    refused("metadata.name", "1st", bad_name("1st", 1)),
    refused("metadata.name", "A", bad_name("A", 1)),
    Case("spec.slotsPerWorker", 0),
    refused("spec.slotsPerWorker", -1, f"Invalid value: -1: {AT_LEAST_0}"),
    Case("spec.launcherCreationPolicy", "WaitForWorkersReady"),
    refused(
        "spec.launcherCreationPolicy",
        "Later",
        'Unsupported value: "Later": supported values: "AtStartup", "WaitForWorkersReady"',
    ),
    refused(ROLES, {}, "Required value: a job needs a launcher", at=f"{ROLES}[Launcher]"),
    Case(f"{ROLES}.Worker", ABSENT),
    refused(
        f"{ROLES}.Launcher",
        ABSENT,
        "Required value: a job needs a launcher",
        at=f"{ROLES}[Launcher]",
    ),
    refused(
        f"{ROLES}.Launcher.replicas",
        2,
        "Invalid value: 2: must be 1",
        at=f"{ROLES}[Launcher].replicas",
    ),
    Case(f"{ROLES}.Launcher.replicas", ABSENT),
    refused(
        f"{ROLES}.Worker.replicas",
        0,
        f"Invalid value: 0: {NO_WORKERS}",
        at=f"{ROLES}[Worker].replicas",
    ),
    refused(
        f"{ROLES}.Worker.replicas",
        ABSENT,
        f"Invalid value: 0: {NO_WORKERS}",
        at=f"{ROLES}[Worker].replicas",
    ),
    Case(f"{ROLES}.Worker.restartPolicy", "OnFailure"),
    refused(
        f"{ROLES}.Worker.restartPolicy",
        "Always",
        'Unsupported value: "Always": supported values: "Never", "OnFailure"',
        at=f"{ROLES}[Worker].restartPolicy",
    ),
    refused(
        f"{ROLES}.Launcher.restartPolicy",
        "ExitCode",
        'Unsupported value: "ExitCode": supported values: "Never", "OnFailure"',
        at=f"{ROLES}[Launcher].restartPolicy",
    ),
    refused(
        f"{ROLES}.Worker.template.spec.containers",
        [],
        "Required value: must define at least one container",
        at=f"{ROLES}[Worker].template.spec.containers",
    ),
    refused(
        f"{ROLES}.Launcher.template",
        ABSENT,
        "Required value: must define at least one container",
        at=f"{ROLES}[Launcher].template.spec.containers",
    ),
    Case(f"{POLICY}.cleanPodPolicy", "All"),
    Case(f"{POLICY}.cleanPodPolicy", ABSENT),
    refused(
        f"{POLICY}.cleanPodPolicy",
        "Some",
        'Unsupported value: "Some": supported values: "None", "Running", "All"',
    ),
    Case(f"{POLICY}.ttlSecondsAfterFinished", 0),
    refused(f"{POLICY}.ttlSecondsAfterFinished", -1, f"Invalid value: -1: {AT_LEAST_0}"),
    Case(f"{POLICY}.activeDeadlineSeconds", 0),
    refused(f"{POLICY}.activeDeadlineSeconds", -1, f"Invalid value: -1: {AT_LEAST_0}"),
    Case(f"{POLICY}.backoffLimit", 0),
    refused(f"{POLICY}.backoffLimit", -1, f"Invalid value: -1: {AT_LEAST_0}"),
    Case(f"{POLICY}.managedBy", "kueue.x-k8s.io/multikueue"),
    refused(
        f"{POLICY}.managedBy",
        "acme",
        'Unsupported value: "acme": supported values: "kubeflow.org/mpi-operator",'
        ' "kueue.x-k8s.io/multikueue"',
    ),
    Case(f"{POLICY}.schedulingPolicy.minAvailable", 0),
    refused(f"{POLICY}.schedulingPolicy.minAvailable", -1, f"Invalid value: -1: {AT_LEAST_0}"),
    Case(f"{POLICY}.schedulingPolicy", ABSENT),
]


@pytest.mark.parametrize("case", MPI_CASES, ids=str)
def test_mpijob(case: Case) -> None:
    job = mpijob_of(changed(MPI_JOB, case.path, case.value))
    assert tuple(map(str, validate_mpijob(job))) == case.errors


def test_the_name_counts_the_digits_of_the_last_worker() -> None:
    job = changed(MPI_JOB, "metadata.name", "a" * 54)
    job = changed(job, f"{ROLES}.Worker.replicas", 10)
    assert validate_mpijob(mpijob_of(job)) == []
    job = changed(job, f"{ROLES}.Worker.replicas", 11)
    assert list(map(str, validate_mpijob(mpijob_of(job)))) == [
        f"metadata.name: {bad_name('a' * 54, 10)}"
    ]


def test_all_errors_of_an_mpijob_come_in_field_order() -> None:
    job = changed(MPI_JOB, "spec.runPolicy", {"cleanPodPolicy": "x", "backoffLimit": -1})
    job = changed(job, "spec.slotsPerWorker", -1)
    job = changed(job, f"{ROLES}.Worker", {"restartPolicy": "x"})
    job = changed(job, f"{ROLES}.Launcher", {"replicas": 0, "template": POD})
    job = changed(job, "metadata.name", "X")
    assert [error.field for error in validate_mpijob(mpijob_of(job))] == [
        "metadata.name",
        "spec.slotsPerWorker",
        f"{ROLES}[Launcher].replicas",
        f"{ROLES}[Worker].replicas",
        f"{ROLES}[Worker].restartPolicy",
        f"{ROLES}[Worker].template.spec.containers",
        f"{POLICY}.cleanPodPolicy",
        f"{POLICY}.backoffLimit",
    ]


def test_an_mpijob_without_its_defaults_is_told_what_lacks() -> None:
    job = MPIJob.parse(
        {
            "apiVersion": "kubeflow.org/v2beta1",
            "kind": "MPIJob",
            "metadata": {},
            "spec": {"mpiReplicaSpecs": {}, "sshAuthMountPath": ""},
        }
    )
    assert [(error.field, str(error.type)) for error in validate_mpijob(job)] == [
        ("metadata.name", "Invalid value"),
        ("spec.sshAuthMountPath", "Required value"),
        (f"{ROLES}[Launcher]", "Required value"),
        (f"{POLICY}.cleanPodPolicy", "Required value"),
    ]


def test_a_role_that_nobody_runs_is_told() -> None:
    job = mpijob_of(changed(MPI_JOB, f"{ROLES}.worker", {"replicas": 4}))
    assert mpijob_warnings(job) == [f'{ROLES}.worker: Unknown field: did you mean "Worker"?']
    assert mpijob_warnings(mpijob_of(MPI_JOB)) == []
