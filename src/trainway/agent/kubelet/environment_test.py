import hashlib
from dataclasses import dataclass

import pytest

from trainway.agent.base.labels import EXCLUSIVE_TOPOLOGY
from trainway.agent.base.plan import Plan
from trainway.agent.base.pod_identity import PodIdentity
from trainway.agent.kubelet.downward import Downward
from trainway.agent.kubelet.environment import (
    command_line,
    declared,
    devices,
    expand,
    submitted,
    with_completion_index,
)
from trainway.agent.kubelet.objects import MissingError, Objects
from trainway.json_types import Json


@dataclass(frozen=True)
class Case:
    text: str
    expected: str


EXPANSIONS = (
    Case("$(A)", "1"),
    Case("a $(A) b $(B)", "a 1 b 2"),
    Case("$(C)", "$(C)"),
    Case("$$(A)", "$(A)"),
    Case("$$$(A)", "$1"),
    Case("$$$$(A)", "$$(A)"),
    Case("$(A", "$(A"),
    Case("$", "$"),
    Case("A$", "A$"),
    Case("$A", "$A"),
    Case("$()", "$()"),
    Case("$($(A))", "$($(A))"),
    Case("price: $$5 $x", "price: $5 $x"),
    Case("", ""),
)


@pytest.mark.parametrize("case", EXPANSIONS, ids=lambda case: case.text)
def test_expand(case: Case) -> None:
    assert expand(case.text, {"A": "1", "B": "2"}) == case.expected


SPEC: Json = {
    "coordinator": {"replicatedJob": "node", "podIndex": 1},
    "network": {"subdomain": "net"},
    "replicatedJobs": [
        {"name": "first", "replicas": 2, "groupName": "g", "template": {"spec": {}}},
        {
            "name": "node",
            "replicas": 3,
            "template": {
                "metadata": {"annotations": {EXCLUSIVE_TOPOLOGY: "rack"}},
                "spec": {
                    "completionMode": "Indexed",
                    "completions": 4,
                    "parallelism": 4,
                    "backoffLimitPerIndex": 2,
                    "template": {
                        "metadata": {"labels": {"mine": "yes"}, "annotations": {"note": 'a"b'}},
                        "spec": {
                            "serviceAccountName": "trainer",
                            "containers": [
                                {"name": "other", "resources": {"limits": {"cpu": "2500m"}}}
                            ],
                        },
                    },
                },
            },
        },
    ],
}
PLAN = Plan(
    {
        "version": 1,
        "id": "job-1",
        "name": "mine",
        "namespace": "team",
        "jobset": {"metadata": {"name": "js", "uid": "u-1"}, "spec": SPEC},
        "host": {"name": "box", "ip": "10.0.0.7"},
    }
)
POD = PodIdentity(
    PLAN, PLAN.role("node"), job_index=1, slot=3, uid="abcdef01-2345", attempt=2, failures=1
)
DOWNWARD = Downward(POD, {"cpu": "8", "memory": "16Gi"})
OBJECTS = Objects(
    [
        {"kind": "ConfigMap", "metadata": {"name": "map"}, "data": {"A": "1", "B": "two"}},
        {"kind": "Secret", "metadata": {"name": "key"}, "data": {"token": "czNjcmV0"}},
    ]
)

