"""The local backend: jobs as processes of this machine."""

import asyncio
import json
import shutil
import socket
import sys
import threading
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from trainway.agent.recovery import clear_leftovers
from trainway.backends.base import (
    BackendSettings,
    Capacity,
    Check,
    Feature,
    Handle,
    Isolation,
    LogLine,
    LogQuery,
    Request,
    Update,
    Workload,
    isolation_of,
)
from trainway.backends.local import fitness, journal, planning
from trainway.backends.local.agents import AgentError, AgentLostError, Agents
from trainway.backends.local.attachment import attachment
from trainway.backends.local.capacity import Machine
from trainway.backends.local.certificate import new_status_keys
from trainway.backends.local.containers import clear_containers, find_tool
from trainway.backends.local.jobdir import PRIVATE_DIR, JobDir
from trainway.backends.local.mounts import can_mount
from trainway.backends.local.network import LocalNetwork
from trainway.backends.local.planning import LocalRequest
from trainway.backends.local.ports import Ports
from trainway.backends.local.strays import read_strays
from trainway.backends.logs.cursor import Cursor
from trainway.backends.logs.stream import stream_logs
from trainway.compiler.network import JobIdentity
from trainway.errors import ConflictError, UnavailableError

Json = dict[str, Any]


class LocalBackend:
    """Runs each job under an agent of its own, in a directory below the home directory."""

    name = "local"
    schedules = False

    def __init__(
        self,
        settings: BackendSettings,
        machine: Machine | None = None,
        ports: Ports | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._jobs = settings.home / "jobs"
        self._machine = machine or Machine()
        self._ports = ports or Ports()
        self._clock = clock
        self._writing = threading.Lock()

    @cached_property
    def _agents(self) -> Agents:
        return Agents()

    def places(self) -> list[str]:
        """Itself."""
        return [self.name]

    async def look(self) -> None:
        """The machine is always there."""

    async def survey(self) -> None:
        """What there is is looked up when it is asked for."""

    async def close(self) -> None:
        """There is nothing to let go of."""

    def capabilities(self) -> Mapping[Feature, str]:
        """GPUs and images where this machine has something for them."""
        no_gpus = "" if self.capacity().gpus else "this machine has no GPU that we can see"
        no_images = "" if find_tool() else "neither podman nor docker is on PATH"
        return dict.fromkeys(Feature, "") | {Feature.GPUS: no_gpus, Feature.IMAGES: no_images}

    def check(self) -> list[Check]:
        """Look at the machine as far as jobs depend on it."""
        return [
            self._check_python(),
            self._check_disk(),
            self._check_mounts(),
            self._check_gpus(),
            self._check_containers(),
        ]

    def warm_up(self) -> None:
        """Make a certificate, for all that this imports."""
        new_status_keys("warm-up", self._clock())

    def capacity(self) -> Capacity:
        """CPUs, memory and GPUs of the machine."""
        return self._machine.capacity()

    def namespace(self, named: str) -> str:
        """Any name will do."""
        return named

    def runtime(self, kind: str, name: str) -> Json | None:  # noqa: ARG002 - only the built-in ones
        """None: this machine has no runtimes of its own."""
        return None

    def network(self, job: JobIdentity) -> LocalNetwork:
        """The loopback address, and a port that no other job has."""
        return LocalNetwork(job, self._ports.reserve())

    def release(self, port: int) -> None:
        """Give the job's port back."""
        self._ports.release(port)

    def has_lost_network(self, handle: Handle) -> bool:
        """Whether one of the ports of a job without a plan is in use."""
        port = int(handle["port"])
        return not _job(handle).plan.exists() and not self._ports.are_free(port)

    def problems(self, jobset: Json, source: Json) -> tuple[list[str], list[str]]:  # noqa: ARG002 - the JobSet says it all
        """What processes cannot do for the JobSet, or containers where it asks for them."""
        if isolation_of(jobset) is Isolation.CONTAINER and find_tool() is None:
            raise UnavailableError(
                "containers need podman or docker, and neither is on the server's PATH",
                hint="without --image and --containers a job runs as processes of this machine",
            )
        return fitness.errors(jobset), fitness.warnings(jobset)

    def plan(self, workload: Workload) -> LocalRequest:
        """The plan for the agent."""
        host = planning.Host(self._jobs, socket.gethostname(), find_tool())
        return planning.plan(workload, host)

    async def rehearse(self, request: Request) -> None:
        """Nobody else has a say."""

    async def submit(self, request: Request) -> None:
        """Write the plan and start the agent, unless either was done already."""
        if not isinstance(request, LocalRequest):
            raise TypeError("not a request of this backend")
        job = JobDir(Path(request.directory))
        try:
            await asyncio.to_thread(self._write, job, request)
        except OSError as error:
            raise AgentError(f"{job.path} cannot be written: {error.strerror}") from error
        if not journal.exists(job.journal):
            await self._agents.start(job)

    async def adopt(self, handle: Handle) -> None:
        """Keep the port of a job that runs already."""
        self._ports.hold(int(handle["port"]))

    def strays(self, known: Callable[[], Collection[str]]) -> list[Workload]:
        """The plans of jobs whose records were lost, such as with the database."""
        return read_strays(self._jobs, known, planning.workload_of)

    def watch(self, handle: Handle, after: int) -> AsyncIterator[Update]:
        """The job's journal."""
        return self._agents.watch(_job(handle), after)

    async def recover(self, handle: Handle, *, cancelled: bool = False) -> bool:
        """Start an agent that goes on from the journal; False if the job's directory is gone."""
        job = _job(handle)
        if not job.plan.exists():
            await asyncio.to_thread(_clear, str(handle["id"]))
            return False
        try:
            if cancelled:
                await self._agents.cancel_lost(job)
            elif journal.exists(job.journal):
                await self._agents.recover(job)
            else:
                await self._agents.start(job)
        except AgentError:
            await asyncio.to_thread(clear_leftovers, str(handle["id"]))
            raise
        return True

    def check_logs(self, query: LogQuery) -> None:
        """See whether the cursor is one of ours."""
        if query.cursor:
            Cursor.parse(query.cursor)

    def logs(
        self, handle: Handle, query: LogQuery, ended: asyncio.Event
    ) -> AsyncIterator[list[LogLine]]:
        """The logs of all containers, merged by time."""
        return stream_logs(_job(handle).logs, query, ended)

    def output(self, handle: Handle) -> Path:
        """The folder that the job was told to write to."""
        return _job(handle).output

    async def attachment(self, handle: Handle, role: str | None, rank: int | None) -> Json:
        """The processes of a pod, for a command beside them."""
        job = _job(handle)
        try:
            plan = json.loads(await asyncio.to_thread(job.plan.read_bytes))
        except FileNotFoundError:
            raise ConflictError("the job has not begun") from None
        if "containers" in plan:
            raise ConflictError(
                "its containers are those of podman or docker",
                hint="use podman exec or docker exec",
            )
        records = await asyncio.to_thread(lambda: list(journal.read(job.journal, -1)))
        return attachment(handle, records, role, rank)

    async def suspend(self, handle: Handle) -> None:
        """Stop the pods."""
        await self._agents.ask(_job(handle), "suspend")

    async def resume(self, handle: Handle) -> None:
        """Start the pods again."""
        await self._agents.ask(_job(handle), "resume")

    async def cancel(self, handle: Handle) -> None:
        """Stop everything, also what a dead agent left running."""
        try:
            await self._agents.ask(_job(handle), "cancel")
        except AgentLostError:
            await self.recover(handle, cancelled=True)

    async def delete(self, handle: Handle) -> None:
        """Remove the job's directory, once its agent has gone."""
        job = _job(handle)
        await self._agents.wait_until_gone(job)
        await asyncio.to_thread(job.remove)

    def _write(self, job: JobDir, request: LocalRequest) -> None:
        """Write the plan, which is last, and what belongs to it, unless it is there."""
        with self._writing:
            if not job.plan.exists():
                self._write_anew(job, request)

    def _write_anew(self, job: JobDir, request: LocalRequest) -> None:
        self._jobs.mkdir(mode=PRIVATE_DIR, parents=True, exist_ok=True)
        job.create()
        keys = new_status_keys(request.plan["id"], self._clock())
        job.write(job.path / planning.CERTIFICATE, keys.certificate)
        job.write(job.path / planning.KEY, keys.key)
        job.write(job.path / planning.TOKEN, keys.token.encode())
        job.write(job.plan, json.dumps(request.plan).encode(), is_durable=True)

    def _check_python(self) -> Check:
        version = ".".join(map(str, sys.version_info[:3]))
        return Check("python", ok=True, detail=f"{version} at {sys.executable}")

    def _check_disk(self) -> Check:
        free = shutil.disk_usage(_existing(self._jobs)).free / 2**30
        enough = free >= 1
        fix = "" if enough else f"make room on the disk of {self._jobs}"
        return Check("disk", ok=enough, detail=f"{free:.1f} GiB free for {self._jobs}", fix=fix)

    def _check_mounts(self) -> Check:
        if can_mount():
            return Check("volumes", ok=True, detail="appear at their own paths")
        fix = "allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone=1)"
        return Check("volumes", ok=True, detail="appear under other paths", fix=fix)

    def _check_containers(self) -> Check:
        tool = find_tool()
        if tool is not None:
            return Check("containers", ok=True, detail=f"{tool.name} at {tool.program}")
        fix = "install podman or docker to run jobs with --image or --containers"
        return Check("containers", ok=True, detail="neither podman nor docker", fix=fix)

    def _check_gpus(self) -> Check:
        gpus = self.capacity().gpus
        detail = f"{len(gpus)} ({', '.join(gpus)})" if gpus else "none found"
        devices = [name for name in ("/dev/nvidia0", "/dev/kfd") if Path(name).exists()]
        if gpus or not devices:
            return Check("gpus", ok=True, detail=detail)
        fix = "install the driver's libraries (libnvidia-ml.so.1)"
        return Check("gpus", ok=False, detail=f"{devices[0]} is there, but {detail}", fix=fix)


def _clear(job_id: str) -> None:
    """End what is left of a job that has lost its directory."""
    clear_leftovers(job_id)
    clear_containers(job_id)


def _job(handle: Handle) -> JobDir:
    return JobDir(Path(handle["directory"]))


def _existing(path: Path) -> Path:
    """The path, or the nearest directory above it that exists."""
    return path if path.exists() else _existing(path.parent)
