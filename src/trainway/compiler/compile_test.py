import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainway.compiler.compile import Input, Options, compile_objects
from trainway.compiler.testing import compiled, found, jobs, messages, node, role, runtime, trainjob
from trainway.json_types import Json


def test_a_job_beside_the_steps_of_a_trainjob_keeps_its_replicas() -> None:
    beside = role("beside", "my-own-step") | {"replicas": 3}
    plain = role("plain", "") | {"replicas": 2}
    outcome = compiled(runtime({"torch": {}}, role(), beside, plain), trainjob({}))
    replicas = {name: job.replicas for name, job in jobs(outcome).items()}
    assert replicas == {"node": 1, "beside": 3, "plain": 2}


def test_a_problem_says_where_it_is() -> None:
    outcome = compiled(runtime({"torch": {}}), trainjob({"numNodes": -1}))
    assert [str(problem) for problem in outcome.errors] == [
        (
            "test.yaml: TrainJob/t: spec.trainer.numNodes: Invalid value: -1: "
            "must be greater than or equal to 0"
        )
    ]
    assert outcome.objects == []


def test_problems_of_all_objects_are_told_and_nothing_comes_out() -> None:
    bad_runtime = runtime({"torch": {}}, role() | {"replicas": 2})
    bad_job = trainjob({"env": [{"name": "PET_NNODES", "value": "1"}]})
    other = trainjob({}, suspend="yes")
    other["metadata"]["name"] = "other"
    outcome = compiled(bad_runtime, bad_job, other)
    assert [(problem.kind, problem.name) for problem in outcome.errors] == [
        ("ClusterTrainingRuntime", "some-runtime"),
        ("TrainJob", "other"),
        ("TrainJob", "t"),
    ]
    assert outcome.objects == []


@pytest.mark.parametrize(
    ("ref", "text"),
    [
        (
            {"name": "absent"},
            (
                'clustertrainingruntimes.trainer.kubeflow.org "absent" not found: specified '
                "clusterTrainingRuntime must be created before the TrainJob is created"
            ),
        ),
        ({"name": "some-runtime", "kind": "TrainingRuntime"}, "trainingRuntime must be created"),
        ({"name": "x", "kind": "Pod"}, "unsupported runtime: use ClusterTrainingRuntime.trainer"),
        ({"name": "x", "apiGroup": "a.io"}, '"ClusterTrainingRuntime.a.io": unsupported runtime'),
    ],
)
def test_a_reference_that_leads_nowhere(ref: Json, text: str) -> None:
    job = trainjob({})
    job["spec"]["runtimeRef"] = ref
    (message,) = messages(runtime({"torch": {}}), job)
    assert message.startswith("spec.runtimeRef: Invalid value: ")
    assert text in message


def test_a_runtime_that_is_not_valid_is_reported_once() -> None:
    (message,) = messages(runtime({"torch": {}, "jax": {}}), trainjob({}))
    assert message == "spec.mlPolicy: Invalid value: Only one of the policy can be configured"


def test_built_in_runtimes_need_no_file_but_one_in_a_file_wins() -> None:
    built_in = runtime({"torch": {}}, role(image="built-in"))
    job = trainjob({})
    by_name = {"some-runtime": built_in}.get
    assert node(compiled(job, builtin_runtime=by_name)).data["image"] == "built-in"
    given_one = runtime({"torch": {}}, role(image="given"))
    assert node(compiled(job, given_one, builtin_runtime=by_name)).data["image"] == "given"


def test_a_namespaced_runtime_belongs_to_its_namespace() -> None:
    own = runtime({"torch": {}}) | {"kind": "TrainingRuntime"}
    job = trainjob({})
    job["spec"]["runtimeRef"]["kind"] = "TrainingRuntime"
    own["metadata"]["namespace"] = "elsewhere"
    assert "not found" in messages(own, job)[0]
    own["metadata"]["namespace"] = "ns"
    assert messages(own, job) == []


def test_a_job_of_another_controller_has_no_objects() -> None:
    managed = trainjob({}, managedBy="kueue.x-k8s.io/multikueue")
    outcome = compiled(runtime({"torch": {}}), managed)
    assert (outcome.errors, outcome.objects) == ([], [])


def test_the_same_object_twice() -> None:
    assert messages(runtime({"torch": {}}), trainjob({}), trainjob({})) == [
        'metadata.name: Duplicate value: "t"'
    ]


