from typing import Any

import pytest

from trainway.api.admission import (
    mpijob_warnings,
    validate_mpijob,
)
from trainway.api.examples_test import (
    MPI_JOB,
    POD,
    Case,
    changed,
    refused,
)
from trainway.api.kinds import read
from trainway.api.mpijob import MPIJob
from trainway.schema.field import ABSENT


def mpijob_of(data: dict[str, Any]) -> MPIJob:
    job = read(data)
    assert isinstance(job, MPIJob)
    return job


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
