from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from trainway.api.runtime import ClusterTrainingRuntime
from trainway.api.trainjob import TrainJob
from trainway.compiler.compile import Input, Options, compile_objects
from trainway.compiler.testing import compiled, env, found, jobs, messages, role, runtime, trainjob
from trainway.compiler.trainjob import Target, compile_trainjob
from trainway.jobset.labels import INITIALIZER_STORAGE
from trainway.jobset.model import replicated_jobs
from trainway.json_types import Json
from trainway.runtimes import builtin_runtime

BOTH = {"dataset": {"storageUri": "s3://b/d"}, "model": {"storageUri": "hf://a/m"}}
STEPS = ["dataset-initializer", "model-initializer"]
MOUNT = {"name": "initializer", "mountPath": "/workspace"}


def claim(outcome_spec: Json) -> tuple[list[str], str]:
    ((template,),) = [policy["templates"] for policy in outcome_spec["volumeClaimPolicies"]]
    spec = template["spec"]
    return spec["accessModes"], spec["resources"]["requests"]["storage"]


def test_a_runtime_without_initializers_gets_them() -> None:
    outcome = compiled(runtime({"torch": {}}), trainjob({"numNodes": 1}, initializer=BOTH))

    made = jobs(outcome)
    assert list(made) == [*STEPS, "node"]
    assert made["node"].depends_on == [{"name": step, "status": "Complete"} for step in STEPS]
    for name, container in ((STEPS[0], STEPS[0]), (STEPS[1], STEPS[1]), ("node", "node")):
        fetched = made[name].pod.container(container)
        assert fetched is not None
        assert fetched.data["volumeMounts"] == [MOUNT]
    fetcher = made[STEPS[0]].pod.containers[0]
    assert env(fetcher) == {"STORAGE_URI": "s3://b/d"}
    assert claim(found(outcome, "JobSet")["spec"]) == (["ReadWriteOnce"], "20Gi")
    assert not outcome.warnings


def test_several_nodes_need_a_volume_that_all_of_them_can_mount() -> None:
    job = trainjob({"numNodes": 2}, initializer=BOTH)
    job["metadata"]["annotations"] = {INITIALIZER_STORAGE: "1Ti"}

    outcome = compiled(runtime({"torch": {}}), job)

    assert claim(found(outcome, "JobSet")["spec"]) == (["ReadWriteMany"], "1Ti")


def test_only_what_is_missing_is_added() -> None:
    there = role(STEPS[0], STEPS[0], volumeMounts=[MOUNT])
    trains = role(volumeMounts=[MOUNT])
    pod = trains["template"]["spec"]["template"]["spec"]
    pod["volumes"] = [{"name": "initializer", "persistentVolumeClaim": {"claimName": "mine"}}]

    outcome = compiled(
        runtime({"torch": {}}, there, trains), trainjob({"numNodes": 1}, initializer=BOTH)
    )

    made = jobs(outcome)
    assert sorted(made) == sorted([*STEPS, "node"])
    assert made[STEPS[1]].pod.spec["volumes"] == pod["volumes"]
    assert made[STEPS[0]].pod.containers[0].data["image"] == "old:1"
    assert "volumeClaimPolicies" not in found(outcome, "JobSet")["spec"]


def test_workers_of_mpi_wait_and_their_launcher_waits_for_them() -> None:
    job = trainjob({"numNodes": 2}, "deepspeed-distributed", initializer=BOTH)

    outcome = compile_objects(
        [Input(job, "test.yaml")], Options(redact=True, builtin_runtime=builtin_runtime)
    )

    made = jobs(outcome)
    assert [each["name"] for each in made["node"].depends_on] == STEPS
    assert [each["name"] for each in made["launcher"].depends_on] == ["node"]
    for name in ("node", "launcher"):
        container = made[name].pod.container("node")
        assert container is not None
        assert container.mounts("initializer")
    assert not outcome.warnings


@dataclass(frozen=True)
class Case:
    initializer: Json
    said: str
    annotations: Mapping[str, str]


@pytest.mark.parametrize(
    "case",
    [
        Case({"dataset": {"storageUri": ""}}, "must have dataset-initializer job", {}),
        Case({"model": {}}, "must have model-initializer job", {}),
        Case({"dataset": {"storageUri": "cache://s/t"}}, "must have dataset-initializer job", {}),
        Case(BOTH, "must be an amount of storage", {INITIALIZER_STORAGE: "lots"}),
        Case(BOTH, "must be an amount of storage", {INITIALIZER_STORAGE: "-1Gi"}),
    ],
)
def test_what_cannot_be_added_is_refused_as_upstream_refuses_it(case: Case) -> None:
    job = trainjob({}, initializer=case.initializer)
    job["metadata"]["annotations"] = dict(case.annotations)

    (message,) = messages(runtime({"torch": {}}), job)

    assert case.said in message


def test_roles_that_start_in_order_cannot_wait_for_an_end() -> None:
    ordered = runtime({"torch": {}}, startupPolicy={"startupPolicyOrder": "InOrder"})

    found_messages = messages(ordered, trainjob({}, initializer=BOTH))

    assert len(found_messages) == 2


def test_other_images_take_the_place_of_upstreams() -> None:
    own = role(STEPS[1], STEPS[1], volumeMounts=[MOUNT], image="mine:1")
    images = {step: f"here/{step}:2" for step in STEPS}
    job = TrainJob.parse(trainjob({}, initializer=BOTH))
    target = Target(initializer_images=images)

    parsed = ClusterTrainingRuntime.parse(runtime({"torch": {}}, own, role()))
    made = compile_trainjob(job, parsed, target)

    (jobset,) = [obj for obj in made.objects if obj["kind"] == "JobSet"]
    used = {
        each.name: each.pod.containers[0].data["image"] for each in replicated_jobs(jobset["spec"])
    }
    assert used[STEPS[0]] == images[STEPS[0]]
    assert used[STEPS[1]] == "mine:1"
