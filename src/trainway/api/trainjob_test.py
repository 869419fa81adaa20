from typing import Any

import pytest

from trainway.api.examples_test import (
    CONDITION,
    TRAIN_JOB,
    Case,
    changed,
    errors_of,
    refused,
)
from trainway.api.kinds import read
from trainway.api.trainjob import TrainJob
from trainway.schema.field import ABSENT

DATASET = "spec.initializer.dataset"
TRAINER = "spec.trainer"
STATUS = "status.trainerStatus"
NOT_A_LABEL = "metadata.name must match RFC 1035 DNS label format"
NOT_A_URI = "storageUri may be empty, or it must be a valid URI (scheme://...)"
NOT_A_CONTROLLER = (
    "ManagedBy must be trainer.kubeflow.org/trainjob-controller or kueue.x-k8s.io/multikueue if set"
)


def env(count: int) -> list[dict[str, str]]:
    return [{"name": f"V{index}"} for index in range(count)]


def job_status(count: int) -> list[dict[str, Any]]:
    counts = dict.fromkeys(("ready", "succeeded", "failed", "active", "suspended"), 0)
    return [{"name": f"job-{index}", **counts} for index in range(count)]


def conditions(count: int) -> list[dict[str, Any]]:
    return [CONDITION | {"type": f"Type{index}"} for index in range(count)]


def metrics(count: int) -> list[dict[str, str]]:
    return [{"name": "loss", "value": "0"}] * count


