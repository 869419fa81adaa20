from dataclasses import dataclass, replace

import pytest

from trainway.errors import UnreadableError
from trainway.operator.config import (
    CertConfig,
    FeatureGates,
    HealthConfig,
    LeaderElectionConfig,
    MetricsConfig,
    OperatorConfig,
    StatusServerConfig,
    TlsConfig,
    WebhookConfig,
)
from trainway.operator.configuration_file import ConfigurationError, parse_configuration

HEAD = "apiVersion: config.trainer.kubeflow.org/v1alpha1\nkind: Configuration\n"


def test_a_file_that_sets_nothing_gives_the_defaults() -> None:
    assert parse_configuration(HEAD).config == OperatorConfig()


def test_null_counts_as_absent() -> None:
    assert parse_configuration(HEAD + "webhook: {port: null}\ntls:\n").config == OperatorConfig()


def test_a_file_that_sets_everything() -> None:
    text = """
webhook: {port: 9444, host: 0.0.0.0}
leaderElection:
  leaderElect: true
  resourceName: trainer.kubeflow.org
  resourceNamespace: training
  resourceLock: leases
  leaseDuration: 1m30s
  renewDeadline: 20s
  retryPeriod: 500ms
metrics: {bindAddress: ":8080", secureServing: false, auth: {enabled: true}}
health:
  healthProbeBindAddress: :9090
  readinessEndpointName: ready
  livenessEndpointName: alive
controller:
  groupKindConcurrency: {TrainJob.trainer.kubeflow.org: 5}
certManagement: {enable: false, webhookServiceName: hooks, webhookSecretName: certs}
clientConnection: {qps: 12.5, burst: 100}
statusServer: {port: 12443, qps: 1, burst: 2}
featureGates: {TrainJobStatus: true}
tls:
  minVersion: "1.3"
  cipherSuites: [TLS_AES_128_GCM_SHA256]
  nextProtos: [http/1.1]
"""
    configuration = parse_configuration(HEAD + text)
    assert configuration.config == OperatorConfig(
        webhook=WebhookConfig(9444, "0.0.0.0"),  # noqa: S104 (a text like any other here)
        leader_election=LeaderElectionConfig(
            True, "trainer.kubeflow.org", "training", 90.0, 20.0, 0.5
        ),
        metrics=MetricsConfig(":8080", False, True),
        health=HealthConfig(":9090", "ready", "alive"),
        cert=CertConfig(False, "hooks", "certs"),
        status_server=StatusServerConfig(12443, 1, 2),
        tls=TlsConfig("1.3", ("TLS_AES_128_GCM_SHA256",), ("http/1.1",)),
        feature_gates=FeatureGates(True),
        concurrency={"TrainJob.trainer.kubeflow.org": 5},
        qps=12.5,
        burst=100,
    )
    assert configuration.feature_gates == {"TrainJobStatus": True}


@dataclass(frozen=True)
class Case:
    name: str
    text: str
    errors: tuple[str, ...]


