"""Reads from the cluster what an answer about a TrainJob depends on.

A runtime is read live, so that a job may follow its runtime immediately, and is remembered for as
long as the watch of runtimes says that it is the same. Before a job is refused for what a
remembered runtime says, the live one is asked. An update is judged by the snapshot that its job
runs on (D7).
"""

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import Final, Protocol

from trainway.api.trainjob import TrainJob
from trainway.compiler.workload import Runtime
from trainway.jobset.model import replicated_jobs
from trainway.kube.errors import ObjectNotFound
from trainway.kube.owners import is_controlled_by
from trainway.kube.resources import (
    CLUSTER_TRAINING_RUNTIMES,
    CONFIG_MAPS,
    JOBSETS,
    PRIORITY_CLASSES,
    TRAINING_RUNTIMES,
    Resource,
)
from trainway.operator.trainjobs.build_error import BuildError
from trainway.operator.trainjobs.runtime_snapshot import (
    parsed_runtime,
    parsed_snapshot,
    snapshot_name,
    snapshot_text,
)
from trainway.operator.webhooks.review import Json, Question
from trainway.operator.webhooks.trainjob import Facts, patches_changed
from trainway.schema.field import invalid

RUNTIME_RESOURCES: Final[Mapping[str, Resource]] = {
    "ClusterTrainingRuntime": CLUSTER_TRAINING_RUNTIMES,
    "TrainingRuntime": TRAINING_RUNTIMES,
}
_CLASS_SECONDS: Final = 30.0
_MOST_RUNTIMES: Final = 256


class Reader(Protocol):
    """The part of a client that is needed here."""

    async def get(self, resource: Resource, name: str, namespace: str = "") -> Json:
        """One object; ObjectNotFound if there is none."""
        ...


class Cache(Protocol):
    """The part of an informer's store that is needed here: metadata is enough."""

    def get(self, key: str) -> Json | None:
        """The object with that key, `namespace/name` or `name`, if it is known."""
        ...


class Lookups:
    """The way to the facts. `caches` are stores of runtimes, by kind."""

    def __init__(
        self,
        client: Reader,
        caches: Mapping[str, Cache],
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client
        self._caches = caches
        self._monotonic = monotonic
        self._runtimes: dict[tuple[str, str], tuple[str, Runtime]] = {}
        """By kind and key: a version and what it says; longest unused first."""
        self._classes: dict[str, float] = {}
        """Priority classes that were there, and when that was seen."""

    async def facts(self, question: Question, job: TrainJob, *, live: bool = False) -> Facts:
        """What to judge the job by. `live`: whatever is remembered."""
        try:
            runtime, from_cache = await self._snapshot(question, job), False
            if runtime is None:
                runtime, from_cache = await self._runtime(job, live)
        except BuildError as error:
            problem = invalid(("spec", "runtimeRef"), job.spec.runtime_ref.name, error.message)
            return Facts(problem=problem)
        classes, active = await asyncio.gather(
            self._priority_classes(runtime), self._active_jobs(question, job)
        )
        return Facts(runtime, None, classes, active, from_cache)

    async def _snapshot(self, question: Question, job: TrainJob) -> Runtime | None:
        """The runtime that the job was started on; None for a job that was not started yet."""
        if question.old is None:
            return None
        name = snapshot_name(job.metadata.name)
        config_map = await self._found(CONFIG_MAPS, name, job.metadata.namespace)
        if config_map is None or not is_controlled_by(config_map, job.metadata.uid):
            return None
        return parsed_snapshot(snapshot_text(config_map), question.object["spec"]["runtimeRef"])

    async def _runtime(self, job: TrainJob, live: bool) -> tuple[Runtime | None, bool]:
        """The runtime, and whether it is a remembered one."""
        ref = job.spec.runtime_ref
        resource = RUNTIME_RESOURCES[ref.kind]
        namespace = job.metadata.namespace if resource.namespaced else ""
        key = f"{namespace}/{ref.name}" if namespace else ref.name
        current = self._caches[ref.kind].get(key)
        remembered = self._runtimes.pop((ref.kind, key), None)
        if not live and current and remembered and _version(current) == remembered[0]:
            self._runtimes[ref.kind, key] = remembered
            return remembered[1], True
        found = await self._found(resource, ref.name, namespace)
        if found is None:
            return None, False
        runtime = parsed_runtime(found)
        self._runtimes[ref.kind, key] = _version(found), runtime
        if len(self._runtimes) > _MOST_RUNTIMES:
            del self._runtimes[next(iter(self._runtimes))]
        return runtime, False

    async def _active_jobs(self, question: Question, job: TrainJob) -> tuple[str, ...]:
        if not patches_changed(question):
            return ()
        jobset = await self._found(JOBSETS, job.metadata.name, job.metadata.namespace) or {}
        statuses = (jobset.get("status") or {}).get("replicatedJobsStatus") or []
        return tuple(status["name"] for status in statuses if status.get("active", 0) > 0)

    async def _priority_classes(self, runtime: Runtime | None) -> frozenset[str]:
        """Those of the runtime's priority classes that exist; only Volcano asks for them."""
        groups = runtime.spec.pod_group_policy if runtime else None
        if runtime is None or groups is None or groups.volcano is None:
            return frozenset()
        roles = replicated_jobs(runtime.spec.template.spec)
        names = {role.pod.spec.get("priorityClassName") or "" for role in roles} - {""}
        return frozenset([name for name in sorted(names) if await self._has_class(name)])

    async def _has_class(self, name: str) -> bool:
        now = self._monotonic()
        if now - self._classes.get(name, -_CLASS_SECONDS) < _CLASS_SECONDS:
            return True
        self._classes.pop(name, None)
        if await self._found(PRIORITY_CLASSES, name, "") is None:
            return False
        self._classes[name] = now
        return True

    async def _found(self, resource: Resource, name: str, namespace: str) -> Json | None:
        try:
            return await self._client.get(resource, name, namespace)
        except ObjectNotFound:
            return None


def _version(obj: Json) -> str:
    metadata = obj["metadata"]
    return f"{metadata.get('uid')} {metadata.get('resourceVersion')}"
