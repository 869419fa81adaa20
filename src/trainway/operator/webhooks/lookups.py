"""Reads from the cluster what an answer about a TrainJob depends on.

A runtime is always read live: a job may follow its runtime, or a change of it, immediately, and a
watch lags behind. Questions that come at the same time share a read. An update is judged by the
snapshot that its job runs on (D7).
"""

import asyncio
import time
from collections.abc import Callable
from typing import Final

from trainway.api.trainjob import TrainJob
from trainway.compiler.workload import Runtime
from trainway.jobset.model import replicated_jobs
from trainway.json_types import Json
from trainway.kube.errors import ObjectNotFound
from trainway.kube.owners import is_controlled_by
from trainway.kube.resources import CONFIG_MAPS, JOBSETS, PRIORITY_CLASSES, Resource
from trainway.operator.trainjobs.build_error import BuildError
from trainway.operator.trainjobs.runtime_snapshot import (
    parsed_snapshot,
    snapshot_name,
    snapshot_text,
)
from trainway.operator.trainjobs.runtime_source import Reader, RuntimeSource
from trainway.operator.webhooks.review import Question
from trainway.operator.webhooks.trainjob import Facts, patches_changed
from trainway.schema.field import invalid

_CLASS_SECONDS: Final = 30.0


class Lookups:
    """The way to the facts."""

    def __init__(self, client: Reader, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._client = client
        self._monotonic = monotonic
        self._runtimes = RuntimeSource(client, apart_s=0.0)
        self._classes: dict[str, float] = {}
        """Priority classes that were there, and when that was seen."""

    async def facts(self, question: Question, job: TrainJob) -> Facts:
        """What to judge the job by."""
        try:
            runtime = await self._snapshot(question, job) or await self._runtime(job)
        except BuildError as error:
            problem = invalid(("spec", "runtimeRef"), job.spec.runtime_ref.name, error.message)
            return Facts(problem=problem)
        classes, active = await asyncio.gather(
            self._priority_classes(runtime), self._active_jobs(question, job)
        )
        return Facts(runtime, None, classes, active)

    async def _snapshot(self, question: Question, job: TrainJob) -> Runtime | None:
        """The runtime that the job was started on; None for a job that was not started yet."""
        if question.old is None:
            return None
        name = snapshot_name(job.metadata.name)
        config_map = await self._found(CONFIG_MAPS, name, job.metadata.namespace)
        if config_map is None or not is_controlled_by(config_map, job.metadata.uid):
            return None
        return parsed_snapshot(snapshot_text(config_map), question.object["spec"]["runtimeRef"])

    async def _runtime(self, job: TrainJob) -> Runtime | None:
        ref = {"name": job.spec.runtime_ref.name, "kind": job.spec.runtime_ref.kind}
        asked = {"metadata": {"namespace": job.metadata.namespace}, "spec": {"runtimeRef": ref}}
        try:
            return (await self._runtimes.live(asked)).runtime
        except BuildError as error:
            if error.missing_runtime:
                return None
            raise

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
