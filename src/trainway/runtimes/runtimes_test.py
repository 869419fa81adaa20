from typing import Any

import pytest

from trainway.api import kinds
from trainway.runtimes import builtin_runtime, builtin_runtimes, names

FRAMEWORKS = {
    "deepspeed-distributed": ("deepspeed", "mpi"),
    "flux-distributed": ("flux", "flux"),
    "jax-distributed": ("jax", "jax"),
    "mlx-distributed": ("mlx", "mpi"),
    "torch-distributed": ("torch", "torch"),
    "torch-distributed-with-cache": ("torch", "torch"),
    "torchtune-llama3.2-1b": ("torchtune", "torch"),
    "torchtune-llama3.2-3b": ("torchtune", "torch"),
    "torchtune-qwen2.5-1.5b": ("torchtune", "torch"),
    "trl-dpo": ("trl", "torch"),
    "trl-sft": ("trl", "torch"),
    "xgboost-distributed": ("xgboost", "xgboost"),
}


def containers(runtime: dict[str, Any]) -> dict[str, dict[str, Any]]:
    jobs = runtime["spec"]["template"]["spec"]["replicatedJobs"]
    return {
        job["name"]: job["template"]["spec"]["template"]["spec"]["containers"][0] for job in jobs
    }


def test_the_names_are_those_of_kubeflow_trainer_and_two_of_ours() -> None:
    assert names() == list(FRAMEWORKS)
    assert [runtime["metadata"]["name"] for runtime in builtin_runtimes()] == names()


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_a_runtime_says_its_framework_and_has_its_policy(name: str) -> None:
    runtime = builtin_runtime(name)

    assert runtime is not None
    framework, policy = FRAMEWORKS[name]
    assert runtime["metadata"]["labels"]["trainer.kubeflow.org/framework"] == framework
    assert set(runtime["spec"]["mlPolicy"]) == {"numNodes", policy}


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_a_runtime_passes_the_checks_of_its_kind(name: str) -> None:
    runtime = builtin_runtime(name)

    assert runtime is not None
    report = kinds.check(runtime)
    assert [str(error) for error in report.errors + report.warnings] == []


@pytest.mark.parametrize("name", ["", "torch", "../__init__", "__init__", "Torch-Distributed"])
def test_another_name_has_no_runtime(name: str) -> None:
    assert builtin_runtime(name) is None


def test_a_caller_cannot_change_the_next_ones_runtime() -> None:
    first = builtin_runtime("torch-distributed")
    assert first is not None
    first["spec"].clear()

    second = builtin_runtime("torch-distributed")
    assert second is not None
    assert second["spec"]["mlPolicy"] == {"numNodes": 1, "torch": {}}


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_every_image_has_a_tag(name: str) -> None:
    runtime = builtin_runtime(name)

    assert runtime is not None
    for container in containers(runtime).values():
        assert ":" in container["image"]
        assert not container["image"].endswith(":latest")


@pytest.mark.parametrize("name", ["deepspeed-distributed", "mlx-distributed"])
def test_mpi_runtimes_start_the_launcher_when_the_nodes_are_ready(name: str) -> None:
    runtime = builtin_runtime(name)

    assert runtime is not None
    spec = runtime["spec"]["template"]["spec"]
    assert [job["name"] for job in spec["replicatedJobs"]] == ["node", "launcher"]
    assert spec["replicatedJobs"][1]["dependsOn"] == [{"name": "node", "status": "Ready"}]
    assert spec["successPolicy"] == {"operator": "All", "targetReplicatedJobs": ["launcher"]}
    assert containers(runtime)["node"]["readinessProbe"]["tcpSocket"] == {"port": 2222}


@pytest.mark.parametrize(
    ("name", "model", "config"),
    [
        ("torchtune-llama3.2-1b", "hf://meta-llama/Llama-3.2-1B-Instruct", "llama3_2/1B_full"),
        ("torchtune-llama3.2-3b", "hf://meta-llama/Llama-3.2-3B-Instruct", "llama3_2/3B_full"),
        ("torchtune-qwen2.5-1.5b", "hf://Qwen/Qwen2.5-1.5B-Instruct", "qwen2_5/1.5B_full"),
    ],
)
def test_torchtune_runtimes_download_their_model(name: str, model: str, config: str) -> None:
    runtime = builtin_runtime(name)

    assert runtime is not None
    by_job = containers(runtime)
    assert by_job["model-initializer"]["env"] == [{"name": "STORAGE_URI", "value": model}]
    assert config in by_job["node"]["command"]
    assert all(item["volumeMounts"][0]["mountPath"] == "/workspace" for item in by_job.values())