NAME = [
    Case("metadata.name", "a"),
    Case("metadata.name", "a" * 63),
    refused("metadata.name", ABSENT, "Required value"),
    refused("metadata.name", "", "Required value"),
    refused("metadata.name", "1st", f'Invalid value: "1st": {NOT_A_LABEL}'),
    refused("metadata.name", "a.b", f'Invalid value: "a.b": {NOT_A_LABEL}'),
    refused("metadata.name", "a-", f'Invalid value: "a-": {NOT_A_LABEL}'),
    refused("metadata.name", "a\n", f'Invalid value: "a\\n": {NOT_A_LABEL}'),
    refused(
        "metadata.name",
        "a" * 64,
        f'Invalid value: "{"a" * 64}": metadata.name must be no more than 63 characters',
    ),
    refused("metadata", ABSENT, "Required value", at="metadata.name"),
    refused("metadata", "x", 'Invalid value: "string": must be of type object'),
    refused("spec", ABSENT, "Required value"),
]
RUNTIME_REF = [
    refused("spec.runtimeRef", ABSENT, "Required value"),
    refused("spec.runtimeRef.name", ABSENT, "Required value"),
    refused("spec.runtimeRef.name", "", 'Invalid value: "": should be at least 1 chars long'),
    Case("spec.runtimeRef.name", "a" * 253),
    refused(
        "spec.runtimeRef.name", "a" * 254, "Too long: may not be more than 253 characters long"
    ),
    Case("spec.runtimeRef.apiGroup", "a" * 253),
    refused(
        "spec.runtimeRef.apiGroup", "a" * 254, "Too long: may not be more than 253 characters long"
    ),
    Case("spec.runtimeRef.kind", "a" * 253),
    refused(
        "spec.runtimeRef.kind", "a" * 254, "Too long: may not be more than 253 characters long"
    ),
]
INITIALIZER = [
    Case(f"{DATASET}.storageUri", ""),
    Case(f"{DATASET}.storageUri", "s3://bucket"),
    refused(f"{DATASET}.storageUri", "bucket", f'Invalid value: "bucket": {NOT_A_URI}'),
    refused(f"{DATASET}.storageUri", "s3://", f'Invalid value: "s3://": {NOT_A_URI}'),
    refused("spec.initializer.model.storageUri", "3s://b", f'Invalid value: "3s://b": {NOT_A_URI}'),
    Case(f"{DATASET}.storageUri", "s3://" + "a" * 2043),
    refused(
        f"{DATASET}.storageUri",
        "s3://" + "a" * 2044,
        "Too long: may not be more than 2048 characters long",
    ),
    Case(f"{DATASET}.env", env(128)),
    refused(f"{DATASET}.env", env(129), "Too many: must have at most 128 items"),
    refused(
        f"{DATASET}.env",
        [{"name": "A"}, {"name": "A"}],
        'Duplicate value: {"name":"A"}',
        at=f"{DATASET}.env[1]",
    ),
    refused(f"{DATASET}.env", [{}], "Required value", at=f"{DATASET}.env[0].name"),
]
TRAINING = [
    Case(f"{TRAINER}.image", "a" * 500),
    refused(f"{TRAINER}.image", "a" * 501, "Too long: may not be more than 500 characters long"),
    Case(f"{TRAINER}.command", []),
    Case(f"{TRAINER}.command", ["a"] * 128),
    refused(f"{TRAINER}.command", ["a"] * 129, "Too many: must have at most 128 items"),
    Case(f"{TRAINER}.args", ["a" * 1048576]),
    refused(
        f"{TRAINER}.args",
        ["a" * 1048577],
        "Too long: may not be more than 1048576 characters long",
        at=f"{TRAINER}.args[0]",
    ),
    refused(f"{TRAINER}.args", ["a"] * 129, "Too many: must have at most 128 items"),
    Case(f"{TRAINER}.env", env(128)),
    refused(f"{TRAINER}.env", env(129), "Too many: must have at most 128 items"),
    Case(f"{TRAINER}.numNodes", 0),
    refused(f"{TRAINER}.numNodes", -1, "Invalid value: -1: must be greater than or equal to 0"),
    refused(
        f"{TRAINER}.numNodes", 2**31, "Invalid value: 2147483648: must be a number that fits int32"
    ),
    refused(f"{TRAINER}.numNodes", 1.5, 'Invalid value: "number": must be of type integer'),
    refused(f"{TRAINER}.numNodes", True, 'Invalid value: "boolean": must be of type integer'),
    Case(f"{TRAINER}.numProcPerNode", 1),
    refused(
        f"{TRAINER}.numProcPerNode",
        0,
        "Invalid value: 0: numProcPerNode must be greater than or equal to 1",
    ),
    refused(
        f"{TRAINER}.numProcPerNode", "auto", 'Invalid value: "string": must be of type integer'
    ),
    refused(f"{TRAINER}.color", 4, "Unknown field"),
    refused(f"{TRAINER}.numNode", 4, 'Unknown field: did you mean "numNodes"?'),
    refused(f"{TRAINER}.num_nodes", 4, 'Unknown field: did you mean "numNodes"?'),
]
REST_OF_SPEC = [
    Case("spec.suspend", True),
    refused("spec.suspend", "yes", 'Invalid value: "string": must be of type boolean'),
    Case("spec.activeDeadlineSeconds", 1),
    refused(
        "spec.activeDeadlineSeconds", 0, "Invalid value: 0: must be greater than or equal to 1"
    ),
    refused(
        "spec.activeDeadlineSeconds",
        2**63,
        f"Invalid value: {2**63}: must be a number that fits int64",
    ),
    Case("spec.managedBy", "kueue.x-k8s.io/multikueue"),
    refused("spec.managedBy", "acme", f'Invalid value: "acme": {NOT_A_CONTROLLER}'),
    Case(
        "spec.managedBy",
        "a" * 254,
        (
            f'spec.managedBy: Invalid value: "{"a" * 116}...: {NOT_A_CONTROLLER}',
            "spec.managedBy: Too long: may not be more than 253 characters long",
        ),
    ),
]
STATUS_CASES = [
    refused("status", {}, "Invalid value: {}: should have at least 1 properties"),
    Case("status.conditions", conditions(8)),
    refused("status.conditions", conditions(9), "Too many: must have at most 8 items"),
    refused(
        "status.conditions",
        [CONDITION, CONDITION],
        'Duplicate value: {"type":"Complete"}',
        at="status.conditions[1]",
    ),
    Case("status.jobsStatus", job_status(100)),
    refused("status.jobsStatus", job_status(101), "Too many: must have at most 100 items"),
    refused("status.jobsStatus[0].ready", ABSENT, "Required value"),
    refused("status.jobsStatus[0].succeeded", ABSENT, "Required value"),
    refused("status.jobsStatus[0].failed", ABSENT, "Required value"),
    refused("status.jobsStatus[0].active", ABSENT, "Required value"),
    refused("status.jobsStatus[0].suspended", ABSENT, "Required value"),
    refused(
        "status.jobsStatus[0].active", -1, "Invalid value: -1: must be greater than or equal to 0"
    ),
    refused("status.jobsStatus[0].name", "", 'Invalid value: "": should be at least 1 chars long'),
    refused(
        "status.jobsStatus[0].name", "a" * 254, "Too long: may not be more than 253 characters long"
    ),
    refused(
        f"{STATUS}.lastUpdatedTime",
        ABSENT,
        "Invalid value: lastUpdatedTime is required when trainerStatus is present",
        at=STATUS,
    ),
    refused(
        f"{STATUS}.lastUpdatedTime",
        "today",
        'Invalid value: "today": must be a date and time as in RFC 3339: 2026-01-31T12:00:00Z',
    ),
    Case(f"{STATUS}.progressPercentage", 0),
    refused(
        f"{STATUS}.progressPercentage", -1, "Invalid value: -1: must be greater than or equal to 0"
    ),
    refused(
        f"{STATUS}.progressPercentage", 101, "Invalid value: 101: must be less than or equal to 100"
    ),
    refused(
        f"{STATUS}.estimatedRemainingSeconds",
        -1,
        "Invalid value: -1: must be greater than or equal to 0",
    ),
    Case(f"{STATUS}.metrics", metrics(256)),
    refused(f"{STATUS}.metrics", metrics(257), "Too many: must have at most 256 items"),
    Case(f"{STATUS}.metrics[0].value", "1" * 64),
    refused(
        f"{STATUS}.metrics[0].value", "1" * 65, "Too long: may not be more than 64 characters long"
    ),
    refused(f"{STATUS}.metrics[0].value", "", 'Invalid value: "": should be at least 1 chars long'),
    refused(f"{STATUS}.metrics[0].value", 0.1, 'Invalid value: "number": must be of type string'),
    refused(
        f"{STATUS}.metrics[0].name", "m" * 65, "Too long: may not be more than 64 characters long"
    ),
    refused(f"{STATUS}.metrics[0].name", "", 'Invalid value: "": should be at least 1 chars long'),
]


