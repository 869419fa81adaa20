from typing import Any

import pytest
import yaml

from trainway.api.crd import crd
from trainway.api.kinds import KINDS, Kind
from trainway.json_types import Json
from trainway.schema.field import ABSENT

TRAINER = "trainer.kubeflow.org/v1alpha1"
POD = (
    "spec.runtimePatches[].trainingRuntimeSpec.template.spec.replicatedJobs[]"
    ".template.spec.template.spec"
)
ALL = [pytest.param(kind, id=kind.kind) for kind in KINDS.values()]


def version(kind: str) -> Json:
    api_version = "kubeflow.org/v2beta1" if kind == "MPIJob" else TRAINER
    (found,) = crd(KINDS[api_version, kind])["spec"]["versions"]
    assert isinstance(found, dict)
    return found


def at(kind: str, path: str) -> Json:
    """The schema of the field at a path such as `spec.env[].name`, or `spec.map{}`."""
    schema: Json = version(kind)["schema"]["openAPIV3Schema"]
    for step in path.replace("[]", ".[]").replace("{}", ".{}").split("."):
        if step == "[]":
            schema = schema["items"]
        elif step == "{}":
            schema = schema["additionalProperties"]
        else:
            schema = schema["properties"][step]
    return schema


@pytest.mark.parametrize("kind", ALL)
def test_frame(kind: Kind) -> None:
    text = crd(kind)
    assert text["metadata"] == {"name": f"{kind.plural}.{kind.group}"}
    assert text["spec"]["scope"] == kind.scope
    assert text["spec"]["names"] == {
        "kind": kind.kind,
        "listKind": f"{kind.kind}List",
        "plural": kind.plural,
        "singular": kind.singular,
    }
    (only,) = text["spec"]["versions"]
    assert (only["name"], only["served"], only["storage"]) == (kind.version, True, True)
    assert only.get("subresources") == ({"status": {}} if kind.has_status else None)


