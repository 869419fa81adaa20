"""Every rule of our CRDs on a real API server, next to what our offline validation says.

One table of wrong objects drives both, and upstream's CRDs too. A last test makes sure that no CEL
rule is missing in the table.
"""

import asyncio
import copy
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import pytest
from cluster.access import Access

from trainway.api.crd import crd
from trainway.api.kinds import KINDS, check
from trainway.json_types import Json
from trainway.kube.client import Client
from trainway.kube.connection import load_connection
from trainway.kube.errors import InvalidObject
from trainway.operator.install import served_resource

TRAINER: Final = "trainer.kubeflow.org/v1alpha1"
IMMUTABLE: Final = "field is immutable"
FROZEN: Final = "Value is immutable"
URI: Final = "storageUri may be empty, or it must be a valid URI (scheme://...)"
RUNTIMES: Final = ("TrainingRuntime", "ClusterTrainingRuntime")


@dataclass(frozen=True)
class Case:
    """A wrong object: a good one with changes. With `old` it is a change that is not allowed."""

    kind: str
    message: str
    new: Mapping[str, Any] = field(default_factory=dict)
    old: Mapping[str, Any] | None = None
    name: str = "good"
    subresource: str = ""

    @property
    def text(self) -> str:
        """As pytest shows it."""
        paths = ",".join(self.new)
        words = f"{self.kind} {self.name[:10]} {paths} {self.message[:30]}"
        return re.sub(r"[^\w.,-]+", "_", words)


GOOD: Final[Mapping[str, Json]] = {
    "TrainJob": {"runtimeRef": {"name": "torch"}},
    "TrainingRuntime": {"template": {"spec": {"replicatedJobs": []}}},
    "ClusterTrainingRuntime": {"template": {"spec": {"replicatedJobs": []}}},
    "OptimizationJob": {
        "objectives": [{"metric": "loss"}],
        "parameters": [{"name": "lr", "searchSpace": {"categorical": {"choices": ["1"]}}}],
        "trainJobTemplate": {"spec": {"runtimeRef": {"name": "torch"}}},
    },
}


def trainjob_spec_cases(kind: str, root: str) -> Iterator[Case]:
    """The rules of a TrainJob's spec, which stands in an OptimizationJob too."""
    for part in ("dataset", "model"):
        yield Case(kind, URI, {f"{root}.initializer.{part}.storageUri": "nowhere"})
    yield Case(
        kind,
        "numProcPerNode must be greater than or equal to 1",
        {f"{root}.trainer.numProcPerNode": 0},
    )
    yield Case(
        kind,
        "ManagedBy must be trainer.kubeflow.org/trainjob-controller or kueue.x-k8s.io/multikueue"
        " if set",
        {f"{root}.managedBy": "me"},
    )
    for path, old, new in (
        ("runtimeRef.name", "a", "b"),
        ("initializer.dataset.storageUri", "hf://a", "hf://b"),
        ("trainer.image", "a", "b"),
        ("activeDeadlineSeconds", 1, 2),
        ("managedBy", "kueue.x-k8s.io/multikueue", "trainer.kubeflow.org/trainjob-controller"),
    ):
        yield Case(kind, IMMUTABLE, {f"{root}.{path}": new}, {f"{root}.{path}": old})
    patches = f"{root}.runtimePatches"
    for name, before, after in (
        ("serviceAccountName", "a", "b"),
        ("volumes", [{"name": "a", "emptyDir": {}}], [{"name": "a"}]),
        ("initContainers", [{"name": "a"}], [{"name": "b"}]),
        ("containers", [{"name": "a"}], [{"name": "b"}]),
        ("imagePullSecrets", [{"name": "a"}], [{"name": "b"}]),
        ("securityContext", {"runAsUser": 1}, {"runAsUser": 2}),
        ("terminationGracePeriodSeconds", 1, 2),
    ):
        new_patches, old_patches = [patch(name, after)], [patch(name, before)]
        yield Case(
            kind, IMMUTABLE, {patches: new_patches}, {patches: old_patches}, name=name.lower()
        )


def patch(name: str, value: Any) -> Json:
    """A runtime patch with one field of the pod."""
    template = {"spec": {"template": {"spec": {name: value}}}}
    jobs = [{"name": "node", "template": template}]
    spec = {"template": {"spec": {"replicatedJobs": jobs}}}
    return {"manager": "a.io/x", "trainingRuntimeSpec": spec}


