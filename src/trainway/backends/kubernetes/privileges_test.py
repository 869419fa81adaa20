"""Privileged containers, and namespaces that refuse them."""

import pytest

from trainway.backends.kubernetes.privileges import are_needed, refusal
from trainway.json_types import Json


def pod(context: Json) -> Json:
    spec = {"initContainers": [{"name": "a"}, {"name": "b", "securityContext": context}]}
    return {"spec": {"replicatedJobs": [{"template": {"spec": {"template": {"spec": spec}}}}]}}


def test_a_container_may_be_anywhere() -> None:
    assert are_needed([{"kind": "Secret"}, pod({"privileged": True})])
    assert not are_needed([pod({"privileged": False}), pod({})])
    assert not are_needed([])


@pytest.mark.parametrize("level", ["baseline", "restricted"])
def test_a_namespace_that_enforces_a_standard_refuses(level: str) -> None:
    labels = {"pod-security.kubernetes.io/enforce": level}
    found = refusal({"metadata": {"name": "team", "labels": labels}})
    assert found == f"namespace team enforces the Pod Security Standard {level}"


def test_other_namespaces_allow_it() -> None:
    labels = {"pod-security.kubernetes.io/enforce": "privileged"}
    assert refusal({"metadata": {"name": "team", "labels": labels}}) == ""
    assert refusal({"metadata": {"name": "team"}}) == ""
