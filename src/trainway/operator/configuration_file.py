"""The configuration file: `config.trainer.kubeflow.org/v1alpha1`, kind `Configuration`.

It is read strictly, and everything that is wrong with it is told at once: a typo in a setting would
otherwise show only as behaviour that nobody asked for.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from trainway.api.manifest import parse_manifests
from trainway.errors import UnreadableError, UsageError
from trainway.operator.config import (
    CertConfig,
    HealthConfig,
    LeaderElectionConfig,
    MetricsConfig,
    OperatorConfig,
    StatusServerConfig,
    TlsConfig,
    WebhookConfig,
)
from trainway.operator.durations import parse_duration
from trainway.operator.feature_gates import gates, unknown_gates
from trainway.operator.tls import CIPHER_SUITES, VERSIONS
from trainway.schema.field import FieldError, invalid, not_supported
from trainway.schema.structural import Rule, Schema
from trainway.schema.validation import validate

API_VERSION: Final = "config.trainer.kubeflow.org/v1alpha1"
KIND: Final = "Configuration"


class ConfigurationError(UsageError):
    """What is configured cannot be; says all of it."""

    def __init__(self, errors: list[FieldError]) -> None:
        super().__init__("invalid configuration: " + "; ".join(str(error) for error in errors))
        self.errors = tuple(errors)


@dataclass(frozen=True)
class Configuration:
    """A file as it was read: the settings, and the gates by name, which flags may overrule."""

    config: OperatorConfig
    feature_gates: Mapping[str, bool]


def _rule(message: str, check: Callable[[Any], bool]) -> tuple[Rule, ...]:
    return (Rule("", message, lambda value, _old: check(value)),)


def _object(**properties: Schema) -> Schema:
    return Schema(type="object", properties=properties)


_BOOL: Final = Schema(type="boolean")
_STRING: Final = Schema(type="string")
_NAMES: Final = Schema(type="array", items=_STRING)
_PORT: Final = Schema(
    type="integer",
    format="int32",
    rules=_rule("must be between 1 and 65535", lambda value: 1 <= value <= 65535),
)
_NOT_NEGATIVE: Final = _rule("must be greater than or equal to 0", lambda value: value >= 0)
_QPS: Final = Schema(type="number", rules=_NOT_NEGATIVE)
_BURST: Final = Schema(type="integer", format="int32", rules=_NOT_NEGATIVE)
_WORKERS: Final = Schema(
    type="integer",
    format="int32",
    rules=_rule("must be greater than 0", lambda value: value >= 1),
)
_DURATION: Final = Schema(
    type="string",
    rules=_rule(
        "must be a duration greater than 0, such as 15s",
        lambda value: (parse_duration(value) or 0) > 0,
    ),
)
SCHEMA: Final = _object(
    apiVersion=_STRING,
    kind=_STRING,
    webhook=_object(port=_PORT, host=Schema(type="string", max_length=253)),
    leaderElection=_object(
        leaderElect=_BOOL,
        resourceName=_STRING,
        resourceNamespace=_STRING,
        resourceLock=_STRING,
        leaseDuration=_DURATION,
        renewDeadline=_DURATION,
        retryPeriod=_DURATION,
    ),
    metrics=_object(bindAddress=_STRING, secureServing=_BOOL, auth=_object(enabled=_BOOL)),
    health=_object(
        healthProbeBindAddress=_STRING, readinessEndpointName=_STRING, livenessEndpointName=_STRING
    ),
    controller=_object(groupKindConcurrency=Schema(type="object", additional=_WORKERS)),
    certManagement=_object(enable=_BOOL, webhookServiceName=_STRING, webhookSecretName=_STRING),
    clientConnection=_object(qps=_QPS, burst=_BURST),
    statusServer=_object(port=_PORT, qps=_QPS, burst=_BURST),
    featureGates=Schema(type="object", additional=_BOOL),
    tls=_object(minVersion=_STRING, cipherSuites=_NAMES, nextProtos=_NAMES),
)


def parse_configuration(text: str) -> Configuration:
    """Read a file; what is wrong with it is a `ConfigurationError`."""
    documents = parse_manifests(text)
    if len(documents) != 1:
        raise UnreadableError(
            f"invalid configuration: the file must hold one object, not {len(documents)}",
            hint=f"it starts with apiVersion: {API_VERSION} and kind: {KIND}",
        )
    data = documents[0]
    errors = [*_type_errors(data), *validate(SCHEMA, data).errors]
    unsound = {error.path[0] for error in errors}
    errors += _sense_errors({name: data[name] for name in data if name not in unsound})
    if errors:
        raise ConfigurationError(errors)
    return Configuration(_config(data), _fields(data, "featureGates"))


def _type_errors(data: Mapping[str, Any]) -> Iterator[FieldError]:
    for name, wanted in (("apiVersion", API_VERSION), ("kind", KIND)):
        if data.get(name) != wanted:
            yield not_supported((name,), data.get(name), (wanted,))


def _sense_errors(data: Mapping[str, Any]) -> Iterator[FieldError]:
    """What the types allow and the operator cannot do."""
    election = _leader_election(_fields(data, "leaderElection"))
    lock = _fields(data, "leaderElection").get("resourceLock")
    if lock not in (None, "", "leases"):
        yield not_supported(("leaderElection", "resourceLock"), lock, ("leases",))
    if election.lease_seconds <= election.renew_seconds:
        yield invalid(
            ("leaderElection", "leaseDuration"),
            f"{election.lease_seconds:g}s",
            "must be greater than renewDeadline",
        )
    if election.renew_seconds <= election.retry_seconds:
        yield invalid(
            ("leaderElection", "renewDeadline"),
            f"{election.renew_seconds:g}s",
            "must be greater than retryPeriod",
        )
    tls = _fields(data, "tls")
    if tls.get("minVersion") and tls["minVersion"] not in VERSIONS:
        yield not_supported(("tls", "minVersion"), tls["minVersion"], tuple(VERSIONS))
    for index, suite in enumerate(tls.get("cipherSuites") or ()):
        if suite not in CIPHER_SUITES:
            problem = "is not a cipher suite that the operator knows"
            yield invalid(("tls", "cipherSuites", index), suite, problem)
    yield from unknown_gates(_fields(data, "featureGates"), ("featureGates",))


def _fields(data: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The fields of an object that were set: null counts as absent."""
    found = data.get(name) or {}
    return {key: value for key, value in found.items() if value is not None}