JOB_KEY = hashlib.sha1(b"team/js-node-1", usedforsecurity=False).hexdigest()
FIELDS = {
    "metadata.name": "js-node-1-3-abcde",
    "metadata.namespace": "team",
    "metadata.uid": "abcdef01-2345",
    "metadata.labels['mine']": "yes",
    "metadata.labels['none']": "",
    "metadata.labels['batch.kubernetes.io/job-completion-index']": "3",
    "metadata.labels['batch.kubernetes.io/job-name']": "js-node-1",
    "metadata.labels['jobset.sigs.k8s.io/jobset-name']": "js",
    "metadata.labels['jobset.sigs.k8s.io/jobset-uid']": "u-1",
    "metadata.labels['jobset.sigs.k8s.io/replicatedjob-name']": "node",
    "metadata.labels['jobset.sigs.k8s.io/replicatedjob-replicas']": "3",
    "metadata.labels['jobset.sigs.k8s.io/global-replicas']": "5",
    "metadata.labels['jobset.sigs.k8s.io/job-index']": "1",
    "metadata.labels['jobset.sigs.k8s.io/job-global-index']": "3",
    "metadata.labels['jobset.sigs.k8s.io/restart-attempt']": "2",
    "metadata.labels['jobset.sigs.k8s.io/group-name']": "default",
    "metadata.labels['jobset.sigs.k8s.io/group-replicas']": "3",
    "metadata.labels['jobset.sigs.k8s.io/job-group-index']": "1",
    "metadata.labels['jobset.sigs.k8s.io/coordinator']": "js-node-0-1.net",
    "metadata.labels['jobset.sigs.k8s.io/job-key']": JOB_KEY,
    "metadata.annotations['note']": 'a"b',
    f"metadata.annotations['{EXCLUSIVE_TOPOLOGY}']": "rack",
    "metadata.annotations['batch.kubernetes.io/job-index-failure-count']": "1",
    "spec.nodeName": "box",
    "spec.serviceAccountName": "trainer",
    "status.hostIP": "10.0.0.7",
    "status.podIPs": "10.0.0.7",
}


@pytest.mark.parametrize("path", FIELDS)
def test_field(path: str) -> None:
    assert DOWNWARD.field(path) == FIELDS[path]


def test_all_labels_at_once() -> None:
    lines = DOWNWARD.field("metadata.labels").split("\n")
    assert 'mine="yes"' in lines
    assert lines == sorted(lines)
    assert 'note="a\\"b"' in DOWNWARD.field("metadata.annotations").split("\n")


@pytest.mark.parametrize("path", ["status.phase", "spec.nodeName['x']"])
def test_unknown_field(path: str) -> None:
    with pytest.raises(MissingError, match="fieldPath"):
        DOWNWARD.field(path)


@dataclass(frozen=True)
class Resource:
    name: str
    ref: Json
    expected: str


RESOURCES = (
    Resource("limit", {"resource": "limits.cpu"}, "1"),
    Resource("in thousandths", {"resource": "limits.cpu", "divisor": "1m"}, "500"),
    Resource("requests default to limits", {"resource": "requests.cpu", "divisor": "1m"}, "500"),
    Resource("no limit: the machine", {"resource": "limits.memory", "divisor": "1Gi"}, "16"),
    Resource("no request", {"resource": "requests.memory"}, "0"),
    Resource("another", {"resource": "limits.cpu", "containerName": "other"}, "3"),
)


@pytest.mark.parametrize("case", RESOURCES, ids=lambda case: case.name)
def test_resource(case: Resource) -> None:
    own: Json = {"name": "main", "resources": {"limits": {"cpu": "0.5"}}}
    assert DOWNWARD.resource(case.ref, own) == case.expected


@pytest.mark.parametrize(
    "ref",
    [
        {"resource": "limits"},
        {"resource": "limits.cpu", "containerName": "none"},
        {"resource": "limits.cpu", "divisor": "x"},
    ],
)
def test_bad_resource(ref: Json) -> None:
    with pytest.raises(MissingError):
        DOWNWARD.resource(ref, {"name": "main"})


