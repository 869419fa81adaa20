from dataclasses import dataclass

import pytest

from trainway.kube import resources
from trainway.kube.resources import (
    CONFIG_MAPS,
    COSCHEDULING_POD_GROUPS,
    JOBSETS,
    NAMESPACES,
    TRAINJOBS,
    VOLCANO_POD_GROUPS,
    Resource,
    UnknownKindError,
    resource_of,
)


@dataclass(frozen=True)
class Case:
    name: str
    resource: Resource
    arguments: tuple[str, ...]
    path: str


@pytest.mark.parametrize(
    "case",
    [
        Case("all of the core group", CONFIG_MAPS, (), "/api/v1/configmaps"),
        Case("of a namespace", CONFIG_MAPS, ("n",), "/api/v1/namespaces/n/configmaps"),
        Case("one", CONFIG_MAPS, ("n", "c"), "/api/v1/namespaces/n/configmaps/c"),
        Case(
            "a subresource of a group",
            TRAINJOBS,
            ("n", "j", "status"),
            "/apis/trainer.kubeflow.org/v1alpha1/namespaces/n/trainjobs/j/status",
        ),
        Case("no namespace where there is none", NAMESPACES, ("n", "x"), "/api/v1/namespaces/x"),
        Case(
            "odd characters", CONFIG_MAPS, ("n", "a/b?"), "/api/v1/namespaces/n/configmaps/a%2Fb%3F"
        ),
    ],
    ids=lambda case: case.name,
)
def test_path(case: Case) -> None:
    assert case.resource.path(*case.arguments) == case.path


def test_resource_of_an_object() -> None:
    assert resource_of({"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet"}) is JOBSETS
    assert resource_of({"apiVersion": "v1", "kind": "ConfigMap"}) is CONFIG_MAPS


def test_resources_of_the_same_kind_are_told_apart_by_their_group() -> None:
    for resource in (COSCHEDULING_POD_GROUPS, VOLCANO_POD_GROUPS):
        obj = {"apiVersion": resource.api_version, "kind": "PodGroup"}
        assert resource_of(obj) is resource


def test_unknown_kind() -> None:
    with pytest.raises(UnknownKindError, match="unknown kind 'Cron' of 'x/v1'"):
        resource_of({"apiVersion": "x/v1", "kind": "Cron"})


def test_every_resource_is_found_by_its_objects() -> None:
    known = [value for value in vars(resources).values() if isinstance(value, Resource)]
    assert len(known) > 30
    for resource in known:
        obj = {"apiVersion": resource.api_version, "kind": resource.kind}
        assert resource_of(obj) is resource
