"""Whose webhook does not answer, from what the API server says of it. Pure.

A webhook that is down stops every object that it is asked about, and the API server names only its
URL. Who runs it, and where its pods are, is what a person needs to know.
"""

import re
from typing import Final, NamedTuple

_FAILED: Final = re.compile(
    r'failed calling webhook "(?P<name>[^"]+)"(?:.*?https?://(?P<service>[a-z0-9-]+)'
    r"\.(?P<namespace>[a-z0-9-]+)\.svc)?"
)
_OWNERS: Final = (
    (re.compile(r"trainer\.kubeflow\.org$|(^|\.)kubeflow\.org$"), "the operator of TrainJobs"),
    (re.compile(r"(jobset|pod)\.kb\.io$"), "JobSet's controller"),
    (re.compile(r"kueue|\.kb\.io$"), "Kueue"),
)


class WebhookFailure(NamedTuple):
    """A webhook that did not answer."""

    message: str
    hint: str


def webhook_failure(text: str, context: str = "") -> WebhookFailure | None:
    """What to say instead of the API server's words; None: it is not about a webhook."""
    found = _FAILED.search(text)
    if found is None:
        return None
    name, service, namespace = found["name"], found["service"], found["namespace"]
    owner = next((who for pattern, who in _OWNERS if pattern.search(name)), "")
    if service is not None and "kueue" in service:
        owner = "Kueue"
    elif service is not None and "jobset" in service:
        owner = "JobSet's controller"
    who = (
        f"{owner} does not answer (webhook {name})" if owner else f"webhook {name} does not answer"
    )
    kubectl = f"kubectl --context {context}" if context else "kubectl"
    if namespace is None:
        return WebhookFailure(
            who, f"find out who serves it: {kubectl} get validatingwebhookconfigurations"
        )
    return WebhookFailure(
        f"{who}: the Service {service} in namespace {namespace} has no ready endpoints",
        f"look at its pods: {kubectl} get pods -n {namespace}",
    )