def runtime_cases(kind: str) -> Iterator[Case]:
    template = "spec.template.spec"
    yield Case(
        kind,
        "Only one of the policy can be configured",
        {"spec.mlPolicy": {"torch": {}, "mpi": {}}},
    )
    targets = [{"jobName": "a", "containerNames": ["node"]}]
    yield Case(
        kind,
        "containerNames must not include the main node container because PET_* envs are always"
        " injected into it",
        {"spec.mlPolicy.torch.envInjection.targets": targets},
    )
    for policy in ("mpi", "flux"):
        message = f"NumProcPerNode in {policy}Policy must be >= 1"
        yield Case(kind, message, {f"spec.mlPolicy.{policy}.numProcPerNode": 0})
    first, dependent = step("a"), step("b", status="Ready")
    yield Case(
        kind,
        "StartupPolicy and DependsOn APIs are mutually exclusive",
        {
            f"{template}.replicatedJobs": [first, dependent],
            f"{template}.startupPolicy.startupPolicyOrder": "InOrder",
        },
    )
    for path, old, new in (
        ("failurePolicy.maxRestarts", 1, 2),
        ("network.subdomain", "a", "b"),
        ("startupPolicy.startupPolicyOrder", "AnyOrder", "InOrder"),
        ("successPolicy", {"operator": "All"}, {"operator": "Any"}),
        ("volumeClaimPolicies", [{"templates": [claim("a")]}], [{"templates": [claim("b")]}]),
    ):
        yield Case(kind, FROZEN, {f"{template}.{path}": new}, {f"{template}.{path}": old})
    yield Case(
        kind,
        FROZEN,
        {f"{template}.replicatedJobs": [first, step("b", status="Complete")]},
        {f"{template}.replicatedJobs": [first, dependent]},
    )
    yield Case(
        kind,
        "namespace cannot be set for VolumeClaimPolicies templates",
        {f"{template}.volumeClaimPolicies": [{"templates": [claim("a", namespace="x")]}]},
    )


def step(name: str, status: str = "") -> Json:
    """A replicated job, which may wait for the one called `a`."""
    containers = [{"name": "node", "image": "i"}]
    pod = {"spec": {"containers": containers, "restartPolicy": "Never"}}
    job: Json = {"name": name, "template": {"spec": {"template": pod}}}
    return job | ({"dependsOn": [{"name": "a", "status": status}]} if status else {})


def claim(name: str, **metadata: str) -> Json:
    return {"metadata": {"name": name, **metadata}, "spec": {}}


def optimizationjob_cases() -> Iterator[Case]:
    kind, space = "OptimizationJob", "spec.parameters.0.searchSpace"
    for path, value, message in (
        ("spec.parallelTrials", 2, "parallelTrials cannot exceed numTrials"),
        (
            "spec.searchAlgorithm",
            {"random": {}, "grid": {}},
            "exactly one of the fields in [random grid] must be set",
        ),
        (
            space,
            {},
            "exactly one of the fields in [uniform logUniform categorical] must be set",
        ),
        (space, interval("uniform", "2", "1"), "min must be strictly less than max"),
        (space, interval("logUniform", "2", "1"), "min must be strictly less than max"),
        (space, interval("logUniform", "0", "1"), "min must be strictly greater than 0"),
        (
            "spec.trainJobTemplate.metadata",
            {"name": "x"},
            "name and namespace cannot be set in a template.",
        ),
    ):
        yield Case(kind, message, {path: value})
    grid = {"spec.searchAlgorithm": {"grid": {}}, space: interval("uniform", "1", "2")}
    yield Case(
        kind,
        "Grid search requires all parameters to be Categorical; Uniform and LogUniform are not"
        " supported.",
        grid,
    )
    message = "OptimizationJobSpec is immutable and cannot be updated after creation"
    yield Case(kind, message, {"spec.numTrials": 2}, {"spec.numTrials": 3})


def interval(kind: str, low: str, high: str) -> Json:
    return {kind: {"min": low, "max": high}}


CASES: Final = [
    Case("TrainJob", "metadata.name must match RFC 1035 DNS label format", name="1x"),
    Case("TrainJob", "metadata.name must be no more than 63 characters", name="x" * 64),
    Case(
        "TrainJob",
        "lastUpdatedTime is required when trainerStatus is present",
        {"status.trainerStatus.progressPercentage": 1},
        {},
        subresource="status",
    ),
    *trainjob_spec_cases("TrainJob", "spec"),
    *(case for kind in RUNTIMES for case in runtime_cases(kind)),
    *optimizationjob_cases(),
    *trainjob_spec_cases("OptimizationJob", "spec.trainJobTemplate.spec"),
]


