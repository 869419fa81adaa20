import pytest

from trainway.api.examples_test import MPI_JOB, POD, Case, changed, errors_of, refused
from trainway.api.kinds import read
from trainway.api.mpijob import MPIJob
from trainway.schema.field import ABSENT

ROLES = "spec.mpiReplicaSpecs"
POLICY = "spec.runPolicy"
QUANTITY = (
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"
    r"(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
)

CASES = [
    Case("metadata.name", "1st"),  # the controller's rule, see admission
    refused("metadata.name", ABSENT, "Required value"),
    refused("spec", ABSENT, "Required value"),
    refused(ROLES, ABSENT, "Required value"),
    Case(ROLES, {}),
    refused(f"{ROLES}.Worker.template.spec.containers", ABSENT, "Required value"),
    Case(f"{ROLES}.Worker.template", ABSENT),
    Case(f"{ROLES}.Worker.replicas", -1),
    refused(f"{ROLES}.Worker.replica", 1, 'Unknown field: did you mean "replicas"?'),
    Case("spec.slotsPerWorker", -1),
    refused(
        "spec.slotsPerWorker", 2**31, "Invalid value: 2147483648: must be a number that fits int32"
    ),
    Case("spec.mpiImplementation", "MPICH"),
    refused(
        "spec.mpiImplementation",
        "openmpi",
        'Unsupported value: "openmpi": supported values: "OpenMPI", "Intel", "MPICH"',
    ),
    Case("spec.launcherCreationPolicy", "Later"),
    refused(POLICY, [], 'Invalid value: "array": must be of type object'),
    refused(f"{POLICY}.suspend", "true", 'Invalid value: "string": must be of type boolean'),
    Case(f"{POLICY}.schedulingPolicy.minResources", {"cpu": "500m", "nvidia.com/gpu": 8}),
    refused(
        f"{POLICY}.schedulingPolicy.minResources",
        {"cpu": "many"},
        f"Invalid value: \"many\": should match '{QUANTITY}'",
        at=f"{POLICY}.schedulingPolicy.minResources.cpu",
    ),
    refused("spec.cleanPodPolicy", "All", "Unknown field: set spec.runPolicy.cleanPodPolicy"),
    refused(
        "status.conditions",
        [{"type": "Created", "status": "True"}] * 2,
        'Duplicate value: {"type":"Created"}',
        at="status.conditions[1]",
    ),
    refused("status.conditions[0].type", ABSENT, "Required value"),
    refused("status.conditions[0].status", ABSENT, "Required value"),
    refused(
        "status.conditions[0].status",
        "Maybe",
        'Unsupported value: "Maybe": supported values: "True", "False", "Unknown"',
    ),
    refused(
        "status.startTime",
        "noon",
        'Invalid value: "noon": must be a date and time as in RFC 3339: 2026-01-31T12:00:00Z',
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_one_field(case: Case) -> None:
    assert errors_of(changed(MPI_JOB, case.path, case.value)) == case.errors


def test_defaults_of_crd_and_controller() -> None:
    short = {
        "apiVersion": "kubeflow.org/v2beta1",
        "kind": "MPIJob",
        "metadata": {"name": "pi"},
        "spec": {"mpiReplicaSpecs": {"Launcher": {"template": POD}, "Worker": {"template": POD}}},
    }
    job = read(short)
    assert isinstance(job, MPIJob)
    assert job.to_dict()["spec"] == {
        "slotsPerWorker": 1,
        "runLauncherAsWorker": False,
        "mpiImplementation": "OpenMPI",
        "sshAuthMountPath": "/root/.ssh",
        "launcherCreationPolicy": "AtStartup",
        "mpiReplicaSpecs": {
            "Launcher": {"replicas": 1, "restartPolicy": "OnFailure", "template": POD},
            "Worker": {"replicas": 0, "restartPolicy": "Never", "template": POD},
        },
        "runPolicy": {"cleanPodPolicy": "None"},
    }
    assert job.spec.run_policy.suspend is False


def test_an_empty_string_is_defaulted_by_the_controller() -> None:
    job = changed(MPI_JOB, "spec.sshAuthMountPath", "")
    job = changed(job, f"{ROLES}.Worker.restartPolicy", "")
    model = read(job)
    assert isinstance(model, MPIJob)
    assert model.spec.ssh_auth_mount_path == "/root/.ssh"
    assert model.spec.mpi_replica_specs["Worker"].restart_policy == "Never"


def test_a_quantity_may_be_any_number_that_is_whole() -> None:
    path = f"{POLICY}.schedulingPolicy.minResources"
    job = changed(MPI_JOB, path, {"cpu": 2.0, "memory": 4, "pods": "8"})
    assert errors_of(job) == ()
    assert read(job).to_dict() == job


def test_nothing_is_immutable() -> None:
    old = changed(MPI_JOB, "spec.mpiImplementation", "Intel")
    assert errors_of(MPI_JOB, old) == ()
