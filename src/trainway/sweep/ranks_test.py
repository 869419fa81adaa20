from copy import deepcopy
from dataclasses import dataclass

import pytest

from trainway.json_types import Json
from trainway.sweep.ranks import ranked, variables

ENV = [{"name": name, "value": value} for name, value in variables(3, 8).items()]
POD = {"spec": {"initContainers": [{"name": "first"}], "containers": [{"name": "main"}]}}


def told(obj: Json) -> Json:
    """One of eight."""
    before = deepcopy(obj)
    (found,) = ranked([obj], 3, 8)
    assert obj == before
    return found


def test_each_job_is_told_its_rank_under_both_names() -> None:
    assert variables(3, 8) == {
        "SKYPILOT_JOB_RANK": "3",
        "SKYPILOT_NUM_JOBS": "8",
        "TRAINWAY_JOB_RANK": "3",
        "TRAINWAY_NUM_JOBS": "8",
    }


def test_a_trainjob_tells_its_trainer() -> None:
    given = [{"name": "A", "value": "1"}, {"name": "TRAINWAY_JOB_RANK", "value": "mine"}]
    spec = told({"kind": "TrainJob", "spec": {"trainer": {"numNodes": 2, "env": given}}})["spec"]
    assert spec["trainer"] == {"numNodes": 2, "env": [given[0], *ENV]}
    assert told({"kind": "TrainJob", "spec": {}})["spec"] == {"trainer": {"env": ENV}}


@pytest.mark.parametrize(
    "obj",
    [
        {"kind": "JobSet", "spec": {"replicatedJobs": [{"template": {"spec": {"template": POD}}}]}},
        {"kind": "MPIJob", "spec": {"mpiReplicaSpecs": {"Worker": {"template": POD}}}},
    ],
    ids=lambda obj: str(obj["kind"]),
)
def test_others_tell_all_their_containers(obj: Json) -> None:
    assert str(told(obj)).count("'TRAINWAY_NUM_JOBS'") == 2


def test_tasks_have_them_among_their_variables() -> None:
    task = told({"kind": "Task", "spec": {"tasks": [{"task": {"envs": {"A": "1"}}}]}})
    assert task["spec"]["tasks"][0]["task"]["envs"] == {"A": "1", **variables(3, 8)}


@dataclass(frozen=True)
class Wrong:
    obj: Json


@pytest.mark.parametrize(
    "case",
    [
        Wrong({"kind": "TrainJob", "spec": None}),
        Wrong({"kind": "TrainJob", "spec": {"trainer": "x"}}),
        Wrong({"kind": "JobSet", "spec": {"replicatedJobs": [{"template": []}]}}),
        Wrong({"kind": "Task", "spec": {"tasks": "x"}}),
        Wrong({"kind": "MPIJob"}),
    ],
    ids=str,
)
def test_what_is_wrong_is_left_to_the_compiler(case: Wrong) -> None:
    assert told(case.obj) == case.obj


def test_what_comes_along_is_each_jobs_own() -> None:
    pod = {
        "volumes": [
            {"configMap": {"name": "files"}},
            {"secret": {"secretName": "keys"}},
            {"projected": {"sources": [{"secret": {"name": "keys"}}]}},
            {"configMap": {"name": "of the cluster"}},
        ],
        "imagePullSecrets": [{"name": "keys"}],
        "containers": [{"envFrom": [{"configMapRef": {"name": "files"}}]}],
    }
    runtime = {"kind": "TrainingRuntime", "metadata": {"name": "mine"}, "spec": {"pod": pod}}
    ref = {"kind": "TrainingRuntime", "name": "mine"}
    objects: list[Json] = [
        {"kind": "ConfigMap", "metadata": {"name": "files"}, "data": {"secretName": "keys"}},
        {"kind": "Secret", "metadata": {"name": "keys"}},
        runtime,
        {"kind": "TrainJob", "metadata": {"name": "job"}, "spec": {"runtimeRef": ref}},
    ]
    files, keys, own, job = ranked(objects, 3, 8)
    names = [obj["metadata"]["name"] for obj in (files, keys, own, job)]
    assert names == ["files-3", "keys-3", "mine-3", "job"]
    assert files["data"] == {"secretName": "keys"}
    assert job["spec"]["runtimeRef"]["name"] == "mine-3"
    text = str(own["spec"])
    assert (text.count("'files-3'"), text.count("'keys-3'")) == (2, 3)
    assert "'of the cluster'" in text


def test_a_runtime_of_the_cluster_keeps_its_name() -> None:
    objects: list[Json] = [
        {"kind": "ClusterTrainingRuntime", "metadata": {"name": "torch"}, "spec": {}},
        {"kind": "TrainJob", "metadata": {"name": "a"}, "spec": {"runtimeRef": {"name": "torch"}}},
    ]
    runtime, job = ranked(objects, 0, 2)
    assert runtime == objects[0]
    assert job["spec"]["runtimeRef"] == {"name": "torch"}
