from dataclasses import dataclass
from typing import Any

import pytest

from trainway.schema.defaulting import with_defaults
from trainway.schema.field import ABSENT
from trainway.schema.kubernetes import kube
from trainway.schema.kubernetes_types import ATOMIC_TYPES, TYPES
from trainway.schema.structural import Schema
from trainway.schema.validation import validate


def test_types_are_shared_objects() -> None:
    assert kube("PodTemplateSpec").properties["spec"] is kube("PodSpec")
    pod = kube("PodSpec").properties
    assert pod["containers"].items is kube("Container")
    assert pod["initContainers"].items is kube("Container")


@pytest.mark.parametrize("name", sorted(TYPES))
def test_every_type_of_the_table_can_be_read(name: str) -> None:
    schema = kube(name)
    assert schema.open
    assert list(schema.properties) == list(TYPES[name])
    assert set(schema.required) <= set(TYPES[name])


def test_an_unknown_type_is_refused() -> None:
    with pytest.raises(KeyError):
        kube("PodSpce")


def test_atomic_types_are_marked() -> None:
    assert kube("LabelSelector").map_type == "atomic"
    assert kube("PodSpec").map_type == ""
    assert set(TYPES) >= ATOMIC_TYPES


@dataclass(frozen=True)
class ListCase:
    type: str
    field: str
    list_type: str
    keys: tuple[str, ...] = ()
    merge: str = ""
    merge_key: str = ""


@pytest.mark.parametrize(
    "case",
    [
        ListCase("PodSpec", "containers", "map", ("name",), "merge", "name"),
        ListCase("PodSpec", "volumes", "map", ("name",), "merge", "name"),
        ListCase("PodSpec", "tolerations", "atomic"),
        ListCase(
            "PodSpec",
            "topologySpreadConstraints",
            "map",
            ("topologyKey", "whenUnsatisfiable"),
            "merge",
            "topologyKey",
        ),
        ListCase("Container", "env", "map", ("name",), "merge", "name"),
        ListCase("Container", "command", "atomic"),
        ListCase(
            "Container", "ports", "map", ("containerPort", "protocol"), "merge", "containerPort"
        ),
        ListCase("Container", "volumeMounts", "map", ("mountPath",), "merge", "mountPath"),
        ListCase("ResourceRequirements", "claims", "map", ("name",)),
        ListCase("ObjectMeta", "finalizers", "set", (), "merge"),
        ListCase("EmbeddedObjectMeta", "finalizers", ""),
    ],
    ids=lambda case: f"{case.type}.{case.field}",
)
def test_lists_know_how_they_merge(case: ListCase) -> None:
    found = kube(case.type).properties[case.field]
    assert (found.type, found.list_type, found.list_map_keys) == (
        "array",
        case.list_type,
        case.keys,
    )
    assert (found.merge, found.merge_key) == (case.merge, case.merge_key)


@pytest.mark.parametrize(
    ("type_", "field", "expected"),
    [
        ("Container", "image", Schema(type="string")),
        ("PodSpec", "priority", Schema(type="integer", format="int32")),
        ("PodSpec", "hostNetwork", Schema(type="boolean")),
        ("HTTPGetAction", "port", Schema(int_or_string=True)),
        ("ObjectMeta", "creationTimestamp", Schema(type="string", format="date-time")),
        ("ConfigMapKeySelector", "name", Schema(type="string")),
    ],
)
def test_plain_fields(type_: str, field: str, expected: Schema) -> None:
    assert kube(type_).properties[field] == expected


def _pod(**container: Any) -> dict[str, Any]:
    return {"containers": [{"name": "a", **container}]}


@dataclass(frozen=True)
class Case:
    value: dict[str, Any]
    error: str = ""


