"""The operator as a process: how it starts, what it serves, and how it ends."""

import http.client
import json
import ssl
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
import yaml
from cluster.access import Access, KubectlError
from cluster.control_plane import LOOPBACK, ControlPlane
from operator_process import (
    NAMESPACE,
    OperatorProcess,
    are_called,
    ensure_namespace,
    trusts_authority,
    wait_for,
    webhooks_at,
)

from trainway.json_types import Json
from trainway.operator.metric_table import CERTIFICATE_END
from trainway.operator.webhook_configurations import url_client, webhook_configurations
from trainway.runtimes import builtin_runtime

PATIENCE_S = 120.0


def runtime() -> Json:
    text = builtin_runtime("torch-distributed")
    assert text is not None
    return {**text, "kind": "TrainingRuntime"}


def job(name: str, **spec: object) -> Json:
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": name},
        "spec": {"runtimeRef": {"name": "torch-distributed", "kind": "TrainingRuntime"}, **spec},
    }


def has_jobset(cluster: Access, namespace: str, name: str) -> bool:
    return cluster.find("jobset", name, namespace) is not None


@pytest.fixture(scope="module", autouse=True)
def crds(api_cluster: Access) -> None:
    api_cluster.install_jobset_crds()
    api_cluster.install_our_crds()
    ensure_namespace(api_cluster)


@pytest.fixture
def operator(api_cluster: Access, tmp_path: Path) -> Iterator[OperatorProcess]:
    process = OperatorProcess(api_cluster, tmp_path / "operator.log")
    yield process
    process.kill()


def test_an_operator_with_webhooks_and_certificates_of_its_own(
    api_cluster: Access, namespace: str, operator: OperatorProcess
) -> None:
    documents = webhook_configurations(url_client(operator.url))
    with webhooks_at(api_cluster, documents, namespace):
        wait_for(lambda: not are_called(api_cluster, namespace), PATIENCE_S, "a call of a webhook")
        with pytest.raises(KubectlError, match="connection refused"):
            api_cluster.apply(job("early"), namespace=namespace)
        operator.start()
        operator.wait_ready()
        assert operator.answers("/healthz")
        for document in documents:
            assert trusts_authority(api_cluster, document["kind"], document["metadata"]["name"])
        wait_for(lambda: are_called(api_cluster, namespace), PATIENCE_S, "an answer of a webhook")
        api_cluster.apply(runtime(), namespace=namespace)
        bad = job("bad", trainer={"env": [{"name": "PET_NNODES", "value": "7"}]})
        with pytest.raises(KubectlError, match=r'denied the request: .*"PET_NNODES"'):
            api_cluster.apply(bad, namespace=namespace)
        api_cluster.apply(job("good"), namespace=namespace)
        wait_for(lambda: has_jobset(api_cluster, namespace, "good"), PATIENCE_S, "the JobSet")
    page = operator.metrics()
    assert 'trainway_jobs{kind="TrainJob",phase="Pending"}' in page
    refused = operator.metric('trainway_webhook_reviews_total{allowed="false",kind="TrainJob"}')
    assert refused is not None
    assert refused >= 1
    assert operator.metric('leader_election_master_status{name="trainer.kubeflow.org"}') == 1
    assert 'rest_client_requests_total{code="201",host="https://' in page
    days = (operator.metric(CERTIFICATE_END.name) or 0.0) - time.time()
    assert timedelta(days=100) < timedelta(seconds=days) < timedelta(days=370)
    started = time.monotonic()
    assert operator.stop() == 0
    assert time.monotonic() - started < PATIENCE_S / 2  # it waits for nobody
    assert "Traceback" not in operator.log


def test_a_configuration_file_names_the_health_endpoints(
    api_cluster: Access, tmp_path: Path
) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(
        yaml.safe_dump(
            {
                "apiVersion": "config.trainer.kubeflow.org/v1alpha1",
                "kind": "Configuration",
                "health": {"readinessEndpointName": "ready", "livenessEndpointName": "alive"},
                "controller": {"groupKindConcurrency": {"TrainJob.trainer.kubeflow.org": 2}},
            }
        )
    )
    operator = OperatorProcess(api_cluster, tmp_path / "operator.log", ["--config", str(config)])
    operator.start()
    try:
        operator.process.wait_ready(lambda: operator.answers("/ready"))
        assert operator.answers("/alive")
        assert not operator.answers("/readyz")
    finally:
        operator.kill()