CASES = [
    Case(
        "limits, all told at once",
        """
webhook: {port: 99999}
clientConnection: {qps: -10, burst: -1}
controller: {groupKindConcurrency: {TrainJob.trainer.kubeflow.org: 0}}
statusServer: {port: 0, qps: -1, burst: -2}
""",
        (
            "webhook.port: Invalid value: 99999: must be between 1 and 65535",
            (
                "controller.groupKindConcurrency[TrainJob.trainer.kubeflow.org]: Invalid value: 0: "
                "must be greater than 0"
            ),
            "clientConnection.qps: Invalid value: -10: must be greater than or equal to 0",
            "clientConnection.burst: Invalid value: -1: must be greater than or equal to 0",
            "statusServer.port: Invalid value: 0: must be between 1 and 65535",
            "statusServer.qps: Invalid value: -1: must be greater than or equal to 0",
            "statusServer.burst: Invalid value: -2: must be greater than or equal to 0",
        ),
    ),
    Case(
        "unknown fields",
        "unknownField: value\nwebhook: {port: 9443, prot: 1}\n",
        ('webhook.prot: Unknown field: did you mean "port"?', "unknownField: Unknown field"),
    ),
    Case(
        "types",
        "webhook: {port: '9443'}\ntls: {minVersion: 1.2}\nmetrics: []\n",
        (
            'webhook.port: Invalid value: "string": must be of type integer',
            'metrics: Invalid value: "array": must be of type object',
            'tls.minVersion: Invalid value: "number": must be of type string',
        ),
    ),
    Case(
        "durations",
        "leaderElection: {leaseDuration: 15, renewDeadline: soon, retryPeriod: 0s}\n",
        (
            'leaderElection.leaseDuration: Invalid value: "integer": must be of type string',
            (
                'leaderElection.renewDeadline: Invalid value: "soon": '
                "must be a duration greater than 0, such as 15s"
            ),
            (
                'leaderElection.retryPeriod: Invalid value: "0s": '
                "must be a duration greater than 0, such as 15s"
            ),
        ),
    ),
    Case(
        "durations that contradict each other",
        "leaderElection: {leaseDuration: 5s, retryPeriod: 20s, resourceLock: endpoints}\n",
        (
            (
                'leaderElection.resourceLock: Unsupported value: "endpoints": '
                'supported values: "leases"'
            ),
            'leaderElection.leaseDuration: Invalid value: "5s": must be greater than renewDeadline',
            'leaderElection.renewDeadline: Invalid value: "10s": must be greater than retryPeriod',
        ),
    ),
    Case(
        "structure and sense together",
        "webhok: {}\nfeatureGates: {Fast: true}\ntls: {minVersion: '2', cipherSuites: [ROT13]}\n",
        (
            'webhok: Unknown field: did you mean "webhook"?',
            'tls.minVersion: Unsupported value: "2": supported values: "1.0", "1.1", "1.2", "1.3"',
            (
                'tls.cipherSuites[0]: Invalid value: "ROT13": '
                "is not a cipher suite that the operator knows"
            ),
            (
                'featureGates.Fast: Invalid value: "Fast": '
                "unrecognized feature gate; the known ones are TrainJobStatus, AllAlpha, AllBeta"
            ),
        ),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_is_wrong_is_told(case: Case) -> None:
    with pytest.raises(ConfigurationError) as caught:
        parse_configuration(HEAD + case.text)
    assert tuple(str(error) for error in caught.value.errors) == case.errors
    assert caught.value.message == "invalid configuration: " + "; ".join(case.errors)


def test_another_kind_of_object_is_refused() -> None:
    with pytest.raises(ConfigurationError) as caught:
        parse_configuration("apiVersion: config.wrong.group/v1\nwebhook: {port: 0}\n")
    assert caught.value.message == (
        'invalid configuration: apiVersion: Unsupported value: "config.wrong.group/v1": '
        'supported values: "config.trainer.kubeflow.org/v1alpha1"; '
        'kind: Unsupported value: null: supported values: "Configuration"; '
        "webhook.port: Invalid value: 0: must be between 1 and 65535"
    )


@pytest.mark.parametrize(("text", "count"), [("", 0), (HEAD + "---\n" + HEAD, 2)])
def test_a_file_holds_one_object(text: str, count: int) -> None:
    with pytest.raises(UnreadableError, match=f"one object, not {count}"):
        parse_configuration(text)


def test_workers_have_defaults_by_kind() -> None:
    config = OperatorConfig()
    chosen = replace(config, concurrency={"TrainJob.trainer.kubeflow.org": 3})
    assert config.workers("TrainJob.trainer.kubeflow.org") > 3
    assert chosen.workers("TrainJob.trainer.kubeflow.org") == 3
    assert chosen.workers("TrainingRuntime.trainer.kubeflow.org") == 1
