"""The flags of `trainway operator run`, and how they overrule the configuration file."""

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from trainway.errors import UnreadableError, UsageError
from trainway.operator.bind_address import parse_bind_address
from trainway.operator.config import (
    HealthConfig,
    LeaderElectionConfig,
    MetricsConfig,
    OperatorConfig,
    WebhookConfig,
)
from trainway.operator.configuration_file import (
    Configuration,
    ConfigurationError,
    parse_configuration,
)
from trainway.operator.feature_gates import gates, parse_gates
from trainway.schema.field import FieldError, invalid
from trainway.telemetry.logs import FORMATS, LEVELS

_Settings = TypeVar(
    "_Settings", WebhookConfig, MetricsConfig, HealthConfig, LeaderElectionConfig, OperatorConfig
)


class Parser(argparse.ArgumentParser):
    """Says what is wrong as all our commands do."""

    def error(self, message: str) -> NoReturn:
        """Leave with a line and a hint."""
        raise UsageError(message, hint=f"see {self.prog} --help")


def add_run_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of `run`."""
    parser.add_argument("--config", type=Path, metavar="FILE", help="Read this configuration file.")
    add_connection_arguments(parser)
    parser.add_argument(
        "--namespace",
        action="append",
        default=[],
        metavar="NS",
        dest="namespaces",
        help="Watch only the jobs in this namespace. The option can be repeated.",
    )
    parser.add_argument(
        "--operator-namespace",
        default="",
        metavar="NS",
        help="The operator's own namespace (default: that of its service account).",
    )
    parser.add_argument(
        "--webhook-host", metavar="HOST", help="The address on which webhooks listen."
    )
    parser.add_argument(
        "--webhook-port", type=int, metavar="PORT", help="The port on which webhooks listen."
    )
    parser.add_argument(
        "--webhook-cert-dir",
        type=Path,
        metavar="DIR",
        help="Read tls.crt and tls.key from this folder, and leave webhook configurations alone.",
    )
    parser.add_argument(
        "--metrics-bind-address",
        metavar="ADDRESS",
        help="Serve metrics on this address, such as :8443. 0 turns them off.",
    )
    parser.add_argument(
        "--metrics-secure",
        action=argparse.BooleanOptionalAction,
        help="Serve metrics over TLS.",
    )
    parser.add_argument(
        "--health-probe-bind-address",
        metavar="ADDRESS",
        help="Answer health probes on this address, such as :8081. 0 turns them off.",
    )
    parser.add_argument(
        "--leader-elect",
        action=argparse.BooleanOptionalAction,
        help="Run the controllers only while this replica holds the lease.",
    )
    parser.add_argument(
        "--feature-gates",
        default="",
        metavar="NAME=BOOL,...",
        help="Turn feature gates on or off. They take precedence over the configuration file.",
    )
    for step in ("dataset", "model"):
        parser.add_argument(
            f"--{step}-initializer-image",
            default="",
            metavar="IMAGE",
            help=f"The image that fetches the {step}, in place of Kubeflow Trainer's.",
        )
    parser.add_argument(
        "--gang-scheduling",
        default="",
        metavar="NAME",
        help="Schedule MPIJobs as gangs: volcano, or the name of a scheduler of scheduler-plugins.",
    )
    parser.add_argument(
        "--cluster-domain",
        default="",
        metavar="DOMAIN",
        help="The domain that host names of MPIJobs end with.",
    )
    parser.add_argument(
        "--kube-api-qps",
        type=float,
        metavar="N",
        help="The most requests to the API server per second.",
    )
    parser.add_argument(
        "--kube-api-burst",
        type=int,
        metavar="N",
        help="The most requests to the API server at once.",
    )
    add_log_arguments(parser)


def add_connection_arguments(parser: argparse.ArgumentParser) -> None:
    """Which cluster is meant."""
    parser.add_argument(
        "--kubeconfig", type=Path, metavar="FILE", help="Reach the cluster with this kubeconfig."
    )
    parser.add_argument("--context", metavar="NAME", help="Use this context of the kubeconfig.")


def add_log_arguments(parser: argparse.ArgumentParser) -> None:
    """What is logged, and how."""
    parser.add_argument(
        "--log-format", choices=FORMATS, default="text", help="Write the log in this format."
    )
    parser.add_argument(
        "--log-level", choices=LEVELS, default="info", help="Log messages of this level and above."
    )


def load_config(options: argparse.Namespace) -> OperatorConfig:
    """The settings of the file, with those of the flags on top."""
    return overruled(_read(options.config), options)


def _read(path: Path | None) -> Configuration:
    if path is None:
        return Configuration(OperatorConfig(), {})
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise UnreadableError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UnreadableError(f"{path}: not UTF-8") from None
    return parse_configuration(text)


def overruled(configuration: Configuration, options: argparse.Namespace) -> OperatorConfig:
    """The settings with those of the flags in place; what is wrong with them is told at once."""
    config = configuration.config
    chosen, errors = parse_gates(options.feature_gates)
    config = replace(
        config,
        webhook=_replaced(
            config.webhook,
            host=options.webhook_host,
            port=options.webhook_port,
            cert_dir=options.webhook_cert_dir,
        ),
        metrics=_replaced(
            config.metrics,
            bind_address=options.metrics_bind_address,
            secure_serving=options.metrics_secure,
        ),
        health=_replaced(config.health, bind_address=options.health_probe_bind_address),
        leader_election=_replaced(config.leader_election, leader_elect=options.leader_elect),
        feature_gates=gates({**configuration.feature_gates, **chosen}),
        namespaces=tuple(dict.fromkeys(options.namespaces)),
        dataset_initializer_image=options.dataset_initializer_image,
        model_initializer_image=options.model_initializer_image,
        gang_scheduling=options.gang_scheduling,
        cluster_domain=options.cluster_domain,
    )
    config = _replaced(config, qps=options.kube_api_qps, burst=options.kube_api_burst)
    errors += _errors(config)
    if errors:
        raise ConfigurationError(errors)
    return config


def _replaced(settings: _Settings, **values: Any) -> _Settings:
    """The settings with those values that are given."""
    given = {name: value for name, value in values.items() if value is not None}
    return replace(settings, **given)


def _errors(config: OperatorConfig) -> list[FieldError]:
    """What a flag, or a text of the file that no schema knows, can get wrong."""
    errors = []
    if not 1 <= config.webhook.port <= 65535:
        errors.append(
            invalid(("webhook", "port"), config.webhook.port, "must be between 1 and 65535")
        )
    for path, text in (
        (("metrics", "bindAddress"), config.metrics.bind_address),
        (("health", "healthProbeBindAddress"), config.health.bind_address),
    ):
        try:
            parse_bind_address(text)
        except ValueError:
            errors.append(invalid(path, text, "must be HOST:PORT, :PORT or 0"))
    for name, value in (("qps", config.qps), ("burst", config.burst)):
        if value is not None and value < 0:
            path = ("clientConnection", name)
            errors.append(invalid(path, value, "must be greater than or equal to 0"))
    return errors