def test_d18_state_is_the_condition_that_is_true() -> None:
    assert version("TrainJob")["additionalPrinterColumns"] == [
        {
            "name": "State",
            "type": "string",
            "jsonPath": '.status.conditions[?(@.status=="True")].type',
        },
        {"name": "Suspended", "type": "boolean", "jsonPath": ".spec.suspend"},
        {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
    ]


@pytest.mark.parametrize(
    ("kind", "columns"),
    [
        ("TrainingRuntime", []),
        ("ClusterTrainingRuntime", []),
        ("OptimizationJob", ["Trials", "Complete", "Best", "Age"]),
        ("MPIJob", ["Workers", "Running", "Succeeded", "Failed", "Suspended", "Age"]),
    ],
)
def test_columns(kind: str, columns: list[str]) -> None:
    names = [column["name"] for column in version(kind).get("additionalPrinterColumns", [])]
    assert names == columns


@pytest.mark.parametrize(
    ("kind", "path", "default"),
    [
        ("TrainJob", "spec.runtimeRef.apiGroup", "trainer.kubeflow.org"),
        ("TrainJob", "spec.runtimeRef.kind", "ClusterTrainingRuntime"),
        ("TrainJob", "spec.suspend", False),
        ("TrainJob", "spec.managedBy", "trainer.kubeflow.org/trainjob-controller"),
        ("TrainJob", "spec.trainer.numNodes", ABSENT),
        ("TrainJob", "spec.trainer.env", ABSENT),
        ("TrainingRuntime", "spec.mlPolicy.numNodes", ABSENT),
        ("TrainingRuntime", "spec.mlPolicy.mpi.numProcPerNode", 1),
        ("TrainingRuntime", "spec.mlPolicy.mpi.mpiImplementation", "OpenMPI"),
        ("TrainingRuntime", "spec.mlPolicy.mpi.sshAuthMountPath", "/root/.ssh"),
        ("TrainingRuntime", "spec.mlPolicy.mpi.runLauncherAsNode", False),
        ("TrainingRuntime", "spec.mlPolicy.flux.numProcPerNode", 1),
        ("TrainingRuntime", "spec.podGroupPolicy.coscheduling.scheduleTimeoutSeconds", 60),
        ("TrainingRuntime", "spec.podGroupPolicy.volcano.networkTopology.mode", "hard"),
        ("TrainingRuntime", "spec.podGroupPolicy.volcano.networkTopology.highestTierAllowed", 1),
        ("TrainingRuntime", "spec.template.spec.replicatedJobs[].groupName", "default"),
        ("TrainingRuntime", "spec.template.spec.replicatedJobs[].replicas", 1),
        ("TrainingRuntime", "spec.template.spec.failurePolicy.restartStrategy", "Recreate"),
        ("OptimizationJob", "spec.searchAlgorithm", {"random": {}}),
        ("OptimizationJob", "spec.objectives[].direction", "Minimize"),
        ("OptimizationJob", "spec.parameters[].searchSpace.uniform.type", "Float"),
        ("OptimizationJob", "spec.parameters[].searchSpace.logUniform.type", "Float"),
        ("OptimizationJob", "spec.numTrials", 1),
        ("OptimizationJob", "spec.parallelTrials", 1),
        ("MPIJob", "spec.slotsPerWorker", 1),
        ("MPIJob", "spec.runLauncherAsWorker", False),
        ("MPIJob", "spec.mpiImplementation", "OpenMPI"),
        ("MPIJob", "spec.sshAuthMountPath", "/root/.ssh"),
        ("MPIJob", "spec.launcherCreationPolicy", "AtStartup"),
        ("MPIJob", "spec.runPolicy.suspend", False),
        ("MPIJob", "spec.runPolicy.cleanPodPolicy", ABSENT),
        ("MPIJob", "spec.mpiReplicaSpecs{}.replicas", ABSENT),
    ],
)
def test_defaults(kind: str, path: str, default: Any) -> None:
    assert at(kind, path).get("default", ABSENT) == default


@pytest.mark.parametrize(
    ("kind", "path", "list_type", "keys"),
    [
        ("TrainJob", "spec.trainer.env", "map", ["name"]),
        ("TrainJob", "spec.initializer.dataset.env", "map", ["name"]),
        ("TrainJob", "spec.trainer.command", "atomic", None),
        ("TrainJob", "spec.trainer.args", "atomic", None),
        ("TrainJob", "spec.runtimePatches", "map", ["manager"]),
        ("TrainJob", f"{POD}.volumes", "map", ["name"]),
        ("TrainJob", f"{POD}.containers", "map", ["name"]),
        ("TrainJob", f"{POD}.initContainers", "map", ["name"]),
        ("TrainJob", f"{POD}.containers[].env", "map", ["name"]),
        ("TrainJob", f"{POD}.containers[].volumeMounts", "map", ["name"]),
        ("TrainJob", f"{POD}.imagePullSecrets", "map", ["name"]),
        ("TrainJob", f"{POD}.tolerations", "atomic", None),
        ("TrainJob", f"{POD}.schedulingGates", "map", ["name"]),
        ("TrainJob", "status.conditions", "map", ["type"]),
        ("TrainJob", "status.jobsStatus", "map", ["name"]),
        ("TrainJob", "status.trainerStatus.metrics", "atomic", None),
        ("TrainingRuntime", "spec.mlPolicy.torch.envInjection.targets", "map", ["jobName"]),
        (
            "TrainingRuntime",
            "spec.mlPolicy.torch.envInjection.targets[].containerNames",
            "set",
            None,
        ),
        ("TrainingRuntime", "spec.template.spec.replicatedJobs", "map", ["name"]),
        ("OptimizationJob", "spec.objectives", "map", ["metric"]),
        ("OptimizationJob", "spec.parameters", "map", ["name"]),
        ("OptimizationJob", "spec.parameters[].searchSpace.categorical.choices", "set", None),
        ("MPIJob", "status.conditions", "map", ["type"]),
        ("MPIJob", "spec.mpiReplicaSpecs{}.template.spec.containers", "map", ["name"]),
    ],
)
def test_list_types(kind: str, path: str, list_type: str, keys: list[str] | None) -> None:
    schema = at(kind, path)
    assert schema["x-kubernetes-list-type"] == list_type
    assert schema.get("x-kubernetes-list-map-keys") == keys


def test_rules_on_the_name_stand_at_the_root() -> None:
    root = version("TrainJob")["schema"]["openAPIV3Schema"]
    assert root["x-kubernetes-validations"] == [
        {
            "rule": "self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
            "message": "metadata.name must match RFC 1035 DNS label format",
        },
        {
            "rule": "size(self.metadata.name) <= 63",
            "message": "metadata.name must be no more than 63 characters",
        },
    ]
    assert root["properties"]["metadata"] == {"type": "object"}
    assert "x-kubernetes-validations" not in version("TrainingRuntime")["schema"]["openAPIV3Schema"]


IMMUTABLE = ("self == oldSelf", "field is immutable")


@pytest.mark.parametrize(
    ("kind", "path", "rules"),
    [
        ("TrainJob", "spec.runtimeRef", [IMMUTABLE]),
        ("TrainJob", "spec.initializer", [IMMUTABLE]),
        ("TrainJob", "spec.trainer", [IMMUTABLE]),
        ("TrainJob", "spec.activeDeadlineSeconds", [IMMUTABLE]),
        (
            "TrainJob",
            "spec.managedBy",
            [
                (
                    (
                        "self in ['trainer.kubeflow.org/trainjob-controller',"
                        " 'kueue.x-k8s.io/multikueue']"
                    ),
                    (
                        "ManagedBy must be trainer.kubeflow.org/trainjob-controller or"
                        " kueue.x-k8s.io/multikueue if set"
                    ),
                ),
                IMMUTABLE,
            ],
        ),
        (
            "TrainJob",
            "spec.initializer.model.storageUri",
            [
                (
                    "self == '' || self.matches('^[A-Za-z][A-Za-z0-9+.-]*://.+$')",
                    "storageUri may be empty, or it must be a valid URI (scheme://...)",
                )
            ],
        ),
        (
            "TrainJob",
            "spec.trainer.numProcPerNode",
            [("self >= 1", "numProcPerNode must be greater than or equal to 1")],
        ),
        ("TrainJob", "spec.runtimePatches[].manager", [IMMUTABLE]),
        ("TrainJob", f"{POD}.containers", [IMMUTABLE]),
        ("TrainJob", f"{POD}.securityContext", [IMMUTABLE]),
        (
            "TrainJob",
            "status.trainerStatus",
            [
                (
                    "has(self.lastUpdatedTime)",
                    "lastUpdatedTime is required when trainerStatus is present",
                )
            ],
        ),
        (
            "ClusterTrainingRuntime",
            "spec.mlPolicy",
            [
                (
                    (
                        "[has(self.torch), has(self.mpi), has(self.jax),"
                        " has(self.xgboost),has(self.flux)].filter(x, x).size() <= 1"
                    ),
                    "Only one of the policy can be configured",
                )
            ],
        ),
        (
            "OptimizationJob",
            "spec.searchAlgorithm",
            [
                (
                    "[has(self.random),has(self.grid)].filter(x,x==true).size() == 1",
                    "exactly one of the fields in [random grid] must be set",
                )
            ],
        ),
        (
            "OptimizationJob",
            "spec.parameters[].searchSpace.logUniform",
            [
                ("double(self.min) > 0.0", "min must be strictly greater than 0"),
                ("double(self.min) < double(self.max)", "min must be strictly less than max"),
            ],
        ),
    ],
)
def test_rules(kind: str, path: str, rules: list[tuple[str, str]]) -> None:
    found = at(kind, path)["x-kubernetes-validations"]
    assert [(rule["rule"], rule["message"]) for rule in found] == rules


def test_words_of_each_kind_of_value() -> None:
    assert at("TrainJob", "spec.trainer.resourcesPerNode.limits{}") == {
        "anyOf": [{"type": "integer"}, {"type": "string"}],
        "x-kubernetes-int-or-string": True,
        "pattern": at("MPIJob", "spec.runPolicy.schedulingPolicy.minResources{}")["pattern"],
    }
    assert at("TrainJob", "status.trainerStatus.progressPercentage") == {
        "type": "integer",
        "format": "int32",
        "description": "How much is done, from 0 to 100.",
        "minimum": 0,
        "maximum": 100,
    }
    assert at("TrainJob", "spec.trainer.numNodes")["minimum"] == 0
    assert at("TrainJob", "status")["minProperties"] == 1
    assert at("TrainingRuntime", "spec.mlPolicy.mpi.mpiImplementation")["enum"] == [
        "OpenMPI",
        "Intel",
        "MPICH",
        "",
    ]
    assert at("TrainJob", "spec.initializer.model.secretRef")["x-kubernetes-map-type"] == "atomic"
    assert at("TrainJob", "spec.runtimeRef")["required"] == ["name"]


def test_only_the_optimization_job_cannot_be_without_spec() -> None:
    required = {
        kind.kind: version(kind.kind)["schema"]["openAPIV3Schema"].get("required")
        for kind in KINDS.values()
    }
    assert {name for name, fields in required.items() if fields} == {"OptimizationJob"}
    assert required["OptimizationJob"] == ["spec"]


def test_our_fields_are_described_and_core_types_are_not() -> None:
    assert (
        at("MPIJob", "spec.slotsPerWorker")["description"]
        == "How many processes each worker takes."
    )
    assert "description" not in at("MPIJob", "spec.mpiReplicaSpecs{}.template.spec")


@pytest.mark.parametrize("kind", ALL)
def test_kubectl_apply_can_hold_it(kind: Kind) -> None:
    """Client-side apply stores the object in an annotation, which may have 256 KiB."""
    assert len(yaml.dump(crd(kind), Dumper=yaml.CSafeDumper, default_flow_style=True)) < 256 * 1024
