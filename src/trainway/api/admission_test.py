from dataclasses import dataclass
from typing import Any

import pytest

from trainway.api.admission import (
    runtime_warnings,
    stamp_runtime_patches,
    trainjob_warnings,
    validate_runtime,
    validate_trainjob_update,
)
from trainway.api.examples_test import (
    CLUSTER_RUNTIME,
    PATCH,
    TIME,
    TRAIN_JOB,
    TRAINING_RUNTIME,
    Case,
    changed,
    refused,
)
from trainway.api.kinds import read
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
