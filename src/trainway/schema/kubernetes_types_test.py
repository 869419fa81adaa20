import ast
import importlib.util
from types import ModuleType
from typing import Any

import pytest

TOOL = f"{__file__.partition('/src/trainway/')[0]}/tools/kubernetes_types.py"


@pytest.fixture(name="tool")
def _tool(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("tool", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "ROOTS", ("io.k8s.Pod", "io.k8s.ObjectMeta"))
    return module


def _ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/definitions/io.k8s.{name}"}


DOCUMENT: dict[str, Any] = {
    "io.k8s.Unused": {"type": "object"},
    "io.k8s.FieldsV1": {"type": "object"},
    "io.k8s.IntOrString": {"type": "string", "format": "int-or-string"},
    "io.k8s.Quantity": {"type": "string"},
    "io.k8s.Time": {"type": "string", "format": "date-time"},
    "io.k8s.ObjectMeta": {
        "properties": {
            "annotations": {"type": "object", "additionalProperties": {"type": "string"}},
            "finalizers": {
                "type": "array",
                "items": {"type": "string"},
                "x-kubernetes-list-type": "set",
                "x-kubernetes-patch-strategy": "merge",
            },
            "fields": _ref("FieldsV1"),
            "labels": {"type": "object", "additionalProperties": {"type": "string"}},
            "name": {"type": "string"},
            "namespace": {"type": "string"},
        },
    },
    "io.k8s.Part": {
        "required": ["name"],
        "properties": {"name": {"type": "string"}},
        "x-kubernetes-map-type": "atomic",
    },
    "io.k8s.Pod": {
        "properties": {
            "amounts": {"type": "object", "additionalProperties": _ref("Quantity")},
            "at": _ref("Time"),
            "count": {"type": "integer", "format": "int32"},
            "kept": {
                "type": "array",
                "items": _ref("Part"),
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["name"],
            },
            "merged": {
                "type": "array",
                "items": _ref("Part"),
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["name", "port"],
                "x-kubernetes-patch-strategy": "merge,retainKeys",
                "x-kubernetes-patch-merge-key": "name",
            },
            "port": _ref("IntOrString"),
            "atomic": {
                "type": "array",
                "items": {"type": "string"},
                "x-kubernetes-list-type": "atomic",
                "x-kubernetes-patch-strategy": "merge",
                "x-kubernetes-patch-merge-key": "name",
            },
        },
    },
}


def test_the_table_has_the_types_that_are_needed_in_its_own_notation(tool: ModuleType) -> None:
    text = tool.table(DOCUMENT, "9.9")
    atomic, types = (node for node in ast.parse(text).body if isinstance(node, ast.AnnAssign))
    assert "from Kubernetes 9.9; do not edit." in text
    assert isinstance(atomic.value, ast.Call)
    assert ast.literal_eval(atomic.value.args[0]) == {"Part"}
    assert types.value is not None
    assert ast.literal_eval(types.value) == {
        "EmbeddedObjectMeta": {
            "annotations": "{string}",
            "finalizers": "[string]",
            "labels": "{string}",
            "name": "string",
            "namespace": "string",
        },
        "ObjectMeta": {
            "annotations": "{string}",
            "fields": "object",
            "finalizers": "[string] set merge",
            "labels": "{string}",
            "name": "string",
            "namespace": "string",
        },
        "Part": {"name": "string required"},
        "Pod": {
            "amounts": "{Quantity}",
            "at": "date-time",
            "atomic": "[string] atomic merge=name",
            "count": "int32",
            "kept": "[Part] map=name replace",
            "merged": "[Part] map=name,port",
            "port": "IntOrString",
        },
    }