def test_declared_environment() -> None:
    container: Json = {
        "name": "main",
        "envFrom": [
            {"configMapRef": {"name": "map"}},
            {"prefix": "P_", "configMapRef": {"name": "map"}},
            {"secretRef": {"name": "key"}},
            {"secretRef": {"name": "none", "optional": True}},
        ],
        "env": [
            {"name": "B", "value": "mine"},
            {"name": "SUM", "value": "$(A)-$(B)-$(LATER)"},
            {"name": "LATER", "value": "x"},
            {"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "key", "key": "token"}}},
            {"name": "MAYBE", "valueFrom": {"configMapKeyRef": {
                "name": "map", "key": "none", "optional": True}}},
            {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
            {"name": "EMPTY"},
        ],
    }  # fmt: skip
    assert declared(container, OBJECTS, DOWNWARD, {}) == {
        "A": "1",
        "B": "mine",
        "P_A": "1",
        "P_B": "two",
        "token": "s3cret",
        "SUM": "1-mine-$(LATER)",
        "LATER": "x",
        "KEY": "s3cret",
        "NODE": "box",
        "EMPTY": "",
    }


@pytest.mark.parametrize(
    "container",
    [
        {"envFrom": [{"configMapRef": {"name": "none"}}]},
        {"env": [{"name": "X", "valueFrom": {"secretKeyRef": {"name": "key", "key": "none"}}}]},
        {"env": [{"name": "X", "valueFrom": {"fileKeyRef": {"key": "x"}}}]},
    ],
)
def test_what_is_missing_is_named(container: Json) -> None:
    with pytest.raises(MissingError, match=r"none|fileKeyRef"):
        declared(container, OBJECTS, DOWNWARD, {})


def test_completion_index_comes_last_and_once() -> None:
    added = with_completion_index({"env": [{"name": "A", "value": "$(JOB_COMPLETION_INDEX)"}]})
    assert declared(added, OBJECTS, DOWNWARD, {}) == {
        "A": "$(JOB_COMPLETION_INDEX)",
        "JOB_COMPLETION_INDEX": "3",
    }
    own = {"env": [{"name": "JOB_COMPLETION_INDEX", "value": "mine"}]}
    assert with_completion_index(own) is own


def test_what_the_pod_is_told_can_be_referred_to_and_replaced() -> None:
    told = {"TRAINWAY_RANK": "3", "TRAINWAY_OUTPUT_DIR": "/out"}
    env = [
        {"name": "FILE", "value": "$(TRAINWAY_OUTPUT_DIR)/$(TRAINWAY_RANK)"},
        {"name": "TRAINWAY_OUTPUT_DIR", "value": "/mine"},
    ]
    assert declared({"env": env}, OBJECTS, DOWNWARD, told) == {
        "TRAINWAY_RANK": "3",
        "FILE": "/out/3",
        "TRAINWAY_OUTPUT_DIR": "/mine",
    }


def test_command_and_arguments_are_expanded() -> None:
    container = {"command": ["run", "$(A)"], "args": ["$(A)$$(A)", 5]}
    assert command_line(container, {"A": "x"}) == (["run", "x"], ["x$(A)", "5"])
    assert command_line({"args": ["train"]}, {}) == ([], ["train"])


@pytest.mark.parametrize(
    ("resources", "expected"),
    [
        ({"limits": {"nvidia.com/gpu": 2}}, {"CUDA_VISIBLE_DEVICES": "0,2"}),
        ({"requests": {"amd.com/gpu": "1"}}, {"ROCR_VISIBLE_DEVICES": "0,2"}),
        ({"limits": {"nvidia.com/mig-1g.5gb": 1}}, {"CUDA_VISIBLE_DEVICES": "0,2"}),
        ({"limits": {"cpu": 2}}, {}),
        ({}, {}),
    ],
)
def test_devices(resources: Json, expected: Json) -> None:
    assert devices({"resources": resources}, {"gpus": ["0", 2]}) == expected
    assert devices({"resources": resources}, {}) == {}


def test_a_choice_of_the_submitter_does_not_reach_a_container_with_gpus_of_its_own() -> None:
    env = {"PATH": "/bin", "CUDA_VISIBLE_DEVICES": "7", "HIP_VISIBLE_DEVICES": "7"}
    assert submitted(env, {}) == env
    assert submitted(env, {"ROCR_VISIBLE_DEVICES": "0"}) == {"PATH": "/bin"}
