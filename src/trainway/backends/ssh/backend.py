"""The backend of pools: jobs on hosts that one can log in to, placed by the agent of their pool.

The agent does the work and writes the journals and logs; this side plans, hands over and reads.
"""

import asyncio
import json
import logging
import shutil
import threading
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from trainway.backends.agent_socket import AgentError
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
from trainway.backends.local import fitness, journal
from trainway.backends.local.certificate import new_status_keys
from trainway.backends.local.jobdir import PRIVATE_DIR, JobDir
from trainway.backends.local.ports import Ports
from trainway.backends.local.strays import read_strays
from trainway.backends.logs.cursor import Cursor
from trainway.backends.logs.stream import stream_logs
from trainway.backends.ssh import planning
from trainway.backends.ssh.attachment import attachment
from trainway.backends.ssh.login_environment import login_environment
from trainway.backends.ssh.network import SshNetwork
from trainway.backends.ssh.planning import PoolRequest
from trainway.backends.ssh.pool_agent import PoolAgent
from trainway.backends.ssh.sites import ConfiguredPools, Sites
from trainway.backends.ssh.survey import Survey
from trainway.compiler.network import JobIdentity, Network
from trainway.errors import ConflictError, TrainwayError, UnavailableError, UsageError

Json = dict[str, Any]

WHERE: Final = "the hosts"
_FIRST_PORT, _LAST_PORT = 20_000, 29_999
_NO_IMAGES: Final = "jobs run as processes of the hosts; containers there come later"

log = logging.getLogger(__name__)


