"""Jobs that their backend has and the store has lost, as records that can be stored again."""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection
from dataclasses import dataclass

from trainway.backends import capabilities
from trainway.backends.base import Backend, Workload
from trainway.backends.registry import Registry
from trainway.engine.record import JobRecord, JobSpec
from trainway.engine.submission import record_of


@dataclass(frozen=True)
class Stray:
    """A job without a record of it, and the record that it will have."""

    backend: Backend
    record: JobRecord
    spec: JobSpec


async def strays(
    registry: Registry, known: Callable[[], Collection[str]], now: str
) -> AsyncIterator[Stray]:
    """All of them, one by one."""
    for keeper in registry.keepers():
        found = await asyncio.to_thread(capabilities.strays, registry.get(keeper), known)
        for workload in found:
            site = workload.handle.get("site")
            backend = registry.get(f"{keeper}/{site}" if site else keeper)
            handle = backend.plan(workload).handle
            record = record_of(workload, backend.name, handle, now)
            yield Stray(backend, record, _spec(workload))


def _spec(workload: Workload) -> JobSpec:
    objects = [*workload.objects, workload.jobset]
    return JobSpec(objects, workload.environ, workload.jobset, workload.objects)
