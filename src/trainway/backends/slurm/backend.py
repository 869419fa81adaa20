"""The backend of Slurm: jobs as batch jobs, queued and placed by Slurm itself.

A relay for each cluster carries everything to the login node and back; this side plans, hands over
and reads.
"""

import asyncio
import json
import logging
import shutil
import threading
import time
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from typing import Any, Final

from trainway.backends.agent_socket import AgentError
from trainway.backends.base import (
    Absence,
    BackendSettings,
    Capacity,
    Check,
    Feature,
    Handle,
    LogLine,
    LogQuery,
    Request,
    Update,
    Workload,
)
from trainway.backends.local import journal
from trainway.backends.local.certificate import new_status_keys
from trainway.backends.local.jobdir import PRIVATE_DIR, JobDir
from trainway.backends.local.ports import Ports
from trainway.backends.local.strays import read_strays
from trainway.backends.logs.cursor import Cursor
from trainway.backends.logs.stream import stream_logs
from trainway.backends.slurm import checks, options, planning, probing, refusals
from trainway.backends.slurm.attachment import attachment
from trainway.backends.slurm.capacity import capacity_of
from trainway.backends.slurm.clusters import NONE, PYXIS, Cluster
from trainway.backends.slurm.network import FIRST_PORT, LAST_PORT, SlurmNetwork
from trainway.backends.slurm.planning import SlurmRequest
from trainway.backends.slurm.relay_client import RelayClient
from trainway.backends.slurm.sites import FAMILY, ConfiguredClusters
from trainway.backends.ssh.login_environment import login_environment
from trainway.compiler.network import JobIdentity, Network
from trainway.errors import ConflictError, TrainwayError, UnavailableError

Json = dict[str, Any]

SCRIPT: Final = "script.sbatch"
_FACTS_LAST_S: Final = 600.0
"""What a cluster has changes rarely; what is free is for Slurm to know."""
_IMAGES_HINT: Final = "leave out --image and --containers; the nodes' own programs are used"
_PORTS: Final = Ports(FIRST_PORT, LAST_PORT)
"""Of all backends of the family, since partitions may have nodes in common."""
_NO_IMAGES: Final = "the cluster has neither Pyxis nor Apptainer"

log = logging.getLogger(__name__)


