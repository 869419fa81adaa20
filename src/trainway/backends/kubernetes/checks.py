"""What `trainway doctor` says of a Kubernetes cluster. Pure."""

from collections.abc import Sequence
from typing import Final

from trainway.backends.base import Check
from trainway.backends.kubernetes.form import (
    JOBSET_API,
    KUEUE_API,
    MPIJOB_API,
    TRAINJOB_API,
    Offer,
)
from trainway.errors import TrainwayError
from trainway.kube.user_rights import Right, Task, grant_hint, missing_words

_KINDS: Final = ((TRAINJOB_API, "TrainJobs"), (MPIJOB_API, "MPIJobs"), (KUEUE_API, "Kueue"))


def failed(error: TrainwayError) -> Check:
    """It cannot be used."""
    return Check("cluster", ok=False, detail=error.message, fix=error.hint or "")


def reached(version: str, host: str) -> Check:
    """It answers."""
    return Check("cluster", ok=True, detail=f"Kubernetes {version} at {host}")


def form(offer: Offer) -> Check:
    """As what jobs are sent there."""
    found = [name for api, name in _KINDS if offer.serves(api)]
    also = f"; also {', '.join(found)}" if found else ""
    if offer.serves(JOBSET_API):
        return Check("jobs", ok=True, detail=f"run as JobSets{also}")
    fix = "install JobSet, which needs no running server: https://jobset.sigs.k8s.io"
    return Check("jobs", ok=True, detail=f"run as plain Jobs{also}", fix=fix)


def right(task: Task, missing: Sequence[Right], namespace: str) -> Check:
    """Whether somebody may do something there; `missing` are the rights that it would need."""
    if not missing:
        return Check(f"may {task}", ok=True, detail=f"in namespace {namespace}")
    detail, fix = missing_words(missing, namespace), grant_hint(task, namespace)
    if task is Task.EXEC:
        detail = f"only `jobs exec` and `jobs port-forward` need this: {detail}"
        return Check(f"may {task}", ok=True, detail=detail, fix=fix)
    return Check(f"may {task}", ok=False, detail=detail, fix=fix)
