import pytest

from trainway.json_types import Json
from trainway.operator.webhooks.runtime import validate
from trainway.operator.webhooks.testing import creation, message, runtime, update

KINDS = ("ClusterTrainingRuntime", "TrainingRuntime")


def broken(kind: str) -> Json:
    """Two replicas of a trainer without its container."""
    obj = runtime(kind)
    job = obj["spec"]["template"]["spec"]["replicatedJobs"][0]
    job["replicas"] = 2
    job["template"]["spec"]["template"]["spec"]["containers"][0]["name"] = "main"
    return obj


ERRORS = (
    "[spec.template.spec.replicatedJobs[0].replicas: Invalid value: 2: always must be 1,"
    " spec.template.spec.replicatedJobs[0].template.spec.template.spec.containers: Invalid value:"
    ' ["main"]: must contain the required container for the ancestor: trainer]'
)


@pytest.mark.parametrize("kind", KINDS)
def test_d8_a_runtime_is_judged_when_new_and_when_changed(kind: str) -> None:
    assert message(validate(creation(runtime(kind)))) == ""
    assert message(validate(creation(broken(kind)))) == ERRORS
    assert message(validate(update(runtime(kind), broken(kind)))) == ERRORS


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("step", ["dataset-initializer", "model-initializer"])
def test_a_changed_runtime_may_lack_the_container_of_an_initializer(kind: str, step: str) -> None:
    lacking = runtime(kind)
    label = {"trainer.kubeflow.org/trainjob-ancestor-step": step}
    template = {"metadata": {"labels": label}, "spec": {"template": {"spec": {"containers": []}}}}
    jobs = lacking["spec"]["template"]["spec"]["replicatedJobs"]
    jobs.append({"name": step, "template": template})
    problem = (
        "spec.template.spec.replicatedJobs[1].template.spec.template.spec.containers:"
        f" Invalid value: []: must contain the required container for the ancestor: {step}"
    )
    assert message(validate(creation(lacking))) == problem
    response = validate(update(runtime(kind), lacking))["response"]
    assert response["allowed"]
    assert response["warnings"] == [problem]


def test_a_broken_runtime_that_is_stored_may_still_get_a_label() -> None:
    labelled = broken("TrainingRuntime")
    labelled["metadata"]["labels"] = {"a": "b"}
    assert message(validate(update(broken("TrainingRuntime"), labelled))) == ""


@pytest.mark.parametrize(("kind", "count"), [("ClusterTrainingRuntime", 1), ("TrainingRuntime", 0)])
def test_only_a_new_cluster_runtime_is_warned_of_as_deprecated(kind: str, count: int) -> None:
    old = runtime(kind)
    old["metadata"]["labels"] = {"trainer.kubeflow.org/support": "deprecated"}
    new = runtime(kind, mlPolicy={"numNodes": 2})
    new["metadata"] = old["metadata"]
    assert len(validate(creation(old))["response"].get("warnings", ())) == count
    assert "warnings" not in validate(update(old, new))["response"]