@pytest.mark.parametrize(
    ("obj", "errors", "warnings"),
    [
        ({}, ["apiVersion: Required value", "kind: Required value"], []),
        ({"apiVersion": "v1"}, ["kind: Required value"], []),
        (
            {"apiVersion": "trainer.kubeflow.org/v1", "kind": "TrainJob"},
            ["there is no such kind; did you mean TrainJob of trainer.kubeflow.org/v1alpha1?"],
            [],
        ),
        (
            {"apiVersion": "kubeflow.org/v2beta1", "kind": "MPIJobs"},
            ["there is no such kind; did you mean MPIJob of kubeflow.org/v2beta1?"],
            [],
        ),
        (
            {"apiVersion": "kubeflow.org/v1", "kind": "Notebook"},
            ["there is no kind Notebook in kubeflow.org/v1"],
            [],
        ),
        (
            {"apiVersion": "v1", "kind": "Service"},
            ["v1 Service is not a job or runtime"],
            [],
        ),
    ],
)
def test_other_kinds(obj: Json, errors: list[str], warnings: list[str]) -> None:
    outcome = compiled(obj)
    assert [problem.message for problem in outcome.errors] == errors
    assert [problem.message for problem in outcome.warnings] == warnings


def test_another_kind_beside_a_job_is_left_out() -> None:
    outcome = compiled({"apiVersion": "v1", "kind": "Service"}, jobset())
    assert outcome.errors == []
    (warning,) = outcome.warnings
    assert warning.message == "warning: v1 Service is not a job or runtime; it is left out"


@pytest.mark.parametrize("kind", ["TrainJob", "MPIJob", "JobSet"])
def test_a_status_does_not_count_and_a_name_may_be_generated(kind: str) -> None:
    container = {"name": "c", "image": "i"}
    launcher = {"Launcher": {"template": {"spec": {"containers": [container]}}}}
    obj = {
        "TrainJob": trainjob({}),
        "JobSet": jobset(),
        "MPIJob": {
            "apiVersion": "kubeflow.org/v2beta1",
            "kind": "MPIJob",
            "spec": {"mpiReplicaSpecs": launcher},
        },
    }[kind]
    obj |= {"metadata": {"generateName": "some-"}, "status": {"surely": "unknown"}}
    made = found(compiled(runtime({"torch": {}}), obj), "JobSet")
    assert made["metadata"].get("name", "some-xxxxx") == "some-xxxxx"
    assert "status" not in made


def jobset(**spec: Any) -> Json:
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "s"},
        "spec": {"replicatedJobs": [role("w", "")], **spec},
    }


def test_a_jobset_passes_through_with_its_webhook_s_defaults() -> None:
    spec = found(compiled(jobset()), "JobSet")["spec"]
    assert spec["successPolicy"] == {"operator": "All"}
    assert spec["replicatedJobs"][0]["template"]["spec"]["completionMode"] == "Indexed"


def test_a_jobset_is_checked_as_by_its_webhook() -> None:
    (message,) = messages(jobset(successPolicy={"operator": "All", "targetReplicatedJobs": ["x"]}))
    assert message.startswith("spec.successPolicy.targetReplicatedJobs[0]: ")


def test_deprecated_runtimes_are_told_of() -> None:
    old = runtime({"torch": {}})
    old["metadata"]["labels"] = {"trainer.kubeflow.org/support": "deprecated"}
    outcome = compiled(old, trainjob({}))
    assert [problem.kind for problem in outcome.warnings] == ["ClusterTrainingRuntime", "TrainJob"]
    assert outcome.objects


def test_inputs_are_left_as_they_are() -> None:
    objects = [runtime({"numNodes": 2, "torch": {}}), trainjob({"image": "new"})]
    before = copy.deepcopy(objects)
    compiled(*objects)
    assert objects == before


FRAMEWORKS = ("torch", "jax", "xgboost", "mpi", "flux")
POLICIES: st.SearchStrategy[Json] = st.sampled_from([{}, *({name: {}} for name in FRAMEWORKS)])
AMOUNTS = st.dictionaries(
    st.sampled_from(["cpu", "memory", "nvidia.com/gpu"]), st.integers(0, 64), max_size=3
)


@given(
    policy=POLICIES,
    nodes=st.none() | st.integers(0, 5),
    limits=AMOUNTS,
    gang=st.sampled_from([None, {"coscheduling": {}}, {"volcano": {}}]),
    order=st.permutations(range(3)),
)
def test_same_input_same_bytes(
    policy: Json, nodes: int | None, limits: Json, gang: Json | None, order: list[int]
) -> None:
    rt = runtime(policy, role("node", ""), role("launcher"))
    if gang is not None:
        rt["spec"]["podGroupPolicy"] = gang
    trainer: Json = {"resourcesPerNode": {"limits": limits}}
    if nodes is not None:
        trainer["numNodes"] = nodes
    objects = [rt, trainjob(trainer), jobset()]

    def text(items: list[Json]) -> str:
        inputs = [Input(copy.deepcopy(item), "f") for item in items]
        outcome = compile_objects(inputs, Options(redact=True))
        assert not outcome.errors
        return json.dumps(outcome.objects)

    assert text(objects) == text(objects)
    shuffled = text([objects[index] for index in order])
    assert sorted(map(json.dumps, json.loads(shuffled))) == sorted(
        map(json.dumps, json.loads(text(objects)))
    )
