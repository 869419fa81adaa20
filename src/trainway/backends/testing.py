"""A backend in memory, for tests of what is above: the test plays the agents."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trainway.backends.agents.loopback_network import LoopbackNetwork
from trainway.backends.base import (
    AgentStartError,
    Capacity,
    Check,
    Feature,
    Handle,
    LogLine,
    LogQuery,
    Update,
    Workload,
)
from trainway.compiler.network import JobIdentity
from trainway.errors import ConflictError, TrainwayError, UnavailableError
from trainway.jobset.quantity import Quantity
from trainway.json_types import Json


@dataclass
class FakeJob:
    """What became of one job."""

    workload: Workload
    records: list[Json] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    """What the agent was told to do."""
    submits: int = 0
    recoveries: int = 0
    is_alive: bool = True
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def write(self, kind: str, **fields: Any) -> None:
        """Let the agent write a record."""
        time = f"2026-11-15T05:00:{len(self.records):02}.000000Z"
        self.records.append({"seq": len(self.records), "time": time, "type": kind, **fields})
        self.changed.set()

    def run(self, pod: str = "node-0-0", attempt: int = 0) -> None:
        """Let a pod run."""
        container = {"name": "main", "restarts": 0, "startedAt": "2026-11-15T05:00:00Z"}
        self.write("pod", pod=pod, attempt=attempt, phase="Running", containers=[container])

    def suspend(self, status: str = "True") -> None:
        """Let the JobSet say that it is suspended, or that it is not any more."""
        now = "2026-11-15T05:00:00Z"
        condition = {"type": "Suspended", "status": status, "lastTransitionTime": now}
        self.write("status", jobset={"conditions": [condition]})

    def end(self, *, succeeded: bool = True, reason: str = "AllJobsCompleted") -> None:
        """Let it end."""
        self.write("end", succeeded=succeeded, reason=reason, message="it ended")

    def lose_agent(self) -> None:
        """Kill the agent."""
        self.is_alive = False
        self.changed.set()


@dataclass(frozen=True)
class FakeRequest:
    """A request that does nothing."""

    workload: Workload

    @property
    def handle(self) -> Handle:
        """The job's id and port."""
        return {"id": self.workload.id, "port": self.workload.port, "directory": ""}

    def text(self) -> str:
        """The job's name."""
        return self.workload.name