@pytest.mark.parametrize(
    "case",
    [
        Case(_pod(image="x", env=[{"name": "A", "value": "1"}])),
        Case({}, "containers: Required value"),
        Case(_pod(resources={"limits": {"cpu": 1, "memory": "1Gi", "x": "1e3"}})),
        Case(
            _pod(resources={"limits": {"cpu": "one"}}),
            'containers[0].resources.limits.cpu: Invalid value: "one"',
        ),
        Case(
            _pod(resources={"limits": {"cpu": 0.5}}),
            "containers[0].resources.limits.cpu: Invalid value: "
            '"number": must be of type integer or string',
        ),
        Case(_pod(livenessProbe={"httpGet": {"port": "http"}})),
        Case(_pod(ports=[{"containerPort": 80}, {"containerPort": 80, "protocol": "UDP"}])),
        Case(
            _pod(ports=[{"containerPort": 80}, {"containerPort": 80, "protocol": "TCP"}]),
            'containers[0].ports[1]: Duplicate value: {"containerPort":80,"protocol":"TCP"}',
        ),
        Case(
            {**_pod(), "imagePullSecrets": [{}, {"name": ""}]},
            'imagePullSecrets[1]: Duplicate value: {"name":""}',
        ),
        Case(_pod(imgae="x"), 'containers[0].imgae: Unknown field: did you mean "image"?'),
        Case({**_pod(), "nodeSelector": {"a": 1}}, "nodeSelector.a: Invalid value"),
    ],
    ids=lambda case: case.error or "valid",
)
def test_pods_are_checked(case: Case) -> None:
    report = validate(kube("PodSpec"), case.value)
    assert not report.warnings
    if case.error:
        assert len(report.errors) == 1
        assert str(report.errors[0]).startswith(case.error)
    else:
        assert report.errors == []


def test_a_field_of_a_newer_kubernetes_is_only_told() -> None:
    report = validate(kube("PodSpec"), {**_pod(), "quantumEntanglement": True})
    assert report.errors == []
    assert [warning.field for warning in report.warnings] == ["quantumEntanglement"]


def test_defaults_of_map_keys_are_not_filled_in() -> None:
    pod = {**_pod(ports=[{"containerPort": 80}]), "imagePullSecrets": [{}]}
    assert with_defaults(kube("PodSpec"), pod) == pod


def test_only_map_keys_have_defaults() -> None:
    found = {
        (name, field)
        for name in TYPES
        for field, schema in kube(name).properties.items()
        if schema.default is not ABSENT
    }
    assert found == {("ContainerPort", "protocol"), ("LocalObjectReference", "name")}


def test_every_map_key_is_required_or_has_a_default() -> None:
    for name in TYPES:
        for schema in kube(name).properties.values():
            if schema.list_type == "map" and schema.items is not None:
                for key in schema.list_map_keys:
                    default = schema.items.properties[key].default
                    assert key in schema.items.required or default is not ABSENT


def test_metadata_of_templates_is_the_embedded_kind() -> None:
    for name in ("JobTemplateSpec", "PodTemplateSpec", "PersistentVolumeClaim"):
        metadata = kube(name).properties["metadata"]
        assert metadata is kube("EmbeddedObjectMeta")
    assert sorted(kube("EmbeddedObjectMeta").properties) == [
        "annotations",
        "finalizers",
        "labels",
        "name",
        "namespace",
    ]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"status": "Maybe"}, "status"),
        ({"reason": ""}, "reason"),
        ({"reason": "not camel"}, "reason"),
        ({"lastTransitionTime": "today"}, "lastTransitionTime"),
        ({"observedGeneration": -1}, "observedGeneration"),
        ({"type": "-"}, "type"),
    ],
)
def test_conditions_have_limits(change: dict[str, Any], field: str) -> None:
    condition = {
        "type": "Complete",
        "status": "True",
        "reason": "AllJobsCompleted",
        "message": "",
        "lastTransitionTime": "2026-01-31T12:00:00Z",
    }
    assert validate(kube("Condition"), condition).errors == []
    errors = validate(kube("Condition"), {**condition, **change}).errors
    assert {error.field for error in errors} == {field}
