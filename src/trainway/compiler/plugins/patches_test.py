import pytest

from trainway.compiler.plugins.patches import is_domain_prefixed_path
from trainway.compiler.testing import compiled, found, jobs, messages, role, runtime, trainjob
from trainway.json_types import Json


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


def test_merged_lists_stand_in_the_order_of_a_strategic_merge_patch() -> None:
    def init(*names: str) -> Json:
        return {"name": "init", "env": [{"name": name} for name in names]}

    original = runtime({"torch": {}})
    pod = original["spec"]["template"]["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]
    pod["spec"]["initContainers"] = [init("INIT_ENV", "DATASET_PATH") | {"image": "x"}]
    change = patch("a.io/x", pod_patch({"initContainers": [init("INIT_ENV", "NEW_VALUE")]}))
    outcome = compiled(original, trainjob({}, runtimePatches=[change]))
    (merged,) = jobs(outcome)["node"].pod.spec["initContainers"]
    assert [it["name"] for it in merged["env"]] == ["INIT_ENV", "NEW_VALUE", "DATASET_PATH"]


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


def override(*targets: str, metadata: Json | None = None, **spec: Json | list[Json]) -> Json:
    """What Kueue up to 0.16 writes when it admits a job."""
    named = [{"name": target} for target in targets]
    return {"targetJobs": named, "metadata": metadata or {}, "spec": spec}


def test_overrides_go_over_patches_and_tolerations_add_up() -> None:
    patches = [
        patch("a.io/x", pod_patch({"nodeSelector": {"a": "1"}, "tolerations": [{"key": "a"}]}))
    ]
    overrides = [
        override(
            "node",
            metadata={"labels": {"kueue.x-k8s.io/podset": "node"}, "annotations": {"n": "1"}},
            nodeSelector={"pool": "spot"},
            tolerations=[{"key": "spot"}, {"key": "a"}],
            schedulingGates=[{"name": "kueue.x-k8s.io/topology"}],
        ),
    ]
    job = trainjob({}, runtimePatches=patches, podTemplateOverrides=overrides)
    roles = jobs(compiled(runtime({"torch": {}}, role(), role("beside", "")), job))
    pod = roles["node"].pod
    assert pod.spec["nodeSelector"] == {"a": "1", "pool": "spot"}
    assert pod.spec["tolerations"] == [{"key": "a"}, {"key": "spot"}]
    assert pod.spec["schedulingGates"] == [{"name": "kueue.x-k8s.io/topology"}]
    assert pod.data["metadata"] == {
        "labels": {"kueue.x-k8s.io/podset": "node"},
        "annotations": {"n": "1"},
    }
    assert "nodeSelector" not in roles["beside"].pod.spec


def test_an_override_names_jobs_that_are_there() -> None:
    job = trainjob({}, podTemplateOverrides=[override("node", "nobody")])
    (message,) = messages(runtime({"torch": {}}), job)
    assert message == (
        'spec.podTemplateOverrides[0].targetJobs[1].name: Invalid value: "nobody": '
        "must not have targetJob that doesn't exist in the runtime job template"
    )
