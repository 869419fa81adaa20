import re
from datetime import UTC, datetime

from trainway.json_types import Json
from trainway.kube.events import _identity, event_body, shortened

_NOW = datetime(2026, 11, 15, 8, 0, 0, 5, tzinfo=UTC)


def _object(name: str = "job", namespace: str = "n") -> Json:
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": name, "namespace": namespace, "uid": "u", "resourceVersion": "7"},
    }


def _body(obj: Json, number: int = 1) -> Json:
    return event_body(_identity(obj, "Normal", "Started", "it runs"), obj, "trainer", _NOW, number)


def test_body() -> None:
    body = _body(_object())
    metadata = body.pop("metadata")
    assert metadata["namespace"] == "n"
    assert re.fullmatch(r"job\.[0-9a-f]{13,}", metadata["name"])
    assert body == {
        "apiVersion": "v1",
        "kind": "Event",
        "involvedObject": {
            "apiVersion": "trainer.kubeflow.org/v1alpha1",
            "kind": "TrainJob",
            "name": "job",
            "namespace": "n",
            "uid": "u",
            "resourceVersion": "7",
        },
        "type": "Normal",
        "reason": "Started",
        "message": "it runs",
        "source": {"component": "trainer"},
        "reportingComponent": "trainer",
        "firstTimestamp": "2026-11-15T08:00:00Z",
        "lastTimestamp": "2026-11-15T08:00:00Z",
        "count": 1,
    }


def test_names_differ_and_fit() -> None:
    names = {_body(_object("x" * 253), number)["metadata"]["name"] for number in (1, 2)}
    assert len(names) == 2
    assert {len(name) for name in names} == {253}


def test_of_an_object_without_namespace() -> None:
    body = _body(_object(namespace=""))
    assert body["metadata"]["namespace"] == "default"
    assert "namespace" not in body["involvedObject"]


def test_long_messages_are_cut() -> None:
    assert shortened("x" * 1024) == "x" * 1024
    assert shortened("x" * 1025) == "x" * 1021 + "..."
