import argparse
from pathlib import Path

import pytest

from trainway.errors import UnreadableError, UsageError
from trainway.operator.config import FeatureGates, OperatorConfig
from trainway.operator.configuration_file import ConfigurationError
from trainway.operator.options import Parser, add_run_arguments, load_config

FILE = """
apiVersion: config.trainer.kubeflow.org/v1alpha1
kind: Configuration
webhook: {port: 9444, host: hooks.example}
metrics: {bindAddress: ":8080"}
leaderElection: {leaderElect: true}
clientConnection: {qps: 50, burst: 100}
featureGates: {TrainJobStatus: true}
"""


def parse(*arguments: str) -> argparse.Namespace:
    parser = Parser(prog="trainway operator run", allow_abbrev=False)
    add_run_arguments(parser)
    return parser.parse_args(arguments)


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "config.yaml"
    path.write_text(FILE)
    return str(path)


def test_nothing_given_means_the_defaults() -> None:
    assert load_config(parse()) == OperatorConfig()


def test_the_file_alone(file: str) -> None:
    config = load_config(parse("--config", file))
    assert (config.webhook.port, config.webhook.host) == (9444, "hooks.example")
    assert config.leader_election.leader_elect
    assert config.feature_gates == FeatureGates(train_job_status=True)


def test_flags_overrule_the_file(file: str, tmp_path: Path) -> None:
    config = load_config(
        parse(
            *("--config", file),
            *("--webhook-host", "127.0.0.1"),
            *("--webhook-cert-dir", str(tmp_path)),
            *("--metrics-bind-address", "0"),
            "--no-metrics-secure",
            *("--health-probe-bind-address", "localhost:1"),
            "--no-leader-elect",
            *("--feature-gates", "TrainJobStatus=false"),
            *("--namespace", "a", "--namespace", "b", "--namespace", "a"),
            *("--kube-api-qps", "7"),
            *("--gang-scheduling", "volcano"),
        )
    )
    assert (config.webhook.port, config.webhook.host) == (9444, "127.0.0.1")
    assert config.webhook.cert_dir == tmp_path
    assert (config.metrics.bind_address, config.metrics.secure_serving) == ("0", False)
    assert config.health.bind_address == "localhost:1"
    assert not config.leader_election.leader_elect
    assert config.feature_gates == FeatureGates()
    assert config.namespaces == ("a", "b")
    assert (config.qps, config.burst) == (7, 100)
    assert config.gang_scheduling == "volcano"


def test_all_that_is_wrong_with_flags_is_told() -> None:
    with pytest.raises(ConfigurationError) as caught:
        load_config(
            parse(
                *("--webhook-port", "0"),
                *("--metrics-bind-address", "8443"),
                *("--kube-api-burst", "-1"),
                *("--feature-gates", "Fast=true"),
            )
        )
    fields = [error.field for error in caught.value.errors]
    assert fields == [
        "--feature-gates.Fast",
        "webhook.port",
        "metrics.bindAddress",
        "clientConnection.burst",
    ]


def test_a_flag_that_does_not_exist() -> None:
    with pytest.raises(UsageError, match="--webhook-prot") as caught:
        parse("--webhook-prot", "1")
    assert caught.value.hint == "see trainway operator run --help"


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match=r"none\.yaml: No such file"):
        load_config(parse("--config", str(tmp_path / "none.yaml")))


def test_images_of_initializers_are_named_one_by_one() -> None:
    config = load_config(parse("--model-initializer-image", "here/model:1"))
    assert config.initializer_images == {"model-initializer": "here/model:1"}
    assert load_config(parse()).initializer_images == {}
