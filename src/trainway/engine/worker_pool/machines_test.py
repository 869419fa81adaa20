"""The machines of jobs of every kind, by what they are compiled to."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from trainway.backends.base import BackendSettings
from trainway.backends.cloud.backend import CloudBackend
from trainway.engine.preparation import prepare
from trainway.engine.submission import Submission, parted
from trainway.engine.testing import jobset
from trainway.engine.worker_pool.machines import Machines, gpu_type, machines_of
from trainway.engine.worker_pool.testing import GPU, trainjob
from trainway.errors import UsageError
from trainway.json_types import Json

PRODUCT = "nvidia.com/gpu.product"


def of(job: Json) -> Machines:
    """What is to be rented for it."""
    backend = CloudBackend(BackendSettings(Path("/"), family="aws"))
    made = prepare(Submission([job]), backend)
    source, _ = parted(made.objects)
    assert source is not None
    return machines_of(source, made.jobset, made.companions)


def mpijob(launcher: Json, worker: Json, *, works: bool = False) -> Json:
    def replica(count: int, requests: Json) -> Json:
        container = {"name": "main", "image": "mpi", "command": ["mpirun", "x"]}
        pod = {"containers": [{**container, "resources": {"requests": requests}}]}
        return {"replicas": count, "template": {"spec": pod}}

    return {
        "apiVersion": "kubeflow.org/v2beta1",
        "kind": "MPIJob",
        "metadata": {"name": "pi"},
        "spec": {
            "runLauncherAsWorker": works,
            "mpiReplicaSpecs": {"Launcher": replica(1, launcher), "Worker": replica(3, worker)},
        },
    }


def selecting(**labels: str) -> Json:
    job = jobset("demo", pods=2, requests={"cpu": "4", GPU: "8"})
    pod = job["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    pod["nodeSelector"] = labels
    return job


@dataclass(frozen=True)
class Case:
    name: str
    job: Json
    nodes: int
    resources: Json = field(default_factory=dict)


INITIALIZER: Json = {"dataset": {"storageUri": "hf://a/b"}, "model": {"storageUri": "hf://c/d"}}
CASES = (
    Case("a-jobset-that-asks-for-nothing", jobset("demo", pods=3), 3),
    Case(
        "a-jobset",
        jobset("demo", pods=2, requests={"cpu": "1500m", "memory": "4Gi"}),
        2,
        {"cpus": "1.5+", "memory": "4+"},
    ),
    Case("a-little-memory-counts-nothing", jobset("demo", requests={"memory": "16Ki"}), 1),
    Case(
        "pods-that-run-later-need-no-machine",
        jobset("demo", requests={"cpu": "1"}, job={"parallelism": 2, "completions": 6}),
        2,
        {"cpus": "1+"},
    ),
    Case("a-trainjob", trainjob(4, {"cpu": "8"}), 4, {"cpus": "8+"}),
    Case(
        "what-fetches-data-shares-a-machine",
        trainjob(
            1,
            {"cpu": "2"},
            "torchtune-llama3.2-1b",
            initializer=INITIALIZER,
            annotations={"trainway.dev/accelerators": "L4"},
        ),
        1,
        {"cpus": "2+", "accelerators": "L4:2"},
    ),
    Case(
        "gpus-of-an-annotated-type",
        trainjob(2, {GPU: "8"}, annotations={"trainway.dev/accelerators": "H100"}),
        2,
        {"accelerators": "H100:8"},
    ),
    Case("a-launcher-shares", mpijob({"cpu": "1"}, {"cpu": "7"}), 3, {"cpus": "8+"}),
    Case("a-launcher-works", mpijob({"cpu": "1"}, {"cpu": "7"}, works=True), 4, {"cpus": "7+"}),
    Case(
        "gpus-of-a-selected-type",
        selecting(**{PRODUCT: "NVIDIA-A100-SXM4-80GB"}),
        2,
        {"cpus": "4+", "accelerators": "A100-80GB:8"},
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_each_node_has_a_machine_on_which_it_fits(case: Case) -> None:
    assert of(case.job) == Machines(case.nodes, case.resources)


def test_gpus_of_no_type_are_refused_with_a_way_out() -> None:
    with pytest.raises(UsageError, match="which type of GPU") as caught:
        of(trainjob(1, {GPU: "1"}))
    assert "--gpus A100:1" in (caught.value.hint or "")
    with pytest.raises(UsageError, match="must be NAME or NAME:COUNT"):
        of(trainjob(1, {GPU: "1"}, annotations={"trainway.dev/accelerators": "a lot"}))


@pytest.mark.parametrize(
    ("product", "wanted"),
    [
        ("NVIDIA-H100-80GB-HBM3", "H100"),
        ("NVIDIA-A100-SXM4-40GB", "A100"),
        ("nvidia-a100-80gb", "A100-80GB"),
        ("nvidia-tesla-t4", "T4"),
        ("Tesla-V100-SXM2-16GB", "V100"),
        ("nvidia-l4", "L4"),
    ],
)
def test_labels_of_nodes_name_types_as_clouds_do(product: str, wanted: str) -> None:
    assert gpu_type(product) == wanted
