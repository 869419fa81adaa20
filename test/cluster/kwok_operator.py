"""The operator on a *kwok* cluster, for one namespace, with its webhooks."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cluster.access import Access
from cluster.kwok import KwokCluster
from operator_process import (
    OperatorProcess,
    ensure_namespace,
    wait_for_trust,
    webhooks_at,
)

from trainway.operator.webhook_configurations import url_client, webhook_configurations


@contextmanager
def operating(
    cluster: KwokCluster, door: Access, namespace: str, log_file: Path
) -> Iterator[OperatorProcess]:
    """An operator that works, and reaches the API server by the kubeconfig of `door`."""
    cluster.install_our_crds()
    ensure_namespace(cluster)
    operator = OperatorProcess(door, log_file, ["--namespace", namespace])
    documents = webhook_configurations(url_client(operator.url))
    with webhooks_at(cluster, documents, namespace):
        operator.start()
        try:
            operator.wait_ready()
            wait_for_trust(cluster, documents, namespace)
            yield operator
        finally:
            operator.kill()
