"""Which TrainJobs are looked at when something in the cluster changes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from trainway.jobset.status import conditions_of, find_true
from trainway.jobset.trainjob_status import is_finished
from trainway.json_types import Json
from trainway.kube.informer import Change, Informer
from trainway.kube.owners import controller_of
from trainway.kube.store import split_key
from trainway.operator.caches import (
    BY_RUNTIME_CLASS,
    SUSPENDED_BY_NAMESPACE,
    SUSPENDED_BY_RUNTIME,
)
from trainway.operator.trainjobs.memory import Memory
from trainway.operator.uncreated_pods import candidates


class Add(Protocol):
    """Queues a TrainJob; `fresh` ones go before the others."""

    def __call__(self, key: str, *, fresh: bool = True) -> None:
        """Let it be looked at."""
        ...


@dataclass(frozen=True, slots=True)
class Watches:
    """Handlers of the informers."""

    add: Add
    memory: Memory
    trainjobs: Informer

    def on_trainjob(self, change: Change) -> None:
        """Look at the TrainJob itself; after a start at those first that nobody has looked at."""
        if change.new is not None and is_finished(conditions_of(change.new)):
            self.memory.forget_end(change.key)
        is_old = change.kind == "added" and bool(change.object.get("status"))
        self.add(change.key, fresh=not is_old)

    def on_jobset(self, change: Change) -> None:
        """Look at the TrainJob of that name: it owns the JobSet, or waits for its place."""
        if change.key not in self.trainjobs.store:
            return
        jobset = change.object
        if change.kind == "deleted":
            metadata = jobset["metadata"]
            self.memory.child_gone(change.key, "JobSet", metadata["name"], metadata["uid"])
            if has_ended(jobset) and owner_key(jobset) == change.key:
                self.memory.remember_end(change.key, jobset)
        self.add(change.key)

    def on_child(self, kind: str) -> Callable[[Change], None]:
        """Look at the TrainJob whose child was deleted or changed; a new one is no news."""

        def handle(change: Change) -> None:
            key = owner_key(change.object)
            if change.kind == "added" or not key:
                return
            if change.kind == "deleted":
                metadata = change.object["metadata"]
                self.memory.child_gone(key, kind, metadata["name"], metadata["uid"])
            if key in self.trainjobs.store:
                self.add(key)

        return handle

    def on_runtime(self, kind: str) -> Callable[[Change], None]:
        """Look at the TrainJobs that waited for the runtime."""

        def handle(change: Change) -> None:
            if change.new is not None:
                for key in self.memory.runtime_appeared(f"{kind}:{change.key}"):
                    self.add(key)

        return handle

    def on_uncreated_pod(self, change: Change) -> None:
        """Look at the TrainJobs whose Job may be the one that could not make a pod."""
        if change.new is not None:
            for key in candidates(change.new):
                if key in self.trainjobs.store:
                    self.add(key)

    def on_limit_range(self, change: Change) -> None:
        """Look at the suspended TrainJobs of its namespace."""
        namespace, _ = split_key(change.key)
        for key in self.trainjobs.store.keys_by_index(SUSPENDED_BY_NAMESPACE, namespace):
            self.add(key)

    def on_runtime_class(self, runtimes: dict[str, Informer]) -> Callable[[Change], None]:
        """Look at the suspended TrainJobs whose runtime refers to it; runtimes are by kind."""

        def handle(change: Change) -> None:
            for kind, informer in runtimes.items():
                for runtime in informer.store.keys_by_index(BY_RUNTIME_CLASS, change.key):
                    index = SUSPENDED_BY_RUNTIME
                    for key in self.trainjobs.store.keys_by_index(index, f"{kind}:{runtime}"):
                        self.add(key)

        return handle


def owner_key(obj: Json) -> str:
    """The key of the TrainJob that controls the object; empty if none does."""
    owner = controller_of(obj)
    if owner is None or owner.get("kind") != "TrainJob":
        return ""
    return f"{obj['metadata'].get('namespace', '')}/{owner['name']}"


def has_ended(jobset: Json) -> bool:
    """Whether the JobSet is done, well or badly."""
    conditions = conditions_of(jobset)
    return any(find_true(conditions, end) for end in ("Completed", "Failed"))