def test_a_certificate_that_is_given_leaves_webhook_configurations_alone(
    api_cluster: Access, namespace: str, tmp_path: Path
) -> None:
    assert isinstance(api_cluster, ControlPlane)
    pair = api_cluster.authority.issue(f"webhook-{namespace}", hosts=[LOOPBACK])
    arguments = ["--webhook-cert-dir", str(tmp_path), "--log-format", "json"]
    operator = OperatorProcess(api_cluster, tmp_path / "operator.log", arguments)
    documents = webhook_configurations(url_client(operator.url))
    operator.start()
    try:
        wait_for(lambda: operator.answers("/healthz"), PATIENCE_S, "health")
        assert not operator.answers("/readyz")
        (tmp_path / "tls.key").write_bytes(pair.key.read_bytes())
        (tmp_path / "tls.crt").write_bytes(pair.certificate.read_bytes())
        operator.wait_ready()
        with webhooks_at(api_cluster, documents, namespace):
            time.sleep(0.5)
            for document in documents:
                kind, name = document["kind"], document["metadata"]["name"]
                assert not trusts_authority(api_cluster, kind, name)
    finally:
        operator.kill()
    lines = [json.loads(line) for line in operator.log.splitlines()]
    assert {"ts", "level", "logger", "msg"} <= set(lines[0])


def test_metrics_are_for_those_whom_the_cluster_allows_it(
    api_cluster: Access, tmp_path: Path
) -> None:
    assert isinstance(api_cluster, ControlPlane)
    config = tmp_path / "config.yaml"
    config.write_text(
        "apiVersion: config.trainer.kubeflow.org/v1alpha1\n"
        "kind: Configuration\n"
        "metrics: {auth: {enabled: true}}\n"
    )
    arguments = ["--config", str(config), "--metrics-secure"]
    operator = OperatorProcess(api_cluster, tmp_path / "operator.log", arguments)

    def status(token: str) -> int:
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        connection = http.client.HTTPSConnection(
            LOOPBACK, operator.metrics_port, timeout=PATIENCE_S, context=context
        )
        try:
            connection.request("GET", "/metrics", headers={"Authorization": f"Bearer {token}"})
            return connection.getresponse().status
        finally:
            connection.close()

    operator.start()
    try:
        wait_for(lambda: "metrics listen" in operator.log, PATIENCE_S, "metrics")
        tokens = [api_cluster.users["admin"].token, api_cluster.users["scheduler"].token, "wrong"]
        assert [status(token) for token in tokens] == [200, 403, 401]
    finally:
        operator.kill()


def test_only_the_namespaces_that_are_named_are_seen(
    api_cluster: Access, namespace: str, tmp_path: Path
) -> None:
    other = f"{namespace}-other"
    ensure_namespace(api_cluster, other)
    operator = OperatorProcess(api_cluster, tmp_path / "operator.log", ["--namespace", namespace])
    operator.start()
    try:
        for place in (other, namespace):
            api_cluster.apply(runtime(), job("one"), namespace=place)
        wait_for(lambda: has_jobset(api_cluster, namespace, "one"), PATIENCE_S, "the JobSet")
        assert not has_jobset(api_cluster, other, "one")
    finally:
        operator.kill()
        api_cluster.delete_namespace(other)


def test_a_cluster_without_jobset_is_waited_for(tmp_path: Path, api_cluster: Access) -> None:
    """On a cluster of its own, which starts without any CRD."""
    assert isinstance(api_cluster, ControlPlane)
    with ControlPlane() as bare:
        ensure_namespace(bare)
        operator = OperatorProcess(bare, tmp_path / "operator.log")
        operator.start()
        try:
            operator.wait_ready()
            missing = "the cluster does not serve jobsets.jobset.x-k8s.io"
            wait_for(lambda: missing in operator.log, PATIENCE_S, "a word about JobSet")
            bare.install_our_crds()
            bare.install_jobset_crds()
            bare.apply(runtime(), job("late"), namespace="default")
            wait_for(lambda: has_jobset(bare, "default", "late"), PATIENCE_S, "the JobSet")
        finally:
            operator.kill()


def test_credentials_that_nobody_knows_end_it_with_a_line(
    api_cluster: Access, tmp_path: Path
) -> None:
    config = yaml.safe_load(api_cluster.kubeconfig.read_text())
    config["users"][0]["user"] = {"token": "wrong"}
    wrong = tmp_path / "kubeconfig"
    wrong.write_text(yaml.safe_dump(config))
    operator = OperatorProcess(api_cluster, tmp_path / "log", ["--kubeconfig", str(wrong)])
    operator.start()
    assert operator.process.popen is not None
    assert operator.process.popen.wait(PATIENCE_S) == 1
    assert "error: Unauthorized" in operator.log
    assert "Traceback" not in operator.log


def test_the_certificate_is_kept_in_a_secret_across_lives(
    api_cluster: Access, operator: OperatorProcess
) -> None:
    def stored() -> object:
        secret = "kubeflow-trainer-webhook-cert"  # noqa: S105 (the name of an object)
        return api_cluster.get("secret", secret, "-n", NAMESPACE)["data"]

    operator.start()
    operator.wait_ready()
    before = stored()
    operator.kill()
    operator.start()
    operator.wait_ready()
    assert stored() == before
