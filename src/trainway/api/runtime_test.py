from typing import Any

import pytest

from trainway.api.examples_test import (
    CLUSTER_RUNTIME,
    TRAINING_RUNTIME,
    Case,
    changed,
    errors_of,
    refused,
)
from trainway.api.kinds import check, read
from trainway.api.runtime import ClusterTrainingRuntime, MLPolicy, MPIPolicy, TrainingRuntime
from trainway.schema.field import ABSENT

ML = "spec.mlPolicy"
TARGETS = f"{ML}.torch.envInjection.targets"
NAMES = f"{TARGETS}[0].containerNames"
GANG = "spec.podGroupPolicy"
JOBSET = "spec.template.spec"
ONLY_ONE = "Invalid value: Only one of the policy can be configured"
NO_NODE = (
    "Invalid value: containerNames must not include the main node container because PET_* envs"
    " are always injected into it"
)
NO_SUBDOMAIN = (
    "must be an RFC 1123 subdomain: at most 253 lower case letters, digits, '-' and '.',"
    " with a letter or digit at each end of each part"
)


def targets(count: int) -> list[dict[str, Any]]:
    return [{"jobName": f"job-{index}", "containerNames": ["a"]} for index in range(count)]


OBJECT = [
    Case("metadata.name", "torch-2.9.cuda"),
    Case("metadata.name", "a" * 253),
    refused("metadata.name", "Torch", f'Invalid value: "Torch": {NO_SUBDOMAIN}'),
    refused("metadata.name", "a..b", f'Invalid value: "a..b": {NO_SUBDOMAIN}'),
    refused("metadata.name", "a\n", f'Invalid value: "a\\n": {NO_SUBDOMAIN}'),
    refused("metadata.name", "", "Required value"),
    refused("spec", ABSENT, "Required value"),
    refused("spec", {}, "Invalid value: {}: should have at least 1 properties"),
    refused("spec.template", {}, "Invalid value: {}: should have at least 1 properties"),
    Case("spec.template", ABSENT),
    refused("status", {}, "Unknown field"),
]
POLICY = [
    Case(ML, {}),
    Case(f"{ML}.numNodes", 0),
    Case(ML, {"jax": {}}),
    Case(ML, {"jax": {}, "torch": None}),
    refused(ML, {"jax": {}, "torch": {}}, ONLY_ONE),
    refused(ML, {"mpi": {}, "xgboost": {}}, ONLY_ONE),
    refused(ML, {"flux": {}, "mpi": {}, "jax": {}}, ONLY_ONE),
    refused(f"{ML}.numNodes", 2**31, "Invalid value: 2147483648: must be a number that fits int32"),
    Case(TARGETS, targets(16)),
    refused(TARGETS, targets(17), "Too many: must have at most 16 items"),
    refused(TARGETS, targets(1) * 2, 'Duplicate value: {"jobName":"job-0"}', at=f"{TARGETS}[1]"),
    refused(f"{TARGETS}[0].jobName", ABSENT, "Required value"),
    refused(f"{TARGETS}[0].jobName", "", 'Invalid value: "": should be at least 1 chars long'),
    refused(
        f"{TARGETS}[0].jobName", "a" * 254, "Too long: may not be more than 253 characters long"
    ),
    refused(NAMES, ABSENT, "Required value"),
    refused(NAMES, [], "Invalid value: 0: should have at least 1 items"),
    Case(NAMES, [f"c{index}" for index in range(8)]),
    refused(NAMES, [f"c{index}" for index in range(9)], "Too many: must have at most 8 items"),
    refused(NAMES, ["a", "a"], 'Duplicate value: "a"', at=f"{NAMES}[1]"),
    Case(NAMES, ["a" * 63]),
    refused(
        NAMES, ["a" * 64], "Too long: may not be more than 63 characters long", at=f"{NAMES}[0]"
    ),
    refused(NAMES, ["a", "node"], NO_NODE),
]
MPI = [
    Case(ML, {"mpi": {"numProcPerNode": 1}}),
    refused(
        ML,
        {"mpi": {"numProcPerNode": 0}},
        "Invalid value: 0: NumProcPerNode in mpiPolicy must be >= 1",
        at=f"{ML}.mpi.numProcPerNode",
    ),
    Case(ML, {"mpi": {"mpiImplementation": "Intel"}}),
    Case(ML, {"mpi": {"mpiImplementation": "MPICH"}}),
    Case(ML, {"mpi": {"mpiImplementation": ""}}),
    refused(
        ML,
        {"mpi": {"mpiImplementation": "openmpi"}},
        'Unsupported value: "openmpi": supported values: "OpenMPI", "Intel", "MPICH", ""',
        at=f"{ML}.mpi.mpiImplementation",
    ),
    Case(ML, {"mpi": {"sshAuthMountPath": "/" * 4096}}),
    refused(
        ML,
        {"mpi": {"sshAuthMountPath": "/" * 4097}},
        "Too long: may not be more than 4096 characters long",
        at=f"{ML}.mpi.sshAuthMountPath",
    ),
    Case(ML, {"flux": {"numProcPerNode": 1}}),
    refused(
        ML,
        {"flux": {"numProcPerNode": 0}},
        "Invalid value: 0: NumProcPerNode in fluxPolicy must be >= 1",
        at=f"{ML}.flux.numProcPerNode",
    ),
]
SCHEDULING = [
    Case(f"{GANG}.volcano.networkTopology.mode", "hard"),
    refused(
        f"{GANG}.volcano.networkTopology.mode",
        "firm",
        'Unsupported value: "firm": supported values: "hard", "soft"',
    ),
    refused(
        f"{GANG}.volcano.networkTopology.highestTierAllowed",
        "1",
        'Invalid value: "string": must be of type integer',
    ),
    refused(f"{GANG}.kai", {}, "Unknown field"),
]
TEMPLATE = [
    Case(
        JOBSET,
        {
            "startupPolicy": {"startupPolicyOrder": "InOrder"},
            "replicatedJobs": [
                {
                    "name": "a",
                    "template": {"spec": {"template": {}}},
                    "dependsOn": [{"name": "b", "status": "Ready"}],
                }
            ],
        },
        (f"{JOBSET}: Invalid value: StartupPolicy and DependsOn APIs are mutually exclusive",),
    ),
    refused(f"{JOBSET}.replicatedJobs[0].replica", 1, 'Unknown field: did you mean "replicas"?'),
    refused(f"{JOBSET}.replicatedJobs[0].template", ABSENT, "Required value"),
]


