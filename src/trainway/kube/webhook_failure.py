"""Whose webhook does not answer, from what the API server says of it. Pure.

A webhook that is down stops every object that it is asked about, and the API server names only its
URL. Who runs it, and where its pods are, is what a person needs to know.
"""

import re
from typing import Final, NamedTuple

_FAILED: Final = re.compile(
    r'failed calling webhook "(?P<name>[^"]+)"'
    r'(?:.*?"(?:https?://(?P<host>[^/"?]+)[^"]*)")?(?P<why>.*)'
)
_SERVICE: Final = re.compile(r"(?P<service>[a-z0-9-]+)\.(?P<namespace>[a-z0-9-]+)\.svc\b")
_REASONS: Final = (
    (re.compile(r"x509|tls:"), "the API server does not trust the certificate of {}"),
    (re.compile(r"deadline exceeded|timeout|timed out"), "there is no answer in time from {}"),
)
"""Parts of what the API server says, and what they mean; `{}` stands for whom it asked."""
_UNREACHABLE: Final = re.compile(r"^$|no endpoints|not found|refused|dial tcp|EOF")
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
    name, host, why = found["name"], found["host"], found["why"]
    owner = next((who for pattern, who in _OWNERS if pattern.search(name)), "")
    asked = _SERVICE.match(host or "")
    if asked is not None and "kueue" in asked["service"]:
        owner = "Kueue"
    elif asked is not None and "jobset" in asked["service"]:
        owner = "JobSet's controller"
    who = (
        f"{owner} does not answer (webhook {name})" if owner else f"webhook {name} does not answer"
    )
    kubectl = f"kubectl --context {context}" if context else "kubectl"
    if asked is None:
        return WebhookFailure(
            f"{who}: {_reason(why, host, 'cannot be reached')}" if host else who,
            f"find out who serves it: {kubectl} get validatingwebhookconfigurations",
        )
    namespace = asked["namespace"]
    service = f"the Service {asked['service']} in namespace {namespace}"
    reason = _reason(why, service, "has no ready endpoints")
    return WebhookFailure(
        f"{who}: {reason}", f"look at its pods: {kubectl} get pods -n {namespace}"
    )


def _reason(why: str, whom: str, unreachable: str) -> str:
    meant = (words.format(whom) for pattern, words in _REASONS if pattern.search(why))
    return next(meant, f"{whom} {unreachable}" if _UNREACHABLE.search(why) else f"{whom}{why}")