class PoolBackend:
    """Hands each job to the agent of a pool."""

    schedules = True

    def __init__(
        self,
        settings: BackendSettings,
        sites: Sites,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        ports: Ports | None = None,
    ) -> None:
        self._target = settings.target
        self._home = settings.home
        self._sites = sites
        self._clock = clock
        self._ports = ports or Ports(_FIRST_PORT, _LAST_PORT)
        self._agents: dict[str, PoolAgent] = {}
        self._writing = threading.Lock()
        self._survey = Survey()

    @property
    def name(self) -> str:
        """`ssh/POOL`, as far as it was given."""
        return f"{self._sites.family}/{self._target}".rstrip("/")

    def places(self) -> list[str]:
        """One for each pool; the family's name where the configuration cannot be read."""
        try:
            return [f"{self._sites.family}/{name}" for name in self._sites.names()]
        except TrainwayError:
            return [self._sites.family]

    async def look(self) -> None:
        """See whether there is such a pool, and whether ssh understands what is said of it."""
        self._sites.find(self._target)
        await self._hosts()

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

    def warm_up(self) -> None:
        """Make a certificate, for all that this imports."""
        new_status_keys("warm-up", self._clock())

    def capacity(self) -> Capacity:
        """What the last survey found."""
        return self._survey.capacity

    def namespace(self, named: str) -> str:
        """Any name will do."""
        return named

    def runtime(self, kind: str, name: str) -> Json | None:  # noqa: ARG002 - only the built-in ones
        """None: hosts have no runtimes of their own."""
        return None

    def network(self, job: JobIdentity) -> Network:
        """The names of pods, and a port that other jobs of ours do not have."""
        return SshNetwork(job, port=self._ports.reserve())

    def environment(self, workload: Workload) -> dict[str, str]:  # noqa: ARG002 - hosts have their own
        """What every process of a job has beside what its object says: nothing of this machine."""
        return {}

    def release(self, port: int) -> None:
        """Give the job's port back."""
        self._ports.release(port)

    def has_lost_network(self, handle: Handle) -> bool:  # noqa: ARG002 - hosts are not asked
        """Never."""
        return False

    def problems(self, jobset: Json, source: Json) -> tuple[list[str], list[str]]:  # noqa: ARG002 - the JobSet says it all
        """What processes cannot do for the JobSet."""
        if isolation_of(jobset) is Isolation.CONTAINER:
            raise UsageError(
                f"{self.name} runs jobs as processes: containers on hosts come later",
                hint="leave out --image and --containers; the hosts' own programs are used",
            )
        return fitness.errors(jobset, WHERE), fitness.warnings(jobset, WHERE)

    def plan(self, workload: Workload) -> PoolRequest:
        """The plan for the pool agent."""
        known = workload.handle
        site = planning.site_of(known) if known else self._sites.find(self._target)
        return planning.plan(workload, site, self._home / "jobs", self.environment(workload))

    async def rehearse(self, request: Request) -> None:
        """The agent has the last word, when it places the job."""

    async def submit(self, request: Request) -> None:
        """Write the plan, and hand it to the agent; it takes it once."""
        wanted = _ours(request)
        job = JobDir(Path(wanted.directory))
        is_new = not job.plan.exists()
        agent = self.agent(wanted.site.pool)
        try:
            await self._configure(agent)
        except TrainwayError as error:
            if is_new:
                raise
            # The hosts that the agent knows already are those that the job is on.
            log.warning("%s: %s", self.name, error)
        try:
            await asyncio.to_thread(self._write, job, wanted)
        except OSError as error:
            raise AgentError(f"{job.path} cannot be written: {error.strerror}") from error
        await agent.ask("submit", directory=str(job.path))

    async def adopt(self, handle: Handle) -> None:
        """Keep the port of a job that runs already."""
        self._ports.hold(int(handle["port"]))

    def strays(self, known: Callable[[], Collection[str]]) -> list[Workload]:
        """The jobs of all pools whose records were lost, such as with the database."""
        return read_strays(self._home / "jobs", known, planning.workload_of)

    def watch(self, handle: Handle, after: int) -> AsyncIterator[Update]:
        """The job's journal."""
        return self._agent(handle).watch(str(handle["id"]), _job(handle).journal, after)

    async def recover(self, handle: Handle, *, cancelled: bool = False) -> bool:
        """Have an agent go on with the job; False if the job's directory is gone."""
        job = _job(handle)
        if not job.plan.exists():
            return False
        await self._agent(handle).ask("submit", directory=str(job.path))
        if cancelled:
            await self._agent(handle).ask("cancel", id=handle["id"], grace=0)
        return True

    def check_logs(self, query: LogQuery) -> None:
        """See whether the cursor is one of ours."""
        if query.cursor:
            Cursor.parse(query.cursor)

    def logs(
        self, handle: Handle, query: LogQuery, ended: asyncio.Event
    ) -> AsyncIterator[list[LogLine]]:
        """What came of the logs of all pods, merged by time."""
        return stream_logs(_job(handle).logs, query, ended)

    def output(self, handle: Handle) -> Path:
        """The folder into which the hosts' output is copied."""
        return _job(handle).output

    async def attachment(self, handle: Handle, role: str | None, rank: int | None) -> Json:
        """The processes of a pod, and the way to them."""
        file = _job(handle).journal
        records = await asyncio.to_thread(lambda: list(journal.read(file, -1)))
        if not records:
            raise ConflictError("the job has not begun")
        return attachment(handle, records, await self._ways(), role, rank)

    async def suspend(self, handle: Handle) -> None:
        """Stop the pods."""
        await self._agent(handle).ask("suspend", id=handle["id"])

    async def resume(self, handle: Handle) -> None:
        """Start the pods again."""
        await self._agent(handle).ask("resume", id=handle["id"])

    async def cancel(self, handle: Handle) -> None:
        """Stop everything, on every host that can be reached."""
        try:
            await self._agent(handle).ask("cancel", id=handle["id"])
        except AgentError:
            if not await self.recover(handle, cancelled=True):
                raise

    async def delete(self, handle: Handle) -> None:
        """Remove what the job left on the hosts and here."""
        try:
            await self._agent(handle).ask("forget", id=handle["id"])
        except UnavailableError as error:
            log.warning("job %s may have left something on its hosts: %s", handle["id"], error)
        await asyncio.to_thread(shutil.rmtree, _job(handle).path, ignore_errors=True)

    def agent(self, pool: str) -> PoolAgent:
        """The agent of a pool."""
        if pool not in self._agents:
            self._agents[pool] = PoolAgent(self._home / "pools" / pool)
        return self._agents[pool]

    def _agent(self, handle: Handle) -> PoolAgent:
        return self.agent(str(handle["pool"]))

    async def _hosts(self) -> list[Json]:
        return await asyncio.to_thread(self._sites.hosts, self._target)

    async def _ways(self) -> list[Json]:
        """The hosts, with how a person gets there."""
        return await self._hosts()

    async def _configure(self, agent: PoolAgent) -> None:
        await agent.configure(await self._hosts())

    def _write(self, job: JobDir, request: PoolRequest) -> None:
        """Write the plan, with keys for reports of progress, unless it is there."""
        with self._writing:
            if job.plan.exists():
                return
            job.path.parent.mkdir(mode=PRIVATE_DIR, parents=True, exist_ok=True)
            job.create()
            keys = new_status_keys(request.plan["id"], self._clock())
            files = {
                "certificate": keys.certificate.decode(),
                "key": keys.key.decode(),
                "token": keys.token,
            }
            plan = {**request.plan, "status": {**request.plan["status"], "files": files}}
            job.write(job.plan, json.dumps(plan).encode(), is_durable=True)


class SshBackend(PoolBackend):
    """Jobs on pools of `config.yaml`, and on hosts of `~/.ssh/config`."""

    def __init__(self, settings: BackendSettings) -> None:
        super().__init__(settings, ConfiguredPools(settings.home))


def _ours(request: Request) -> PoolRequest:
    if not isinstance(request, PoolRequest):
        raise TypeError("not a request of this backend")
    return request


def _job(handle: Handle) -> JobDir:
    return JobDir(Path(handle["directory"]))