def place(obj: Any, path: str, value: Any) -> None:
    """Set a value at `a.b.0.c`."""
    *parents, last = path.split(".")
    for step in parents:
        obj = obj[int(step)] if isinstance(obj, list) else obj.setdefault(step, {})
    obj[last] = copy.deepcopy(value)


def changed(case: Case, changes: Mapping[str, Any], namespace: str) -> Json:
    """The good object of a kind with some changes."""
    metadata = {"name": case.name}
    if case.kind != "ClusterTrainingRuntime":
        metadata["namespace"] = namespace
    spec = copy.deepcopy(GOOD[case.kind])
    obj: Json = {"apiVersion": TRAINER, "kind": case.kind, "metadata": metadata, "spec": spec}
    for path, value in changes.items():
        place(obj, path, value)
    return obj


async def refusals(cluster: Access, case: Case, namespace: str) -> tuple[set[str], set[str]]:
    """What the API server says against a case, and what we say."""
    new = changed(case, case.new, namespace)
    resource = served_resource(crd(KINDS[TRAINER, case.kind]))
    where = new["metadata"].get("namespace", "")
    async with Client(load_connection(cluster.kubeconfig, None)) as client:
        if case.old is None:
            with pytest.raises(InvalidObject) as refused:
                await client.create(resource, new, where, dry_run=True)
            return causes(refused.value), texts(new, None)
        old = await client.create(resource, changed(case, case.old, namespace), where)
        new["metadata"] = old["metadata"]
        try:
            with pytest.raises(InvalidObject) as refused:
                await client.replace(resource, new, case.subresource)
        finally:
            await client.delete(resource, case.name, where)
        return causes(refused.value), texts(new, old)


def causes(error: InvalidObject) -> set[str]:
    return {f"{cause['field']}: {cause['message']}" for cause in error.details["causes"]}


def texts(new: Json, old: Json | None) -> set[str]:
    """Ours; a rule on the name stands at the name, while a CRD can only have it at the root."""
    found = {str(error) for error in check(new, old).errors}
    named = re.compile(r"^metadata\.name: Invalid value: \"\w+\"")
    return {named.sub("<nil>: Invalid value", text) for text in found}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.text)
def test_a_rule_is_enforced_in_the_words_of_the_offline_validation(
    case: Case, api_cluster: Access, our_namespace: str
) -> None:
    real, ours = asyncio.run(refusals(api_cluster, case, our_namespace))
    assert real == ours
    assert any(text.endswith(f": {case.message}") for text in real)


@pytest.fixture(scope="module")
def our_namespace(api_cluster: Access) -> Iterator[str]:
    """One for all cases, which leave nothing behind."""
    api_cluster.install_our_crds()
    name = "crd-rules"
    api_cluster.create_namespace(name)
    yield name
    api_cluster.delete_namespace(name)


def rules(schema: Json, path: str = "") -> Iterator[tuple[str, str]]:
    """Every CEL rule of a schema: where it stands and what it says."""
    for rule in schema.get("x-kubernetes-validations", ()):
        yield path, rule["message"]
    for name, inner in schema.get("properties", {}).items():
        yield from rules(inner, f"{path}.{name}" if path else name)
    for word in ("items", "additionalProperties"):
        if word in schema:
            yield from rules(schema[word], path)


def test_no_rule_is_missing_in_the_table() -> None:
    covered = {
        (case.kind, re.sub(r"\[\d+\]", "", error.field.replace("metadata.name", "")), error.detail)
        for case in CASES
        for error in check(
            changed(case, case.new, "ns"),
            None if case.old is None else changed(case, case.old, "ns"),
        ).errors
    }
    declared = {
        (kind.kind, path, message)
        for kind in KINDS.values()
        for path, message in rules(crd(kind)["spec"]["versions"][0]["schema"]["openAPIV3Schema"])
        if not path.endswith("runtimePatches.manager")
    }
    assert declared - covered == set()


# With upstream's CRDs in place of ours


NEWER: Final = (
    "numProcPerNode must be greater than or equal to 1",
    "NumProcPerNode in mpiPolicy must be >= 1",
)
"""Rules that came after upstream's release (#3809), as did the kind OptimizationJob."""
SHARED: Final = [
    case for case in CASES if case.kind != "OptimizationJob" and case.message not in NEWER
]


@pytest.mark.parametrize("case", SHARED, ids=lambda case: case.text)
def test_upstreams_crds_say_the_same(case: Case, upstream_cluster: Access) -> None:
    real, ours = asyncio.run(refusals(upstream_cluster, case, "default"))
    assert real == ours
