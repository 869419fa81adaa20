from dataclasses import dataclass

import pytest

from cluster.api_requests import DEFAULT_NAMESPACE, Kind, Query, kinds_of, message_of, query
from trainway.json_types import Json


def resource(plural: str, kind: str, scope: str = "Namespaced") -> Json:
    return {
        "resource": plural,
        "responseKind": {"group": "", "version": "", "kind": kind},
        "singularResource": kind.lower(),
        "scope": scope,
    }


CORE = {"metadata": {}, "versions": [{"version": "v1", "resources": [resource("pods", "Pod")]}]}
QUEUES = {
    "metadata": {"name": "kueue.x-k8s.io"},
    "versions": [
        {"version": name, "resources": [resource("clusterqueues", "ClusterQueue", "Cluster")]}
        for name in ("v1beta2", "v1beta1")
    ],
}
POD, QUEUE, OLD_QUEUE = kinds_of([CORE, QUEUES])


def test_kinds_are_called_as_kubectl_calls_them() -> None:
    assert {"pods", "pod"} <= POD.names
    assert {"clusterqueue", "clusterqueues", "clusterqueues.kueue.x-k8s.io"} <= QUEUE.names
    assert (QUEUE.api_version, OLD_QUEUE.api_version) == (
        "kueue.x-k8s.io/v1beta2",
        "kueue.x-k8s.io/v1beta1",
    )


@dataclass(frozen=True)
class PathCase:
    kind: Kind
    namespace: str
    name: str
    path: str


@pytest.mark.parametrize(
    "case",
    [
        PathCase(POD, "a", "p", "/api/v1/namespaces/a/pods/p"),
        PathCase(POD, "a", "", "/api/v1/namespaces/a/pods"),
        PathCase(POD, "", "", "/api/v1/pods"),
        PathCase(QUEUE, "a", "q", "/apis/kueue.x-k8s.io/v1beta2/clusterqueues/q"),
    ],
    ids=lambda case: case.path,
)
def test_where_objects_are(case: PathCase) -> None:
    assert case.kind.path(case.namespace, case.name) == case.path


@dataclass(frozen=True)
class QueryCase:
    arguments: str
    query: Query


@pytest.mark.parametrize(
    "case",
    [
        QueryCase("nodes", Query(("nodes",))),
        QueryCase("pod p -n a", Query(("pod",), "p", "a")),
        QueryCase("jobsets,jobs -n a -l x=y", Query(("jobsets", "jobs"), "", "a", "x=y")),
        QueryCase("rolebindings -A", Query(("rolebindings",), "", "")),
        QueryCase("-n a pods", Query(("pods",), "", "a")),
    ],
    ids=lambda case: case.arguments,
)
def test_the_arguments_of_kubectl_get(case: QueryCase) -> None:
    assert query(case.arguments.split()) == case.query


@pytest.mark.parametrize("arguments", ["pods --watch", "pod a b", ""])
def test_what_is_not_understood_is_an_error(arguments: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - which words they are does not matter
        query(arguments.split())


def test_without_a_namespace_it_is_the_default_one() -> None:
    assert query(["pods"]).namespace == DEFAULT_NAMESPACE == "default"


def test_a_refusal_that_is_no_status_is_told_too() -> None:
    assert message_of(b'{"kind": "Status", "message": "denied"}') == "denied"
    assert message_of(b"404 page not found\n") == "404 page not found\n"