class FakeBackend:
    """Runs nothing; a test says what happens."""

    name = "local"
    schedules = False

    def __init__(self, cpus: str = "4", gpus: int = 0) -> None:
        names = tuple(str(index) for index in range(gpus))
        self.total = Capacity(Quantity.parse(cpus), Quantity.parse("8Gi"), names)
        self.jobs: dict[str, FakeJob] = {}
        self.ports: set[int] = set()
        self._ports = itertools.count(100)
        self.taken: set[int] = set()
        """Ports that a stranger took."""
        self.deleted: list[str] = []
        self.refuses: str = ""
        """Why no job can be started."""
        self.hint: str = ""
        """What is to be done about that."""
        self.away: str = ""
        """Why no job can be started just now."""
        self.mute: str = ""
        """Why no job can be told anything just now."""
        self.stubborn: str = ""
        """Why no job does what it is told, unless that is its end."""
        self.unreachable: str = ""
        """Why nothing can be asked."""
        self.unstartable: list[str] = []
        """Why the next agents cannot be started, one each."""
        self.can_recover = True
        self.problem = ""
        """What is wrong with every job."""

    def places(self) -> list[str]:
        """Itself."""
        return [self.name]

    async def look(self) -> None:
        """Raise what the test says."""
        if self.unreachable:
            raise UnavailableError(self.unreachable)

    async def survey(self) -> None:
        """Nothing to learn."""

    async def close(self) -> None:
        """Nothing to let go of."""

    def capabilities(self) -> Mapping[Feature, str]:
        """Everything."""
        return dict.fromkeys(Feature, "")

    def check(self) -> list[Check]:
        """Nothing to say."""
        return []

    def warm_up(self) -> None:
        """Nothing to load."""

    def capacity(self) -> Capacity:
        """What the test said."""
        return self.total

    def namespace(self, named: str) -> str:
        """The same."""
        return named

    def runtime(self, kind: str, name: str) -> Json | None:  # noqa: ARG002 - there is none
        """None."""
        return None

    def network(self, job: JobIdentity) -> LoopbackNetwork:
        """The next port."""
        port = next(self._ports)
        self.ports.add(port)
        return LoopbackNetwork(job, port)

    def release(self, port: int) -> None:
        """Forget a port."""
        self.ports.discard(port)

    def has_lost_network(self, handle: Handle) -> bool:
        """Whether the test took the port."""
        return int(handle["port"]) in self.taken and handle["id"] not in self.jobs

    def problems(self, jobset: Json, source: Json) -> tuple[list[str], list[str]]:
        """What the test says."""
        return ([self.problem] if self.problem and jobset and source else []), []

    def plan(self, workload: Workload) -> FakeRequest:
        """The workload itself."""
        return FakeRequest(workload)

    async def rehearse(self, request: Any) -> None:
        """It would."""

    async def submit(self, request: Any) -> None:
        """Remember the job."""
        if self.away:
            raise UnavailableError(self.away)
        if self.refuses:
            raise TrainwayError(self.refuses, hint=self.hint or None)
        self._start()
        workload: Workload = request.workload
        job = self.jobs.setdefault(workload.id, FakeJob(workload))
        job.submits += 1

    async def adopt(self, handle: Handle) -> None:
        """Keep the port."""
        self.ports.add(int(handle["port"]))

    def strays(self, known: Callable[[], Collection[str]]) -> list[Workload]:
        """Jobs that the engine does not know."""
        ids = set(known())
        return [job.workload for job_id, job in self.jobs.items() if job_id not in ids]

    async def watch(self, handle: Handle, after: int) -> AsyncIterator[Update]:
        """What the test writes."""
        job = self.jobs[handle["id"]]
        while True:
            job.changed.clear()
            fresh = tuple(job.records[after + 1 :])
            if fresh:
                after = int(fresh[-1]["seq"])
                yield Update(fresh)
                continue
            if not job.is_alive:
                return
            await job.changed.wait()

    async def recover(self, handle: Handle, *, cancelled: bool = False) -> bool:
        """Bring the agent back if the test lets it, or only the end of the job."""
        self._start()
        job = self.jobs[handle["id"]]
        job.recoveries += 1
        job.is_alive = self.can_recover and not cancelled
        if cancelled:
            job.end(succeeded=False, reason="Cancelled")
        return self.can_recover

    def check_logs(self, query: LogQuery) -> None:
        """All are fine."""

    async def logs(
        self, handle: Handle, query: LogQuery, ended: asyncio.Event
    ) -> AsyncIterator[list[LogLine]]:
        """One line, and one more at the end."""
        yield [LogLine("", "node", 0, 0, "main", 0, "stdout", b"first", "1")]
        if query.follow:
            await ended.wait()
            yield [LogLine("", "node", 0, 0, "main", 0, "stdout", handle["id"].encode(), "2")]

    def shared_output(self, job_id: str) -> str:
        """Somewhere."""
        return f"/jobs/{job_id}/output"

    def output(self, handle: Handle) -> Path:
        """A path with nothing there."""
        return Path("/nowhere", handle["id"], "output")

    async def exec_place(self, handle: Handle, role: str | None, rank: int | None) -> Json:
        """Where a pod would be."""
        return {"id": handle["id"], "role": role, "rank": rank}

    async def suspend(self, handle: Handle) -> None:
        """Note it."""
        self._ask(handle, "suspend")

    async def resume(self, handle: Handle) -> None:
        """Note it."""
        self._ask(handle, "resume")

    async def resize(self, handle: Handle, nodes: int) -> None:
        """Note it."""
        self._ask(handle, f"resize {nodes}")

    async def cancel(self, handle: Handle) -> None:
        """Note it; a job without an agent needs one to come to its end."""
        if handle["id"] not in self.jobs:
            self._start()
        self._ask(handle, "cancel")

    async def delete(self, handle: Handle) -> None:
        """Note it."""
        self.deleted.append(handle["id"])

    def _start(self) -> None:
        if self.unstartable:
            raise AgentStartError(self.unstartable.pop(0))

    def _ask(self, handle: Handle, operation: str) -> None:
        job = self.jobs[handle["id"]]
        if self.mute:
            raise UnavailableError(self.mute)
        if self.stubborn and operation != "cancel":
            raise ConflictError(self.stubborn)
        if not job.is_alive:
            raise TrainwayError("no agent answers")
        job.asked.append(operation)