@pytest.mark.parametrize("case", [*OBJECT, *POLICY, *MPI, *SCHEDULING, *TEMPLATE], ids=str)
@pytest.mark.parametrize("runtime", [TRAINING_RUNTIME, CLUSTER_RUNTIME], ids=["some", "cluster"])
def test_one_field(runtime: dict[str, Any], case: Case) -> None:
    assert errors_of(changed(runtime, case.path, case.value)) == case.errors


def test_defaults_of_the_crd() -> None:
    short = changed(CLUSTER_RUNTIME, "spec.mlPolicy", {"mpi": {}})
    short = changed(
        short, "spec.podGroupPolicy", {"coscheduling": {}, "volcano": {"networkTopology": {}}}
    )
    job = short["spec"]["template"]["spec"]["replicatedJobs"][0]
    del job["replicas"], job["groupName"]
    runtime = read(short)
    assert isinstance(runtime, ClusterTrainingRuntime)
    spec = runtime.to_dict()["spec"]
    assert spec["mlPolicy"] == {
        "mpi": {
            "numProcPerNode": 1,
            "mpiImplementation": "OpenMPI",
            "sshAuthMountPath": "/root/.ssh",
            "runLauncherAsNode": False,
        }
    }
    assert spec["podGroupPolicy"] == {
        "coscheduling": {"scheduleTimeoutSeconds": 60},
        "volcano": {"networkTopology": {"mode": "hard", "highestTierAllowed": 1}},
    }
    filled = runtime.spec.template.spec["replicatedJobs"][0]
    assert (filled["replicas"], filled["groupName"]) == (1, "default")
    assert filled["template"] == job["template"]


def test_flux_processes_default_to_one() -> None:
    runtime = read(changed(CLUSTER_RUNTIME, "spec.mlPolicy", {"flux": {}}))
    assert runtime.to_dict()["spec"]["mlPolicy"] == {"flux": {"numProcPerNode": 1}}


def test_parts_can_be_made_without_arguments() -> None:
    assert MLPolicy().to_dict() == {}
    assert MPIPolicy().mpi_implementation == "OpenMPI"


def test_an_unknown_pod_field_is_told_and_kept() -> None:
    path = f"{JOBSET}.replicatedJobs[0].template.spec.template.spec.futureFeature"
    runtime = changed(TRAINING_RUNTIME, path, {"a": [1]})
    report = check(runtime)
    assert report.errors == []
    assert [str(warning) for warning in report.warnings] == [f"{path}: Unknown field"]
    model = read(runtime)
    assert isinstance(model, TrainingRuntime)
    job = model.spec.template.spec["replicatedJobs"][0]
    assert job["template"]["spec"]["template"]["spec"]["futureFeature"] == {"a": [1]}


IMMUTABLE_PARTS = [
    ("failurePolicy", {"maxRestarts": 1}, {"maxRestarts": 2}),
    ("network", {"subdomain": "a"}, {"subdomain": "b"}),
    (
        "startupPolicy",
        {"startupPolicyOrder": "AnyOrder"},
        {"startupPolicyOrder": "InOrder"},
    ),
    ("successPolicy", {"operator": "All"}, {"operator": "Any"}),
]


@pytest.mark.parametrize(("part", "before", "after"), IMMUTABLE_PARTS)
def test_what_jobset_holds_immutable(
    part: str, before: dict[str, Any], after: dict[str, Any]
) -> None:
    old = changed(TRAINING_RUNTIME, f"{JOBSET}.{part}", before)
    new = changed(TRAINING_RUNTIME, f"{JOBSET}.{part}", after)
    assert errors_of(new, old) == (f"{JOBSET}.{part}: Invalid value: Value is immutable",)
    assert errors_of(changed(old, f"{ML}.numNodes", 4), old) == ()
