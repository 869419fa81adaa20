"""What the controller watches, and which MPIJob a change is about."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

from trainway.compiler.mpijob import KIND, OPERATOR
from trainway.compiler.mpijob_gang import VOLCANO
from trainway.jobset.labels import MPI_OPERATOR_NAME
from trainway.json_types import Json
from trainway.kube.informer import Change, Informer
from trainway.kube.owners import controller_of
from trainway.kube.resources import (
    COSCHEDULING_POD_GROUPS,
    JOBS,
    MPIJOBS,
    PODS,
    VOLCANO_POD_GROUPS,
    Resource,
)
from trainway.operator import caches
from trainway.operator.context import Context
from trainway.operator.mpijobs.memory import Memory
from trainway.operator.mpijobs.roles import kept_job, kept_pod, owner_key
from trainway.operator.uncreated_pods import candidates

Add = Callable[[str], None]

SELECTOR: Final = f"{MPI_OPERATOR_NAME}={OPERATOR}"
BY_MPIJOB: Final = "mpijob"


@dataclass(frozen=True)
class Watches:
    """The informers that the controller reads."""

    mpijobs: Informer
    jobsets: Informer
    config_maps: Informer
    secrets: Informer
    jobs: Informer
    pods: Informer
    uncreated: Informer
    """Events of Jobs that could not create a pod."""
    pod_groups: Informer | None = None
    """The PodGroups, which are watched only with gang scheduling."""
    priority_classes: Informer | None = None

    @classmethod
    def of(cls, context: Context) -> "Watches":
        """Those that the configuration asks for."""
        informers, scheduler = context.informers, context.config.gang_scheduling
        indexers = {BY_MPIJOB: owner_key}
        return cls(
            mpijobs=informers.of(MPIJOBS),
            jobsets=caches.jobsets(informers),
            config_maps=caches.config_maps(informers),
            secrets=caches.secrets(informers),
            jobs=informers.of(JOBS, label_selector=SELECTOR, keep=kept_job, indexers=indexers),
            pods=informers.of(PODS, label_selector=SELECTOR, keep=kept_pod, indexers=indexers),
            uncreated=caches.uncreated_pods(informers),
            pod_groups=caches.pod_groups(informers, pod_groups(scheduler)) if scheduler else None,
            priority_classes=caches.priority_classes(informers) if scheduler else None,
        )

    def connect(self, add: Add, memory: Memory) -> None:
        """Work on a job whenever something of it changes."""
        self.mpijobs.add_handler(lambda change: add(change.key))
        for informer in (self.jobs, self.pods):
            informer.add_handler(lambda change: _add_all(add, owner_key(change.object)))
        self.uncreated.add_handler(lambda change: _add_all(add, self._about(change)))
        children = [self.jobsets, self.config_maps, self.secrets]
        for informer in [*children, self.pod_groups] if self.pod_groups else children:
            kind = informer.resource.kind
            informer.add_handler(partial(_child_changed, kind=kind, add=add, memory=memory))

    def _about(self, change: Change) -> list[str]:
        """The MPIJobs whose Job may be the one that could not create a pod."""
        found = candidates(change.new) if change.new is not None else []
        return [key for key in found if key in self.mpijobs.store]


def pod_groups(scheduler: str) -> Resource:
    """The PodGroups of a scheduler."""
    return VOLCANO_POD_GROUPS if scheduler == VOLCANO else COSCHEDULING_POD_GROUPS


def version_of(obj: Json) -> str:
    """What changes when somebody writes the object, but not when a controller tells its status."""
    metadata = obj["metadata"]
    return str(metadata.get("generation") or metadata.get("resourceVersion", ""))


def _child_changed(change: Change, *, kind: str, add: Add, memory: Memory) -> None:
    child = change.object
    owner = controller_of(child)
    if owner is None or owner.get("kind") != KIND:
        return
    key = f"{child['metadata']['namespace']}/{owner['name']}"
    known = memory.known(key)
    if known is not None:
        known.forget_other(kind, version_of(child) if change.kind != "deleted" else "")
    add(key)


def _add_all(add: Add, keys: list[str]) -> None:
    for key in keys:
        add(key)
