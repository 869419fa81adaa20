"""A real Prometheus reads a real operator, and every panel of its dashboard shows something."""

from pathlib import Path

from cluster.access import Access
from operator_process import (
    OperatorProcess,
    are_called,
    ensure_namespace,
    wait_for,
    webhooks_at,
)
from prometheus_server import panel_queries, prometheus, variable_queries

from trainway.json_types import Json
from trainway.operator.webhook_configurations import url_client, webhook_configurations
from trainway.runtimes import builtin_runtime

DASHBOARD = ("trainway-operator",)
CHOICES = {"source": ".*"}
PATIENCE_S = 120.0


def objects() -> list[Json]:
    """A TrainJob, and its runtime."""
    runtime = builtin_runtime("torch-distributed")
    assert runtime is not None
    return [
        {**runtime, "kind": "TrainingRuntime"},
        {
            "apiVersion": "trainer.kubeflow.org/v1alpha1",
            "kind": "TrainJob",
            "metadata": {"name": "shown"},
            "spec": {"runtimeRef": {"name": "torch-distributed", "kind": "TrainingRuntime"}},
        },
    ]


def test_every_panel_of_the_operator_shows_something(
    api_cluster: Access, namespace: str, tmp_path: Path
) -> None:
    api_cluster.install_jobset_crds()
    api_cluster.install_our_crds()
    ensure_namespace(api_cluster)
    operator = OperatorProcess(api_cluster, tmp_path / "operator.log")
    target = {"targets": [f"127.0.0.1:{operator.metrics_port}"]}
    scrape = {"job_name": "trainway-operator", "static_configs": [target]}
    operator.start()
    try:
        operator.wait_ready()
        documents = webhook_configurations(url_client(operator.url))
        with webhooks_at(api_cluster, documents, namespace):
            wait_for(lambda: are_called(api_cluster, namespace), PATIENCE_S, "the webhooks")
        api_cluster.apply(*objects(), namespace=namespace)
        with prometheus(tmp_path, [scrape]) as server:
            server.wait_for_targets(1)
            server.wait_for_series(panel_queries(DASHBOARD, CHOICES))
            for query, label in variable_queries(DASHBOARD, CHOICES):
                assert server.values(query, label) == ["trainway-operator"]
    finally:
        operator.kill()
