"""The local backend: jobs as processes of this machine."""

import asyncio
import socket
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property

from trainway.agent.supervisor.recovery import clear_leftovers
from trainway.backends import bucket_mounts, folders
from trainway.backends.agents import fitness, journal
from trainway.backends.agents.agent_backend import AgentBackend, Clock, now
from trainway.backends.agents.certificate import StatusKeys
from trainway.backends.agents.jobdir import JobDir, write_private
from trainway.backends.agents.journal import Record
from trainway.backends.agents.loopback_network import LoopbackNetwork
from trainway.backends.agents.ports import Ports
from trainway.backends.base import (
    AgentStartError,
    BackendSettings,
    Capacity,
    Check,
    Feature,
    Handle,
    Isolation,
    Request,
    Update,
    Workload,
    isolation_of,
)
from trainway.backends.folders import Folder
from trainway.backends.job_threads import job_threads
from trainway.backends.local import checks, planning
from trainway.backends.local.agents import AgentError, AgentLostError, Agents
from trainway.backends.local.attachment import attachment
from trainway.backends.local.capacity import Machine
from trainway.backends.local.containers import clear_containers, find_tool
from trainway.backends.local.holder import LocalHolder
from trainway.backends.local.nodes import machine_node, measured_gpus
from trainway.backends.local.planning import LocalRequest
from trainway.backends.nodes import Node
from trainway.compiler.network import JobIdentity
from trainway.errors import UnavailableError
from trainway.json_types import Json


