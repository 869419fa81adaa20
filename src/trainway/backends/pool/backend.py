"""What backends have in common whose jobs are placed on hosts by the agent of a pool.

The agent does the work and writes the journals and logs; this side plans, hands over and reads.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Final

from trainway.agent.pool.placement import PACKING
from trainway.backends import bucket_mounts
from trainway.backends.agents import fitness
from trainway.backends.agents.agent_backend import Clock, now
from trainway.backends.agents.agent_socket import AgentError, UnknownToAgentError
from trainway.backends.agents.certificate import StatusKeys
from trainway.backends.agents.jobdir import JobDir
from trainway.backends.agents.journal import Record
from trainway.backends.agents.ports import Ports
from trainway.backends.agents.site_backend import SiteBackend
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
from trainway.backends.file_store import check_files, keep_files
from trainway.backends.folders import Folder
from trainway.backends.login.login_environment import login_environment
from trainway.backends.node_sharing import apart, most_nodes
from trainway.backends.nodes import Node
from trainway.backends.pod_demand import pod_demands
from trainway.backends.pool import planning
from trainway.backends.pool.attachment import attachment
from trainway.backends.pool.hosts_folders import hosts_folders
from trainway.backends.pool.mounting_hosts import hosts_lacking
from trainway.backends.pool.network import PoolNetwork
from trainway.backends.pool.nodes import of_agent, of_survey, with_drained
from trainway.backends.pool.planning import PoolRequest
from trainway.backends.pool.pool_agent import PoolAgent
from trainway.backends.pool.site import Sites
from trainway.backends.pool.survey import Survey
from trainway.compiler.network import JobIdentity, Network
from trainway.counting import counted
from trainway.errors import InvalidError, TrainwayError, UnavailableError, UsageError
from trainway.json_types import Json

WHERE: Final = "the hosts"
_FIRST_PORT, _LAST_PORT = 20_000, 29_999
_NO_IMAGES: Final = "jobs run as processes of the hosts; containers are not supported there yet"

log = logging.getLogger(__name__)


class PoolBackend(SiteBackend[PoolRequest]):
    """Hands each job to the agent of a pool."""

    request_type = PoolRequest
    """ConfigMaps may have files that were sent ahead of the job."""

    def __init__(
        self,
        settings: BackendSettings,
        sites: Sites,
        clock: Clock = now,
        ports: Ports | None = None,
    ) -> None:
        super().__init__(settings, sites, ports or Ports(_FIRST_PORT, _LAST_PORT), clock)
        self._sites = sites
        self._agents: dict[str, PoolAgent] = {}
        self._survey = Survey()
        self._known_hosts = 0

    async def look(self) -> None:
        """See whether there is such a pool, and whether ssh understands what is said of it."""
        self._sites.find(self._target)
        self._known_hosts = len(await self._hosts())

    async def survey(self) -> None:
        """Ask every host, and the agent what is free."""
        try:
            agent, hosts = self.agent(self._sites.find(self._target).pool), await self._hosts()
            status = await agent.ask_running("status") or {}
            if status:
                await agent.configure(hosts)
            environ = login_environment(self._home)
            self._survey = await Survey.of(hosts, status.get("hosts") or (), environ)
        except TrainwayError as error:
            failed = Check("pool", ok=False, detail=error.message, fix=error.hint or "")
            self._survey = Survey((failed,))

    async def close(self) -> None:
        """Nothing is held: agents are asked anew each time."""

    def capabilities(self) -> Mapping[Feature, str]:
        """GPUs where a host has some; no images."""
        no_gpus = "" if self._survey.capacity.gpus else "no host has a GPU that we can see"
        return dict.fromkeys(Feature, "") | {Feature.GPUS: no_gpus, Feature.IMAGES: _NO_IMAGES}

    def check(self) -> list[Check]:
        """What the last survey found."""
        return list(self._survey.checks)

    def capacity(self) -> Capacity:
        """What the last survey found."""
        return self._survey.capacity

    async def nodes(self) -> list[Node]:
        """The hosts, as the agent sees them; without one they are asked themselves."""
        agent = self.agent(self._sites.find(self._target).pool)
        status = await agent.ask_running("status") or {}
        if status.get("hosts"):
            return of_agent(status["hosts"])
        hosts = await self._hosts()
        survey = await Survey.of(hosts, (), login_environment(self._home))
        found = of_survey(hosts, survey.checks, survey.capacity)
        drained = await asyncio.to_thread(agent.drained)
        return with_drained(found, drained, datetime.now(UTC))

    async def resize(self, handle: Handle, nodes: int) -> None:
        """Let an elastic job have so many nodes at most."""
        await self._agent(handle).ask("resize", id=handle["id"], nodes=nodes)

    def network(self, job: JobIdentity) -> Network:
        """The names of pods, and a port that other jobs of ours do not have."""
        return PoolNetwork(job, port=self._ports.reserve())

    def environment(self, workload: Workload) -> dict[str, str]:  # noqa: ARG002 - hosts have their own
        """What every process of a job has beside what its object says: nothing of this machine."""
        return {}

    def problems(self, jobset: Json, source: Json) -> tuple[list[str], list[str]]:
        """What processes cannot do for the JobSet, and whether there are so many hosts."""
        if isolation_of(jobset) is Isolation.CONTAINER:
            raise UsageError(
                f"{self.name} runs jobs as processes: containers on hosts are not supported yet",
                hint="leave out --image and --containers; the hosts' own programs are used",
            )
        errors = fitness.errors(jobset, WHERE)
        demand = pod_demands(jobset, apart(source, jobset))
        wanted, there = most_nodes(demand), self._host_count()
        if there and wanted > there:
            hosts = counted(there, "host")
            errors.append(f"it asks for {wanted} nodes, and {self.name} has {hosts}; {PACKING}")
        return errors, fitness.warnings(jobset, WHERE)

    def _host_count(self) -> int:
        """How many hosts were configured when somebody last looked; 0: nobody knows."""
        return self._known_hosts

    def plan(self, workload: Workload) -> PoolRequest:
        """The plan for the pool agent."""
        known = workload.handle
        site = planning.site_of(known) if known else self._sites.find(self._target)
        return planning.plan(workload, site, self._jobs, self.environment(workload))

    async def rehearse(self, request: Request) -> None:
        """See that its files were sent. The agent has the last word, when it places the job."""
        plan = self._ours(request).plan
        await asyncio.to_thread(check_files, self._home, plan["objects"])
        if bucket_mounts.paths(plan["jobset"]):
            hosts = await self._hosts_with_ssh()
            lacking = await hosts_lacking(hosts, login_environment(self._home))
            wrong = bucket_mounts.refusal(plan["jobset"], lacking)
            if wrong:
                raise InvalidError(wrong)

    async def lacking(self, folders: Sequence[Folder]) -> list[str]:
        """Ask each host."""
        hosts = await self._hosts_with_ssh()
        return await hosts_folders(hosts, folders, login_environment(self._home))

    async def submit(self, request: Request) -> None:
        """Write the plan, and hand it to the agent; it takes it once."""
        wanted = self._ours(request)
        is_new = not self.job_dir(wanted.handle).plan.exists()
        agent = self.agent(wanted.site.pool)
        try:
            await self._configure(agent)
        except TrainwayError as error:
            if is_new:
                raise
            # The hosts that the agent knows already are those that the job is on.
            log.warning("%s: %s", self.name, error)
        job = await self._write(wanted)
        await _take_up(agent, job)

    def _completed(self, job: JobDir, request: PoolRequest, keys: StatusKeys) -> Json:
        keep_files(self._home, request.plan["objects"], job.path)
        return super()._completed(job, request, keys)

    def watch(self, handle: Handle, after: int) -> AsyncIterator[Update]:
        """The job's journal."""
        return self._agent(handle).watch(str(handle["id"]), self.job_dir(handle).journal, after)

    async def recover(self, handle: Handle, *, cancelled: bool = False) -> bool:
        """Have an agent go on with the job; False if the job's directory is gone."""
        job = self.job_dir(handle)
        if not job.plan.exists():
            return False
        await _take_up(self._agent(handle), job)
        if cancelled:
            with suppress(UnknownToAgentError):  # it has ended; its journal says how
                await self._agent(handle).ask("cancel", id=handle["id"], grace=0)
        return True

    async def cancel(self, handle: Handle) -> None:
        """Stop everything, on every host that can be reached."""
        try:
            await self._agent(handle).ask("cancel", id=handle["id"])
        except AgentStartError as error:
            if not self.job_dir(handle).plan.exists():
                raise
            raise _maybe_under_way(error) from error
        except AgentError:
            if not await self.recover(handle, cancelled=True):
                raise

    def agent(self, pool: str) -> PoolAgent:
        """The agent of a pool."""
        if pool not in self._agents:
            self._agents[pool] = PoolAgent(self._home / "pools" / pool)
        return self._agents[pool]

    def _agent(self, handle: Handle) -> PoolAgent:
        return self.agent(str(handle["pool"]))

    def _workload_of(self, plan: Json) -> Workload | None:
        return planning.workload_of(plan)

    async def _way(
        self, handle: Handle, records: Sequence[Record], role: str | None, rank: int | None
    ) -> Json:
        return attachment(handle, records, await self._ways(), role, rank)

    async def _hosts(self) -> list[Json]:
        return await asyncio.to_thread(self._sites.hosts, self._target)

    async def _hosts_with_ssh(self) -> list[Json]:
        return [host for host in await self._hosts() if "command" not in host]

    async def _ways(self) -> list[Json]:
        """The hosts, with how a person gets there."""
        return await self._hosts()

    async def _configure(self, agent: PoolAgent) -> None:
        await agent.configure(await self._hosts())


async def _take_up(agent: PoolAgent, job: JobDir) -> None:
    """Have the agent carry out a plan that is written, be it again."""
    try:
        await agent.ask("submit", directory=str(job.path))
    except AgentStartError as error:
        raise _maybe_under_way(error) from error


def _maybe_under_way(error: AgentStartError) -> UnavailableError:
    """The same for a job that an earlier agent may have started on its hosts."""
    return UnavailableError(error.message, hint=error.hint)