class SlurmBackend:
    """Hands each job to Slurm."""

    schedules = True

    def __init__(
        self,
        settings: BackendSettings,
        sites: ConfiguredClusters | None = None,
        relays: "Relays | None" = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        ports: Ports | None = None,
    ) -> None:
        self._target = settings.target
        self._home = settings.home
        self._sites = sites or ConfiguredClusters(settings.home)
        self._relays = relays or relays_of(settings.home)
        self._clock = clock
        self._ports = ports or _PORTS
        self._writing = threading.Lock()
        self._facts: Json = {}
        self._looked = -_FACTS_LAST_S
        self._known: Cluster | None = None
        """The cluster as it was configured when it was looked at."""
        self._failed: list[Check] = []

    @property
    def name(self) -> str:
        """`slurm/CLUSTER/PARTITION`, as far as it was given."""
        return f"{FAMILY}/{self._target}".rstrip("/")

    def places(self) -> list[str]:
        """One for each cluster; the family's name where the configuration cannot be read."""
        try:
            return [f"{FAMILY}/{name}" for name in self._sites.names()]
        except TrainwayError:
            return [FAMILY]

    async def look(self) -> None:
        """See whether there is such a cluster, and what it has; that is known for a while."""
        cluster = self._sites.find(self._target)
        if cluster != self._known or time.monotonic() - self._looked > _FACTS_LAST_S:
            await self._learn(cluster)

    async def survey(self) -> None:
        """Ask the login node."""
        try:
            await self._learn(self._sites.find(self._target))
        except TrainwayError as error:
            self._facts, self._failed = {}, checks.failed(error.message, error.hint or "")

    async def probe(self) -> None:
        """Run a short job, which looks at what a node sees; nothing where the survey failed."""
        if not self._facts:
            return
        cluster = self._sites.find(self._target)
        argv = probing.command(cluster, str(self._facts["home"]), f"doctor-{token_hex(4)}")
        try:
            answer = await self._relays.of(cluster.to_dict()).ask("command", argv=argv)
        except TrainwayError as error:
            self._facts[probing.NODE] = probing.failed(error.message, error.hint or "")
        else:
            self._facts[probing.NODE] = probing.found(answer)

    async def close(self) -> None:
        """End the relays; jobs run on."""
        await self._relays.close()

    def capabilities(self) -> Mapping[Feature, str]:
        """GPUs and images where the cluster has them."""
        no_gpus = "" if self.capacity().gpus else "no partition has GPUs"
        no_images = _NO_IMAGES if self._tool() in ("", NONE) else ""
        return dict.fromkeys(Feature, "") | {Feature.GPUS: no_gpus, Feature.IMAGES: no_images}

    def check(self) -> list[Check]:
        """What the last survey found."""
        if not self._facts:
            return list(self._failed)
        return checks.checks_of(self._sites.find(self._target), self._facts)

    def warm_up(self) -> None:
        """Make a certificate, for all that this imports."""
        new_status_keys("warm-up", self._clock())

    def capacity(self) -> Capacity:
        """What the last survey found."""
        return capacity_of(self._facts, self._target.partition("/")[2])

    def namespace(self, named: str) -> str:
        """Any name will do."""
        return named

    def runtime(self, kind: str, name: str) -> Json | None:  # noqa: ARG002 - only the built-in ones
        """None: a cluster of Slurm has no runtimes of its own."""
        return None

    def network(self, job: JobIdentity) -> Network:
        """The names of pods, and a port that other jobs of ours do not have."""
        return SlurmNetwork(job, port=self._ports.reserve())

    def release(self, port: int) -> None:
        """Give the job's port back."""
        self._ports.release(port)

    def has_lost_network(self, handle: Handle) -> bool:  # noqa: ARG002 - nodes are not asked
        """Never."""
        return False

    def problems(self, jobset: Json, source: Json) -> tuple[list[str], list[str]]:
        """What Slurm cannot do for the job, and options that are not to be set."""
        cluster, tool = self._sites.find(self._target), self._tool()
        missing = refusals.needs_images(jobset, tool, cluster.name)
        if missing:
            raise UnavailableError(missing, hint=_IMAGES_HINT)
        said, wrong = options.of_job(source, jobset)
        chosen = options.merged(cluster.batch_options(), said)
        errors = [*wrong, *refusals.errors(jobset, source, chosen, tool, shared=cluster.shared)]
        return errors, refusals.warnings(jobset)

    def plan(self, workload: Workload) -> SlurmRequest:
        """The script and the driver's plan."""
        known = workload.handle
        tool = str(known["containers"]) if known else self._tool()
        return planning.plan(workload, self._cluster(known), self._home / "jobs", tool)

    async def rehearse(self, request: Request) -> None:
        """Have Slurm itself judge the script; raises what it says."""
        wanted = _ours(request)
        await self._relays.of(wanted.handle["cluster"]).ask("test", script=wanted.script)

    async def submit(self, request: Request) -> None:
        """Write script and plan down, and hand them over; Slurm gets them once."""
        wanted = _ours(request)
        job = JobDir(Path(wanted.directory))
        try:
            script = await asyncio.to_thread(self._write, job, wanted)
        except OSError as error:
            raise AgentError(f"{job.path} cannot be written: {error.strerror}") from error
        relay = self._relays.of(wanted.handle["cluster"])
        await relay.ask("submit", id=wanted.plan["id"], directory=str(job.path), script=script)

    async def adopt(self, handle: Handle) -> None:
        """Keep the port of a job that an earlier server submitted."""
        self._ports.hold(int(handle["port"]))

    def strays(self, known: Callable[[], Collection[str]]) -> list[Workload]:
        """The jobs of all clusters whose records were lost, such as with the database."""
        return read_strays(self._home / "jobs", known, planning.workload_of)

    async def watch(self, handle: Handle, after: int) -> AsyncIterator[Update]:
        """The job's journal, as the relay brings it."""
        job, relay = _job(handle), self._relay(handle)
        await relay.ask("track", id=handle["id"], directory=str(job.path))
        async for update in relay.watch(str(handle["id"]), job.journal, after):
            yield update

    async def recover(self, handle: Handle, *, cancelled: bool = False) -> bool:
        """Have a relay take the job up again; Slurm alone restarts what it lost."""
        job = _job(handle)
        if not job.plan.exists():
            return False
        await self._relay(handle).ask("track", id=handle["id"], directory=str(job.path))
        if cancelled:
            await self._relay(handle).ask("cancel", id=handle["id"])
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
        """The folder into which the job's output is copied."""
        return _job(handle).output

    async def attachment(self, handle: Handle, role: str | None, rank: int | None) -> Json:
        """The processes of a pod, and the way to them: a step beside it."""
        file = _job(handle).journal
        records = await asyncio.to_thread(lambda: list(journal.read(file, -1)))
        if not records:
            raise ConflictError("the job has not begun")
        return attachment(handle, records, role, rank)

    async def suspend(self, handle: Handle) -> None:
        """Stop the pods; Slurm holds the job."""
        try:
            await self._relay(handle).ask("suspend", id=handle["id"])
        except AgentError as error:
            raise ConflictError(error.message, hint=error.hint) from error

    async def resume(self, handle: Handle) -> None:
        """Let Slurm start it again."""
        await self._relay(handle).ask("resume", id=handle["id"])

    async def cancel(self, handle: Handle) -> None:
        """End the batch job; when this returns Slurm has it no more."""
        await self._relay(handle).ask("cancel", id=handle["id"])

    async def delete(self, handle: Handle) -> None:
        """Remove what the job left on the cluster and here."""
        try:
            await self._relay(handle).ask("forget", id=handle["id"])
        except UnavailableError as error:
            log.warning("job %s may have left something behind: %s", handle["id"], error)
        await self.forget(handle)

    async def absence(self, handle: Handle) -> Absence | None:
        """Why the login node cannot be reached; None: it can."""
        try:
            await self._relay(handle).ask("ping")
        except UnavailableError as error:
            return Absence(error.message, planning.remains(handle))
        except TrainwayError:
            return None
        return None

    async def forget(self, handle: Handle) -> None:
        """Remove what is kept here."""
        await asyncio.to_thread(shutil.rmtree, _job(handle).path, ignore_errors=True)

    async def _learn(self, cluster: Cluster) -> None:
        described = cluster.to_dict()
        relay = self._relays.of(described)
        relay.describe(described)
        self._facts = await relay.ask("facts")
        self._looked, self._known, self._failed = time.monotonic(), cluster, []

    def _cluster(self, known: Handle) -> Cluster:
        """The cluster as it is configured; else as it was when the job was submitted."""
        try:
            return self._sites.find(self._target)
        except TrainwayError:
            if not known:
                raise
            partition = str(known["site"]).partition("/")[2]
            return Cluster.from_dict(known["cluster"], partition)

    def _tool(self) -> str:
        """What runs images.

        What was configured counts, since nodes may have programs that the login node has not; but
        srun is the same on both.
        """
        wanted = self._sites.find(self._target).containers
        found = [str(name) for name in self._facts.get("containers") or ()]
        if wanted == PYXIS and self._facts and PYXIS not in found:
            return NONE
        return wanted or next(iter(found), "")

    def _relay(self, handle: Handle) -> RelayClient:
        return self._relays.of(handle["cluster"])

    def _write(self, job: JobDir, request: SlurmRequest) -> str:
        """Write script and plan, with keys for reports of progress, unless they are there."""
        file = job.path / SCRIPT
        with self._writing:
            if job.plan.exists():
                return file.read_text()
            job.path.parent.mkdir(mode=PRIVATE_DIR, parents=True, exist_ok=True)
            job.create()
            job.write(file, request.script.encode())
            keys = new_status_keys(request.plan["id"], self._clock())
            files = {
                "certificate": keys.certificate.decode(),
                "key": keys.key.decode(),
                "token": keys.token,
            }
            plan = {**request.plan, "status": {**request.plan["status"], "files": files}}
            job.write(job.plan, json.dumps(plan).encode(), is_durable=True)
            return request.script


class Relays:
    """The relays of one server, one for each cluster, whichever partitions are used."""

    def __init__(self, make: Callable[[Json], RelayClient]) -> None:
        self._make = make
        self._made: dict[tuple[str, ...], RelayClient] = {}

    def of(self, cluster: Json) -> RelayClient:
        """The relay of a cluster."""
        key = tuple(str(cluster[name]) for name in ("name", "login", "home"))
        if key not in self._made:
            self._made[key] = self._make(cluster)
        return self._made[key]

    async def close(self) -> None:
        """End them all."""
        made, self._made = list(self._made.values()), {}
        for relay in made:
            await relay.close()


_SHARED: Final[dict[Path, Relays]] = {}


def relays_of(home: Path) -> Relays:
    """Those of a server: all backends of the family share them."""
    if home not in _SHARED:
        _SHARED[home] = Relays(
            lambda cluster: RelayClient(
                cluster, home / FAMILY / str(cluster["name"]), login_environment(home)
            )
        )
    return _SHARED[home]


def _ours(request: Request) -> SlurmRequest:
    if not isinstance(request, SlurmRequest):
        raise TypeError("not a request of this backend")
    return request


def _job(handle: Handle) -> JobDir:
    return JobDir(Path(handle["directory"]))
