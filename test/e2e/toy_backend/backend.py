"""Runs the pods of a JobSet as processes of the server. It keeps logs, and it holds clusters.

What runs ends with the server, which a real backend would not allow.
"""

import asyncio
import json
from collections import defaultdict
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from trainway.agent.base.launch import host_command
from trainway.backends.base import BackendSettings, Handle, LogLine, LogQuery, Update, Workload
from trainway.compiler.network import JobIdentity, KubernetesNetwork
from trainway.jobset.model import replicated_jobs
from trainway.json_types import Json


@dataclass(frozen=True)
class ToyRequest:
    """The words of each pod, and all that came from whoever submitted the job."""

    workload: Workload

    @property
    def handle(self) -> Handle:
        return {"id": self.workload.id, "port": self.workload.port}

    def commands(self) -> dict[str, list[str]]:
        return {
            f"{job.name}-0-{pod}": job.pod.spec["containers"][0]["command"]
            for job in replicated_jobs(self.workload.jobset["spec"])
            for pod in range(job.data["template"]["spec"]["completions"])
        }

    def text(self) -> str:
        submitter = {"environ": dict(self.workload.environ), "workdir": self.workload.workdir}
        return json.dumps({"pods": self.commands(), "submitter": submitter})


@dataclass
class _Job:
    records: list[dict[str, Any]] = field(default_factory=list)
    lines: list[LogLine] = field(default_factory=list)
    processes: list[asyncio.subprocess.Process] = field(default_factory=list)
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    is_cancelled: bool = False
    task: "asyncio.Task[None] | None" = None

    def write(self, kind: str, **fields: Any) -> None:
        record = {"seq": len(self.records), "time": _now(), "type": kind, **fields}
        self.records.append(record)
        self.changed.set()


class ToyHolder:
    """Clusters of `toy/PLACE`: its one host is this machine, which has eight CPUs for them."""

    def __init__(self, home: Path) -> None:
        self._home = home

    def infra(self, region: str | None, zone: str | None) -> str:  # noqa: ARG002 - it has none
        return f"toy/{region or 'shelf'}"

    def pool(self, infra: str, cluster: str) -> str:  # noqa: ARG002 - one for all
        return infra.replace("/", "+")

    def hosts(self, infra: str) -> list[Json]:
        folder = self._home / "pools" / self.pool(infra, "") / "host"
        host = {"name": "shelf-1", "destination": "shelf-1", "address": "127.0.0.1"}
        amounts = {"cpus": 8, "memory": 2**34, "gpus": []}
        return [{**host, **amounts, "command": host_command(str(folder))}]

    def outputs(self, infra: str) -> str:  # noqa: ARG002 - everywhere the same
        return "copy"

    def order(self, infra: str, cluster: Json) -> Json:  # noqa: ARG002 - as above
        return cluster

    def network(self, job: JobIdentity, port: int) -> KubernetesNetwork:
        return KubernetesNetwork(job, port=port)


class ToyBackend:
    """Jobs of `toy/PLACE`."""

    schedules = True

    def __init__(self, settings: BackendSettings) -> None:
        self._home = settings.home
        self.name = f"toy/{settings.target}".rstrip("/")
        self._jobs: dict[str, _Job] = defaultdict(_Job)

    def network(self, job: JobIdentity) -> KubernetesNetwork:
        return KubernetesNetwork(job)

    def plan(self, workload: Workload) -> ToyRequest:
        return ToyRequest(workload)

    async def submit(self, request: Any) -> None:
        job = self._jobs[request.handle["id"]]
        if job.task is None:
            job.task = asyncio.create_task(self._run(job, request.commands()))

    async def watch(self, handle: Handle, after: int) -> AsyncIterator[Update]:
        job = self._jobs[handle["id"]]
        while True:
            job.changed.clear()
            fresh = tuple(job.records[after + 1 :])
            if fresh:
                after = int(fresh[-1]["seq"])
                yield Update(fresh)
            else:
                await job.changed.wait()

    async def cancel(self, handle: Handle) -> None:
        job = self._jobs[handle["id"]]
        job.is_cancelled = True
        for process in job.processes:
            if process.returncode is None:
                process.kill()

    async def delete(self, handle: Handle) -> None:
        self._jobs.pop(handle["id"], None)

    def holder(self) -> ToyHolder:
        return ToyHolder(self._home)

    def check_logs(self, query: LogQuery) -> None:
        """Take every query."""

    async def logs(
        self, handle: Handle, query: LogQuery, ended: asyncio.Event
    ) -> AsyncIterator[list[LogLine]]:
        if query.follow:
            await ended.wait()
        yield self._jobs[handle["id"]].lines

    async def _run(self, job: _Job, commands: dict[str, list[str]]) -> None:
        pods = enumerate(commands.items())
        codes = await asyncio.gather(*(self._pod(job, rank, *pod) for rank, pod in pods))
        reason = "Cancelled" if job.is_cancelled else "AllJobsCompleted"
        job.write("end", succeeded=not any(codes), reason=reason, message=f"it ended with {codes}")

    async def _pod(self, job: _Job, rank: int, pod: str, words: list[str]) -> int:
        process = await asyncio.create_subprocess_exec(
            *words, stdout=asyncio.subprocess.PIPE, env={"PATH": "/usr/bin:/bin"}
        )
        job.processes.append(process)
        container = {"name": "node", "restarts": 0, "startedAt": _now()}
        job.write("pod", pod=pod, attempt=0, phase="Running", containers=[container])
        output, _ = await process.communicate()
        for line in output.splitlines():
            cursor = str(len(job.lines) + 1)
            job.lines.append(LogLine(_now(), "node", 0, rank, "node", 0, "stdout", line, cursor))
        code = process.returncode or 0
        phase = "Failed" if code else "Succeeded"
        job.write("pod", pod=pod, attempt=0, phase=phase, containers=[container])
        return code


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