def _chosen(fields: Mapping[str, Any], **attributes: str) -> dict[str, Any]:
    """The attributes whose fields are set."""
    return {name: fields[field] for name, field in attributes.items() if field in fields}


def _leader_election(fields: Mapping[str, Any]) -> LeaderElectionConfig:
    durations = _chosen(
        fields,
        lease_seconds="leaseDuration",
        renew_seconds="renewDeadline",
        retry_seconds="retryPeriod",
    )
    chosen = _chosen(
        fields,
        leader_elect="leaderElect",
        resource_name="resourceName",
        resource_namespace="resourceNamespace",
    )
    if not chosen.get("resource_name"):
        chosen.pop("resource_name", None)
    seconds = {name: parse_duration(text) for name, text in durations.items()}
    return LeaderElectionConfig(**{**chosen, **seconds})


def _config(data: Mapping[str, Any]) -> OperatorConfig:
    metrics, health = _fields(data, "metrics"), _fields(data, "health")
    client, tls = _fields(data, "clientConnection"), _fields(data, "tls")
    auth = _chosen(_fields(metrics, "auth"), auth_enabled="enabled")
    return OperatorConfig(
        webhook=WebhookConfig(**_chosen(_fields(data, "webhook"), port="port", host="host")),
        leader_election=_leader_election(_fields(data, "leaderElection")),
        metrics=MetricsConfig(
            **_chosen(metrics, bind_address="bindAddress", secure_serving="secureServing"), **auth
        ),
        health=HealthConfig(
            **_chosen(
                health,
                bind_address="healthProbeBindAddress",
                readiness_name="readinessEndpointName",
                liveness_name="livenessEndpointName",
            )
        ),
        cert=CertConfig(
            **_chosen(
                _fields(data, "certManagement"),
                enabled="enable",
                service_name="webhookServiceName",
                secret_name="webhookSecretName",  # noqa: S106 (the name of a field)
            )
        ),
        status_server=StatusServerConfig(
            **_chosen(_fields(data, "statusServer"), port="port", qps="qps", burst="burst")
        ),
        tls=TlsConfig(
            tls.get("minVersion", ""),
            tuple(tls.get("cipherSuites", ())),
            tuple(tls.get("nextProtos", ())),
        ),
        feature_gates=gates(_fields(data, "featureGates")),
        concurrency=dict(_fields(_fields(data, "controller"), "groupKindConcurrency")),
        qps=client.get("qps"),
        burst=client.get("burst"),
    )
