from dataclasses import dataclass, field

import pytest

from trainway.json_types import Json
from trainway.operator.caches import (
    all_ready,
    kept_child,
    kept_jobset,
    kept_trainjob,
    phase_of,
    runtime_class_names,
    runtime_key,
)


def condition(type_: str, status: str = "True") -> Json:
    return {"type": type_, "status": status}


@dataclass(frozen=True)
class Case:
    name: str
    phase: str
    conditions: list[Json] = field(default_factory=list)
    jobs: list[Json] = field(default_factory=list)


CASES = [
    Case("new", "Pending"),
    Case("starting", "Pending", jobs=[{"active": 1, "ready": 0}]),
    Case("one of two is ready", "Pending", jobs=[{"ready": 1}, {"ready": 0}]),
    Case("all are ready or done", "Running", jobs=[{"ready": 1}, {"succeeded": 1}]),
    Case("suspended", "Suspended", [condition("Suspended")], [{"ready": 0}]),
    Case("resumed", "Running", [condition("Suspended", "False")], [{"ready": 1}]),
    Case("complete", "Complete", [condition("Suspended", "False"), condition("Complete")]),
    Case("failed, then suspended", "Failed", [condition("Failed"), condition("Suspended")]),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_phase_of_a_job_is_one_word(case: Case) -> None:
    job = {"status": {"conditions": case.conditions, "jobsStatus": case.jobs}}
    assert phase_of(job) == case.phase


def test_nothing_is_ready_where_nothing_is() -> None:
    assert not all_ready([])
    assert not all_ready(None)


def test_a_trainjob_is_kept_without_what_kubectl_adds() -> None:
    annotations = {"kubectl.kubernetes.io/last-applied-configuration": "{}", "a": "b"}
    job = {"metadata": {"name": "t", "managedFields": [{}], "annotations": annotations}, "spec": {}}
    assert kept_trainjob(job) == {"metadata": {"name": "t", "annotations": {"a": "b"}}, "spec": {}}


def test_a_jobset_is_kept_without_its_pods() -> None:
    jobset = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "t", "uid": "U", "generation": 2, "annotations": {"a": "b"}},
        "spec": {"suspend": True, "replicatedJobs": [{"name": "node", "template": {}}]},
        "status": {"restarts": 1, "individualJobRecreates": 3},
    }
    assert kept_jobset(jobset) == {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "t", "uid": "U", "generation": 2},
        "spec": {"suspend": True, "replicatedJobs": [{"name": "node", "replicas": 1}]},
        "status": {"restarts": 1},
    }


@dataclass(frozen=True)
class Kept:
    name: str
    owner: str
    is_kept: bool


KEPT = [
    Kept("anything", "TrainJob", True),
    Kept("anything", "MPIJob", True),
    Kept("anything", "Deployment", False),
    Kept("t-runtime-snapshot", "", True),
    Kept("t-mpi-ssh-auth", "Deployment", True),
    Kept("kube-root-ca.crt", "", False),
]


@pytest.mark.parametrize("case", KEPT, ids=lambda case: f"{case.name} of {case.owner}")
def test_only_what_belongs_to_jobs_or_is_in_their_way_is_kept(case: Kept) -> None:
    owners = [{"kind": case.owner, "name": "t", "controller": True}] if case.owner else []
    found = kept_child({"metadata": {"name": case.name, "ownerReferences": owners}})
    assert (found is not None) is case.is_kept


def test_runtimes_are_told_apart_by_kind_and_namespace() -> None:
    job: Json = {
        "metadata": {"name": "t", "namespace": "ns"},
        "spec": {"runtimeRef": {"name": "r"}},
    }
    assert runtime_key(job) == "ClusterTrainingRuntime:r"
    job["spec"]["runtimeRef"]["kind"] = "TrainingRuntime"
    assert runtime_key(job) == "TrainingRuntime:ns/r"


def test_a_runtime_is_found_by_the_runtime_classes_of_its_pods() -> None:
    def role(pod: Json) -> Json:
        return {"name": "r", "template": {"spec": {"template": {"spec": pod}}}}

    roles = [role({"runtimeClassName": "gvisor"}), role({}), {"name": "bare"}]
    runtime = {"spec": {"template": {"spec": {"replicatedJobs": roles}}}}
    assert runtime_class_names(runtime) == {"gvisor"}
    assert runtime_class_names({"spec": {}}) == set()
