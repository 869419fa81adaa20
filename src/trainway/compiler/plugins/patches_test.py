import pytest

from trainway.compiler.plugins.patches import is_domain_prefixed_path
from trainway.compiler.testing import compiled, found, jobs, messages, runtime, trainjob
from trainway.jobset.model import Json


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        ("acme.io/foo", True),
        ("kueue.x-k8s.io/manager", True),
        ("a/b/c", True),
        ("acme.io", False),
        ("acme.io/", False),
        ("/foo", False),
        ("Acme.io/foo", False),
        ("acme.io/with space", False),
    ],
)
def test_domain_prefixed_path(text: str, *, valid: bool) -> None:
    assert is_domain_prefixed_path(text) is valid


def patch(manager: str, template: Json) -> Json:
    return {"manager": manager, "trainingRuntimeSpec": {"template": template}}


def pod_patch(pod: Json) -> Json:
    jobs_patch = [{"name": "node", "template": {"spec": {"template": {"spec": pod}}}}]
    return {"spec": {"replicatedJobs": jobs_patch}}


def test_patches_apply_in_order_and_merge() -> None:
    patches = [
        patch(
            "a.io/x",
            pod_patch({"nodeSelector": {"a": "1", "b": "1"}, "tolerations": [{"key": "a"}]}),
        ),
        patch("b.io/x", pod_patch({"nodeSelector": {"b": "2"}, "tolerations": [{"key": "b"}]})),
        patch("c.io/x", {"metadata": {"labels": {"queue": "q"}, "annotations": {"n": "1"}}}),
    ]
    outcome = compiled(runtime({"torch": {}}), trainjob({}, runtimePatches=patches))
    pod = jobs(outcome)["node"].pod.spec
    assert pod["nodeSelector"] == {"a": "1", "b": "2"}
    assert pod["tolerations"] == [{"key": "b"}]
    metadata = found(outcome, "JobSet")["metadata"]
    assert metadata["labels"] == {"queue": "q"}
    assert metadata["annotations"] == {"n": "1"}


def test_a_manager_has_a_domain() -> None:
    (message,) = messages(runtime({"torch": {}}), trainjob({}, runtimePatches=[patch("me", {})]))
    assert message == (
        'spec.runtimePatches[0].manager: Invalid value: "me": '
        'must be a domain-prefixed path (such as "acme.io/foo")'
    )


def test_the_trainer_s_environment_is_the_job_s_own() -> None:
    change = pod_patch({"containers": [{"name": "node", "env": [{"name": "A", "value": "1"}]}]})
    job = trainjob({}, runtimePatches=[patch("a.io/x", change)])
    (message,) = messages(runtime({"torch": {}}), job)
    assert "containers[0].env: Invalid value" in message
    assert "must not have envs for the dataset-initializer, model-initializer, node" in message
