"""As what a job is sent: the highest form that the cluster understands. Pure.

SOURCE leaves a TrainJob or MPIJob to the cluster's own operator, ours or upstream's. JOBSET sends
what we compiled, and GROUP does so for a data cache, as a LeaderWorkerSet. JOBS is for a cluster
without JobSet, and loses some of it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from trainway.api.packages import packages_of
from trainway.backends.kubernetes import leader_worker_set
from trainway.compiler.elasticity import is_elastic
from trainway.compiler.restarts import said_of_restarts
from trainway.errors import UsageError
from trainway.jobset.labels import KUBERNETES_FORM, MIN_NODES
from trainway.json_types import Json

VARIABLE: Final = "TRAINWAY_KUBERNETES_FORM"

JOBSET_API: Final = "jobset.x-k8s.io/v1alpha2"
TRAINJOB_API: Final = "trainer.kubeflow.org/v1alpha1"
MPIJOB_API: Final = "kubeflow.org/v2beta1"
KUEUE_API: Final = "kueue.x-k8s.io/v1beta1"
_SENT: Final = {"TrainJob": TRAINJOB_API, "MPIJob": MPIJOB_API}


class Form(StrEnum):
    """As what a job is sent."""

    SOURCE = "source"
    GROUP = "leaderworkerset"
    JOBSET = "jobset"
    JOBS = "jobs"


_LIMITS: Final = (Form.SOURCE, Form.JOBSET, Form.JOBS)
"""What somebody may ask for: nothing higher than that."""


@dataclass(frozen=True)
class Offer:
    """What a cluster understands."""

    apis: frozenset[str] = frozenset()
    """The groups of the API with their versions, as objects have them."""
    runtimes: Mapping[tuple[str, str], Json] = field(default_factory=dict)
    """The training runtimes that a job in our namespace can name, by kind and name."""

    annotations: frozenset[str] = frozenset()
    """Our annotations of a TrainJob that its operator follows: upstream's follows none."""

    def serves(self, api: str) -> bool:
        """Whether it knows a version of a group."""
        return api in self.apis


def apis_of(groups: Json) -> frozenset[str]:
    """What the API server's list of groups says."""
    versions = (
        version for group in groups.get("groups") or () for version in group.get("versions") or ()
    )
    return frozenset(str(version["groupVersion"]) for version in versions)


def choose(source: Json, submitted: Sequence[Json], offer: Offer, forced: str = "") -> Form:
    """The highest form that the cluster takes and nobody forbids."""
    annotations = (source.get("metadata") or {}).get("annotations") or {}
    limit = _limit(str(annotations.get(KUBERNETES_FORM) or forced))
    if limit is Form.SOURCE and _takes_source(source, submitted, offer):
        return Form.SOURCE
    if limit is Form.SOURCE and _takes_group(source, offer):
        return Form.GROUP
    if limit is not Form.JOBS and offer.serves(JOBSET_API):
        return Form.JOBSET
    return Form.JOBS


def _takes_source(source: Json, submitted: Sequence[Json], offer: Offer) -> bool:
    """Whether the cluster runs the object as it is.

    Not with a ClusterTrainingRuntime that came along: all would see it, and nobody could own it.
    Nor where it says how often it restarts, or with how few nodes it goes on, and the operator
    there would not follow that. Nor with packages, which not every operator installs.
    """
    kind = str(source.get("kind"))
    api = _SENT.get(kind)
    if api is None or not offer.serves(api) or packages_of(source):
        return False
    if kind != "TrainJob":
        return True
    if not said_of_restarts(source) <= offer.annotations:
        return False
    if is_elastic(source) and MIN_NODES not in offer.annotations:
        return False
    ref = (source.get("spec") or {}).get("runtimeRef") or {}
    named = str(ref.get("kind") or "ClusterTrainingRuntime"), str(ref.get("name") or "")
    given = [(str(obj.get("kind")), str(obj["metadata"].get("name"))) for obj in submitted]
    if any(kind == "ClusterTrainingRuntime" for kind, _ in given):
        return False
    return named in offer.runtimes or named in given


def _takes_group(source: Json, offer: Offer) -> bool:
    """Whether it is a data cache that can be a LeaderWorkerSet there."""
    return offer.serves(leader_worker_set.API) and leader_worker_set.is_group(source)


def _limit(text: str) -> Form:
    if text and text not in _LIMITS:
        hint = f"one of {', '.join(_LIMITS)}"
        raise UsageError(f"there is no form {text!r}", field=KUBERNETES_FORM, hint=hint)
    return Form(text) if text else Form.SOURCE