@pytest.mark.parametrize(
    "case", [*NAME, *RUNTIME_REF, *INITIALIZER, *TRAINING, *REST_OF_SPEC, *STATUS_CASES], ids=str
)
def test_one_field(case: Case) -> None:
    assert errors_of(changed(TRAIN_JOB, case.path, case.value)) == case.errors


IMMUTABLE = "Invalid value: field is immutable"
CHANGES = [
    refused("spec.runtimeRef.name", "other", IMMUTABLE, at="spec.runtimeRef"),
    refused("spec.initializer.model", ABSENT, IMMUTABLE, at="spec.initializer"),
    refused("spec.trainer.numNodes", 3, IMMUTABLE, at="spec.trainer"),
    refused("spec.activeDeadlineSeconds", 7, "Invalid value: 7: field is immutable"),
    refused(
        "spec.managedBy",
        "kueue.x-k8s.io/multikueue",
        'Invalid value: "kueue.x-k8s.io/multikueue": field is immutable',
    ),
    Case("spec.suspend", True),
    Case("spec.trainer", ABSENT),
    Case("spec.initializer", ABSENT),
    Case("spec.activeDeadlineSeconds", ABSENT),
    Case("spec.runtimeRef.kind", ABSENT),
    Case("spec.managedBy", ABSENT),
    Case("spec.trainer.numNodes", 2.0),
    Case("metadata.labels", {"x": "y"}),
]


@pytest.mark.parametrize("case", CHANGES, ids=str)
def test_change(case: Case) -> None:
    assert errors_of(changed(TRAIN_JOB, case.path, case.value), TRAIN_JOB) == case.errors


@pytest.mark.parametrize("field", ["spec.trainer", "spec.initializer"])
def test_what_was_left_out_may_be_added(field: str) -> None:
    assert errors_of(TRAIN_JOB, changed(TRAIN_JOB, field, ABSENT)) == ()


def test_all_errors_come_at_once_in_field_order() -> None:
    job = changed(TRAIN_JOB, "spec.trainer.numNodes", -1)
    job = changed(job, "spec.runtimeRef.name", "")
    job = changed(job, "spec.runtimePatches[0].manager", "")
    job = changed(job, "spec.activeDeadlineSeconds", 0)
    job = changed(job, "metadata.name", "X")
    job = changed(job, "spec.replicas", 2)
    assert [error.partition(": ")[0] for error in errors_of(job)] == [
        "metadata.name",
        "spec.runtimeRef.name",
        "spec.trainer.numNodes",
        "spec.runtimePatches[0].manager",
        "spec.activeDeadlineSeconds",
        "spec.replicas",
    ]


def test_short_job_gets_the_defaults_of_the_crd() -> None:
    short = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": "a"},
        "spec": {"runtimeRef": {"name": "torch-distributed"}},
    }
    assert errors_of(short) == ()
    job = read(short)
    assert isinstance(job, TrainJob)
    assert job.to_dict()["spec"] == {
        "runtimeRef": {
            "name": "torch-distributed",
            "apiGroup": "trainer.kubeflow.org",
            "kind": "ClusterTrainingRuntime",
        },
        "suspend": False,
        "managedBy": "trainer.kubeflow.org/trainjob-controller",
    }
    assert job.spec.trainer is None
    assert job.spec.runtime_patches == []


def test_command_not_given_differs_from_an_empty_one() -> None:
    job = read(changed(TRAIN_JOB, "spec.trainer.command", []))
    assert isinstance(job, TrainJob)
    assert job.spec.trainer is not None
    assert job.spec.trainer.command == []
    job = read(changed(TRAIN_JOB, "spec.trainer.command", None))
    assert isinstance(job, TrainJob)
    assert job.spec.trainer is not None
    assert job.spec.trainer.command is None
