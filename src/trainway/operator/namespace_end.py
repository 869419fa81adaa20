"""Tells a refusal that will pass from one that is the end: the namespace is being deleted."""

from trainway.kube.errors import Refused


def namespace_goes(error: Refused) -> bool:
    """Whether nothing can be made because the namespace is being deleted, and the job with it."""
    causes = error.details.get("causes") or ()
    return any(cause.get("reason") == "NamespaceTerminating" for cause in causes)
