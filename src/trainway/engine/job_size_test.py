import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from trainway.backends.base import BackendSettings
from trainway.backends.local.backend import LocalBackend
from trainway.backends.testing import FakeBackend
from trainway.engine.job_size import check_array
from trainway.engine.preparation import prepare
from trainway.engine.submission import Submission
from trainway.engine.testing import jobset
from trainway.errors import InvalidError
from trainway.json_types import Json
from trainway.runtimes import builtin_runtime

BILLION = 2_000_000_000
POD: Json = {"spec": {"containers": [{"name": "main", "image": "x", "command": ["true"]}]}}


def mpijob(workers: int) -> Json:
    specs = {"Launcher": {"template": POD}, "Worker": {"replicas": workers, "template": POD}}
    return {
        "apiVersion": "kubeflow.org/v2beta1",
        "kind": "MPIJob",
        "metadata": {"name": "demo"},
        "spec": {"mpiReplicaSpecs": specs},
    }


def trainjob(runtime: str, nodes: int | None) -> Json:
    trainer: Json = {"command": ["true"]} | ({} if nodes is None else {"numNodes": nodes})
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": "demo"},
        "spec": {"runtimeRef": {"name": runtime}, "trainer": trainer},
    }


def own_runtime(name: str, nodes: int) -> Json:
    """A built-in runtime under another name, for so many nodes."""
    runtime = copy.deepcopy(builtin_runtime(name)) or {}
    runtime["metadata"]["name"] = "own"
    runtime["spec"]["mlPolicy"]["numNodes"] = nodes
    return runtime


def task(nodes: int) -> Json:
    return {
        "apiVersion": "trainway.dev/v1alpha1",
        "kind": "Task",
        "metadata": {"name": "demo"},
        "spec": {"tasks": [{"task": {"run": "true", "num_nodes": nodes}}]},
    }


def role(**more: Any) -> Json:
    made = jobset("demo", job={key: more[key] for key in more if key != "replicas"})
    made["spec"]["replicatedJobs"][0]["replicas"] = more.get("replicas", 1)
    return made


@dataclass(frozen=True)
class Case:
    name: str
    objects: list[Json]
    pods: str = "2,000,000,000"


LARGE = [
    Case("parallelism", [role(parallelism=BILLION, completions=BILLION)]),
    Case("completions", [role(parallelism=1, completions=BILLION)]),
    Case("replicas", [role(replicas=BILLION)]),
    Case("product", [role(replicas=40_000, parallelism=50_000, completions=50_000)]),
    Case("workers", [mpijob(BILLION)]),
    Case("numNodes", [trainjob("torch-distributed", BILLION)]),
    Case("MPI", [trainjob("deepspeed-distributed", BILLION)]),
    Case("num_nodes", [task(BILLION)]),
]


@pytest.mark.parametrize("case", LARGE, ids=lambda case: case.name)
def test_too_many_pods_are_counted_and_refused(case: Case, tmp_path: Path) -> None:
    backend = LocalBackend(BackendSettings(tmp_path))
    with pytest.raises(InvalidError) as caught:
        prepare(Submission(case.objects), backend)
    assert f"it has {case.pods} pods, and on local 1,000 is the most" in caught.value.message
    assert "limits.pods_per_job in config.yaml" in str(caught.value.hint)


@pytest.mark.parametrize("case", LARGE, ids=lambda case: case.name)
def test_a_cluster_has_its_own_limit_and_nothing_is_listed(case: Case) -> None:
    with pytest.raises(InvalidError, match=r"2,000,000,000 pods, .* 150,000 is the most"):
        prepare(Submission(case.objects), FakeBackend())


@pytest.mark.parametrize("name", ["deepspeed-distributed", "flux-distributed", "jax-distributed"])
def test_a_runtime_may_ask_for_no_more(name: str, tmp_path: Path) -> None:
    objects = [own_runtime(name, BILLION), trainjob("own", None)]
    with pytest.raises(InvalidError, match=r"[12],\d{3},\d{3},\d{3} pods"):
        prepare(Submission(objects), LocalBackend(BackendSettings(tmp_path)))


def test_the_limit_is_the_users_to_raise(tmp_path: Path) -> None:
    backend = LocalBackend(BackendSettings(tmp_path))
    large = Submission([role(parallelism=1_001, completions=1_001)])
    assert prepare(Submission([role(parallelism=1_000, completions=1_000)]), backend).name == "demo"
    with pytest.raises(InvalidError, match="1,001 pods"):
        prepare(large, backend)
    (tmp_path / "config.yaml").write_text("limits:\n  pods_per_job: 1001\n")
    assert prepare(large, backend).name == "demo"


def test_gpus_are_counted_too() -> None:
    greedy = jobset("demo", pods=2, requests={"nvidia.com/gpu": str(BILLION)})
    with pytest.raises(InvalidError, match="4,000,000,000 GPUs are too many"):
        prepare(Submission([greedy]), FakeBackend())


def test_jobs_of_an_array_count_together_where_they_may_run_together(tmp_path: Path) -> None:
    backend, spec = LocalBackend(BackendSettings(tmp_path)), jobset("demo", pods=10)["spec"]
    job = {"kind": "JobSet", "metadata": {"name": "demo"}}
    check_array(job, spec, 100, backend)
    with pytest.raises(InvalidError, match=r"101 such jobs have 1,010 pods"):
        check_array(job, spec, 101, backend)
