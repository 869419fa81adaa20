import copy
from typing import Any

import pytest

from trainway.compiler.keys import FixedKeys
from trainway.compiler.plugins.progress import StatusEndpoint
from trainway.compiler.testing import role, runtime, trainjob
from trainway.compiler.workload import Runtime
from trainway.json_types import Json
from trainway.operator.trainjobs.build_error import BuildError, event_message, shortened
from trainway.operator.trainjobs.builder import Builder
from trainway.operator.trainjobs.runtime_snapshot import parsed_runtime

BUILDER = Builder(FixedKeys(), lambda _name: False)
GANG = {"coscheduling": {"scheduleTimeoutSeconds": 5}}


def parsed(policy: Json | None = None, *roles: Json, **spec: Any) -> Runtime:
    found = runtime(policy, *roles)
    found["spec"] |= spec
    return parsed_runtime(found)


def test_a_runtime_is_used_again_and_never_changed() -> None:
    labelled = {"metadata": {"labels": {"a": "b"}}}
    found = runtime({"torch": {}}, role(env=[{"name": "A", "value": "1"}]))
    found["spec"]["template"] |= labelled
    shared = parsed_runtime(found)
    before = copy.deepcopy(shared.to_dict())
    patch = {
        "manager": "a.b/c",
        "trainingRuntimeSpec": {
            "template": {
                "metadata": {"labels": {"x": "y"}},
                "spec": {
                    "replicatedJobs": [
                        {"name": "node", "template": {"metadata": {"labels": {"x": "y"}}}}
                    ]
                },
            }
        },
    }
    job = trainjob({"numNodes": 3, "env": [{"name": "B", "value": "2"}]}, runtimePatches=[patch])
    first = BUILDER.build(job, shared, None).objects
    assert shared.to_dict() == before
    first[0]["spec"]["replicatedJobs"][0]["template"]["metadata"]["labels"]["z"] = "z"
    first[0]["metadata"]["labels"]["z"] = "z"
    assert shared.to_dict() == before
    assert BUILDER.build(job, shared, None).objects != first


def test_the_status_of_a_trainjob_does_not_matter() -> None:
    job = {**trainjob(), "status": {"later": True}}
    assert [obj["kind"] for obj in BUILDER.build(job, parsed(), None).objects] == ["JobSet"]


def test_packages_of_an_annotation_are_installed_by_each_pod_first() -> None:
    job = trainjob()
    job["metadata"]["annotations"] = {"trainway.dev/packages": "trl"}
    (jobset,) = BUILDER.build(job, parsed(), None).objects
    pod = jobset["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    assert [each["name"] for each in pod["initContainers"]] == ["trainway-environment"]
    assert pod["initContainers"][0]["command"][-1] == "trl"
    job["metadata"]["annotations"] = {"trainway.dev/packages": "-r wanted.txt"}
    with pytest.raises(BuildError, match="-r names files, which hosts do not have"):
        BUILDER.build(job, parsed(), None)


def test_gpus_of_all_pods_add_up() -> None:
    resources = {"limits": {"nvidia.com/gpu": 4}}
    built = BUILDER.build(
        trainjob({"numNodes": 3}), parsed({"torch": {}}, role(resources=resources)), None
    )
    assert (built.gpus, built.is_gang) == (12, False)
    assert BUILDER.build(trainjob(), parsed(podGroupPolicy=GANG), None).is_gang


def test_an_endpoint_adds_its_certificate() -> None:
    built = BUILDER.build(trainjob(), parsed(), StatusEndpoint("host", "CA"))
    assert [obj["metadata"]["name"] for obj in built.objects] == ["t-tls-config", "t"]


def test_all_that_is_wrong_is_said_in_one_line() -> None:
    env = [{"name": "PET_NNODES", "value": "1"}]
    job = trainjob({"env": env}, runtimePatches=[{"manager": "me"}])
    with pytest.raises(BuildError) as raised:
        BUILDER.build(job, parsed({"torch": {}}), None)
    message = raised.value.message
    assert "must not have reserved envs" in message
    assert "must be a domain-prefixed path" in message
    assert "\n" not in message


def test_a_trainjob_that_our_model_cannot_read_is_an_error() -> None:
    """With upstream's CRDs there are objects that ours would refuse."""
    for trainer, problem in (
        ({"numNodes": -1}, "spec.trainer.numNodes"),
        ({"later": True}, "spec.trainer.later"),
    ):
        with pytest.raises(BuildError) as raised:
            BUILDER.build(trainjob(trainer), parsed(), None)
        assert raised.value.message.startswith(f"TrainJob cannot be read: {problem}: ")


def test_a_runtime_that_breaks_the_compiler_is_an_error(
    caplog: pytest.LogCaptureFixture,
) -> None:
    broken = role(resources={"limits": {"nvidia.com/gpu": "many"}})
    with pytest.raises(BuildError, match="the runtime cannot be used: "):
        BUILDER.build(trainjob(), parsed({"torch": {}}, broken), None)
    assert "cannot compile t" in caplog.text


def test_a_long_message_is_cut() -> None:
    assert shortened("x" * 950) == "x" * 950
    assert shortened("x" * 951) == "x" * 950 + " ..."
    assert event_message("why") == "TrainJob resources reconciliation failed: why"