class LocalBackend(AgentBackend[LocalRequest]):
    """Runs each job under an agent of its own, in a directory below the home directory."""

    name = "local"
    schedules = False
    request_type = LocalRequest

    def __init__(
        self,
        settings: BackendSettings,
        machine: Machine | None = None,
        ports: Ports | None = None,
        clock: Clock = now,
        agents: Agents | None = None,
    ) -> None:
        super().__init__(settings.home, ports or Ports(), clock)
        self._machine = machine or Machine()
        self._given_agents = agents

    @cached_property
    def _agents(self) -> Agents:
        return self._given_agents or Agents()

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
            checks.python(),
            checks.disk(self._jobs),
            checks.mounts(),
            checks.gpus(self.capacity().gpus),
            checks.containers(),
        ]

    def capacity(self) -> Capacity:
        """CPUs, memory and GPUs of the machine."""
        return self._machine.capacity()

    async def nodes(self) -> list[Node]:
        """The machine, with what its GPUs do now."""
        capacity = await asyncio.to_thread(self.capacity)
        measured = await measured_gpus() if capacity.gpus else {}
        return [machine_node(socket.gethostname(), capacity, measured)]

    def holder(self) -> LocalHolder:
        """Who holds shares of this machine."""
        return LocalHolder(self._home, self._machine)

    def network(self, job: JobIdentity) -> LoopbackNetwork:
        """The loopback address, and a port that no other job has."""
        return LoopbackNetwork(job, self._ports.reserve())

    def shared_output(self, job_id: str) -> str:
        """All jobs of this machine are processes of one user, and see the same files."""
        return str(JobDir(self._jobs / job_id).output)

    def has_lost_network(self, handle: Handle) -> bool:
        """Whether one of the ports of a job without a plan is in use."""
        port = int(handle["port"])
        return not self.job_dir(handle).plan.exists() and not self._ports.are_free(port)

    def problems(self, jobset: Json, source: Json) -> tuple[list[str], list[str]]:  # noqa: ARG002 - the JobSet says it all
        """What processes cannot do for the JobSet, or containers where it asks for them."""
        if isolation_of(jobset) is Isolation.CONTAINER and find_tool() is None:
            raise UnavailableError(
                "containers need podman or docker, and neither is on the server's PATH",
                hint="without --image and --containers a job runs as processes of this machine",
            )
        errors = [*fitness.errors(jobset), *bucket_mounts.here(jobset)]
        return errors, fitness.warnings(jobset)

    def plan(self, workload: Workload) -> LocalRequest:
        """The plan for the agent."""
        host = planning.Host(self._jobs, socket.gethostname(), find_tool())
        return planning.plan(workload, host)

    async def rehearse(self, request: Request) -> None:
        """Nobody else has a say."""

    async def lacking(self, wanted: Sequence[Folder]) -> list[str]:
        """Look at them here."""
        return await asyncio.to_thread(folders.here, wanted)

    async def submit(self, request: Request) -> None:
        """Write the plan and start the agent, unless either was done already."""
        wanted = self._ours(request)
        is_new = not self.job_dir(wanted.handle).plan.exists()
        job = await self._write(wanted)
        if not journal.exists(job.journal):
            await self._agents.start(job)
        elif is_new:  # it comes from another backend
            await self._agents.recover(job)

    def watch(self, handle: Handle, after: int) -> AsyncIterator[Update]:
        """The job's journal."""
        return self._agents.watch(self.job_dir(handle), after)

    async def recover(self, handle: Handle, *, cancelled: bool = False) -> bool:
        """Start an agent that goes on from the journal; False if the job's directory is gone."""
        job = self.job_dir(handle)
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
        except (AgentError, AgentStartError):
            await asyncio.to_thread(clear_leftovers, str(handle["id"]))
            if job.is_locked():
                raise UnavailableError(
                    "the job's agent does not answer", hint=f"{job.agent_log} may say why"
                ) from None
            raise
        return True

    async def suspend(self, handle: Handle) -> None:
        """Stop the pods."""
        await self._agents.ask(self.job_dir(handle), "suspend")

    async def resume(self, handle: Handle) -> None:
        """Start the pods again."""
        await self._agents.ask(self.job_dir(handle), "resume")

    async def resize(self, handle: Handle, nodes: int) -> None:
        """Let an elastic job have so many nodes at most."""
        await self._agents.ask(self.job_dir(handle), "resize", nodes=nodes)

    def why_stays(self, handle: Handle) -> str:  # noqa: ARG002 - all of it is here
        """Nothing keeps it."""
        return ""

    async def leave(self, handle: Handle) -> None:
        """Have its agent end, and see that nothing runs that it may have left."""
        job = self.job_dir(handle)
        with suppress(AgentLostError):
            await self._agents.ask(job, "leave")
        await self._agents.wait_until_gone(job)
        left = await asyncio.to_thread(clear_leftovers, str(handle["id"]))
        if job.is_locked() or left:
            raise UnavailableError(
                "the job's agent or its processes do not end", hint=f"{job.agent_log} may say why"
            )
        await self._retire(job)

    async def cancel(self, handle: Handle) -> None:
        """Stop everything, also what a dead agent left running."""
        try:
            await self._agents.ask(self.job_dir(handle), "cancel")
        except AgentLostError:
            await self.recover(handle, cancelled=True)

    async def delete(self, handle: Handle) -> None:
        """Remove the job's directory, once its agent has gone."""
        job = self.job_dir(handle)
        await self._agents.wait_until_gone(job)
        await job_threads.run(job.remove)

    def _workload_of(self, plan: Json) -> Workload | None:
        return planning.workload_of(plan)

    async def _way(
        self, handle: Handle, records: Sequence[Record], role: str | None, rank: int | None
    ) -> Json:
        is_contained = await job_threads.run(_is_contained, self.job_dir(handle))
        return attachment(handle, records, role, rank, is_contained=is_contained)

    def _completed(self, job: JobDir, request: LocalRequest, keys: StatusKeys) -> Json:
        """The keys are files, which the job's own variables name."""
        write_private(job.path / planning.CERTIFICATE, keys.certificate)
        write_private(job.path / planning.KEY, keys.key)
        write_private(job.path / planning.TOKEN, keys.token.encode())
        return request.plan


def _clear(job_id: str) -> None:
    """End what is left of a job that has lost its directory."""
    clear_leftovers(job_id)
    clear_containers(job_id)


def _is_contained(job: JobDir) -> bool:
    """Whether its pods are containers; nobody knows of one that is being deleted."""
    try:
        return "containers" in job.read_plan()
    except FileNotFoundError:
        return False
