"""Says of every job that its pods run, and of a cancelled one that it has ended."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from trainway.backends.base import BackendSettings, Handle, Update, Workload
from trainway.compiler.network import JobIdentity, KubernetesNetwork


@dataclass(frozen=True)
class SimulatedRequest:
    """A job that nobody runs."""

    workload: Workload

    @property
    def handle(self) -> Handle:
        """How the job is found."""
        return {"id": self.workload.id, "port": self.workload.port}

    def text(self) -> str:
        """What would be sent."""
        return json.dumps(self.handle)


@dataclass
class _Job:
    records: list[dict[str, Any]] = field(default_factory=list)
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def write(self, kind: str, **fields: Any) -> None:
        time = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        self.records.append({"seq": len(self.records), "time": time, "type": kind, **fields})
        self.changed.set()


class SimulatedBackend:
    """Jobs of `simulated/PLACE`."""

    schedules = True

    def __init__(self, settings: BackendSettings) -> None:
        self.name = f"simulated/{settings.target}".rstrip("/")
        self._jobs: dict[str, _Job] = {}

    def network(self, job: JobIdentity) -> KubernetesNetwork:
        """Names that nobody looks up."""
        return KubernetesNetwork(job)

    def plan(self, workload: Workload) -> SimulatedRequest:
        """The job itself."""
        return SimulatedRequest(workload)

    async def submit(self, request: Any) -> None:
        """Say that its pod runs."""
        if request.handle["id"] not in self._jobs:
            job = self._jobs[request.handle["id"]] = _Job()
            started = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
            container = {"name": "node", "restarts": 0, "startedAt": started}
            job.write("pod", pod="node-0-0", attempt=0, phase="Running", containers=[container])

    async def watch(self, handle: Handle, after: int) -> AsyncIterator[Update]:
        """What was said of a job."""
        job = self._jobs.setdefault(handle["id"], _Job())
        while True:
            job.changed.clear()
            fresh = tuple(job.records[after + 1 :])
            if fresh:
                after = int(fresh[-1]["seq"])
                yield Update(fresh)
            else:
                await job.changed.wait()

    async def cancel(self, handle: Handle) -> None:
        """Say that it has ended."""
        job = self._jobs.setdefault(handle["id"], _Job())
        job.write("end", succeeded=False, reason="Cancelled", message="it was cancelled")

    async def delete(self, handle: Handle) -> None:
        """Forget it."""
        self._jobs.pop(handle["id"], None)
