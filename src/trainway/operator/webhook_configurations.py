"""How the API server is told which questions to ask us: the webhook configurations.

Those of Trainer have upstream's names, so that they replace upstream's and are replaced by them.
MPI Operator has none; ours follow the same pattern.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from trainway.jobset.labels import WEBHOOK_VALIDATION
from trainway.json_types import Json
from trainway.kube.resources import (
    CLUSTER_TRAINING_RUNTIMES,
    MPIJOBS,
    MUTATING_WEBHOOKS,
    TRAINING_RUNTIMES,
    TRAINJOBS,
    VALIDATING_WEBHOOKS,
    Resource,
)
from trainway.operator.webhooks import paths

ClientConfig = Callable[[str], Json]
"""A function that gives the `clientConfig` for a path."""

TIMEOUT_SECONDS: Final = 10


@dataclass(frozen=True)
class _Webhook:
    verb: str
    resource: Resource
    path: str
    condition: tuple[str, str] | None = None
    """Name and CEL expression: where it is false the API server need not ask."""

    @property
    def name(self) -> str:
        return f"{self.verb}.{self.resource.kind.lower()}.{self.resource.group}"


_PATCHES_OR_KUEUE: Final = (
    "has(object.spec) && (has(object.spec.runtimePatches)"
    " || request.userInfo.username.contains('kueue'))"
)
_HAS_PATCHES: Final = ("has-runtime-patches", _PATCHES_OR_KUEUE)
"""Kueue may have lost them."""
_SPEC_CHANGES: Final = (
    "oldObject == null || !has(object.spec) || !has(oldObject.spec)"
    " || object.spec != oldObject.spec"
)
_CHANGES_SPEC: Final = ("changes-spec", _SPEC_CHANGES)
"""Labels and finalizers can then be changed while no operator runs."""


_DEFAULTER: Final = "defaulter"
_VALIDATOR: Final = "validator"
_TRAINER: Final = (
    _Webhook(_DEFAULTER, TRAINJOBS, paths.MUTATE_TRAINJOB, _HAS_PATCHES),
    _Webhook(_VALIDATOR, TRAINJOBS, paths.VALIDATE_TRAINJOB, _CHANGES_SPEC),
    _Webhook(_VALIDATOR, TRAINING_RUNTIMES, paths.VALIDATE_TRAINING_RUNTIME, _CHANGES_SPEC),
    _Webhook(
        _VALIDATOR,
        CLUSTER_TRAINING_RUNTIMES,
        paths.VALIDATE_CLUSTER_TRAINING_RUNTIME,
        _CHANGES_SPEC,
    ),
)
_MPI: Final = (
    _Webhook(_DEFAULTER, MPIJOBS, paths.MUTATE_MPIJOB),
    _Webhook(_VALIDATOR, MPIJOBS, paths.VALIDATE_MPIJOB, _CHANGES_SPEC),
)


def service_client(namespace: str, service: str) -> ClientConfig:
    """Webhooks behind a Service: in a cluster."""
    return lambda path: {"service": {"name": service, "namespace": namespace, "path": path}}


def url_client(base: str) -> ClientConfig:
    """Webhooks at an address: an operator outside the cluster, and tests."""
    return lambda path: {"url": f"{base}{path}"}


def webhook_configurations(
    client: ClientConfig, labels: Mapping[str, str] | None = None
) -> list[Json]:
    """The four configurations, still without a caBundle: the operator fills that in."""
    return [
        _configuration(resource, verb, group, client, labels or {})
        for resource, verb in ((MUTATING_WEBHOOKS, _DEFAULTER), (VALIDATING_WEBHOOKS, _VALIDATOR))
        for group in (_TRAINER, _MPI)
    ]


def _configuration(
    resource: Resource,
    verb: str,
    group: tuple[_Webhook, ...],
    client: ClientConfig,
    labels: Mapping[str, str],
) -> Json:
    metadata: Json = {"name": f"{verb}.{group[0].resource.group}"}
    if labels:
        metadata["labels"] = dict(labels)
    return {
        "apiVersion": resource.api_version,
        "kind": resource.kind,
        "metadata": metadata,
        "webhooks": [_webhook(webhook, client) for webhook in group if webhook.verb == verb],
    }


def _webhook(webhook: _Webhook, client: ClientConfig) -> Json:
    resource = webhook.resource
    text: Json = {
        "name": webhook.name,
        "admissionReviewVersions": ["v1"],
        "clientConfig": client(webhook.path),
        "failurePolicy": "Fail",
        "rules": [
            {
                "apiGroups": [resource.group],
                "apiVersions": [resource.version],
                "operations": ["CREATE", "UPDATE"],
                "resources": [resource.plural],
            }
        ],
        "sideEffects": "None",
        "timeoutSeconds": TIMEOUT_SECONDS,
    }
    if webhook.condition is not None:
        name, expression = webhook.condition
        text["matchConditions"] = [{"name": name, "expression": expression}]
    if webhook.verb == _VALIDATOR:
        unless = {"key": WEBHOOK_VALIDATION, "operator": "NotIn", "values": ["disabled"]}
        text["objectSelector"] = {"matchExpressions": [unless]}
    return text
