"""The backend of Slurm: jobs as batch jobs, queued and placed by Slurm itself.

A relay for each cluster carries everything to the login node and back; this side plans, hands over
and reads.
"""

import time
from collections.abc import AsyncIterator, Mapping, Sequence
from functools import partial
from secrets import token_hex
from typing import Final

from trainway.agent.slurm.commands import Result
from trainway.agent.slurm.relay.slurm_failure import explain
from trainway.backends import job_file
from trainway.backends.agents.agent_backend import Clock, now
from trainway.backends.agents.agent_socket import AgentError
from trainway.backends.agents.certificate import StatusKeys
from trainway.backends.agents.jobdir import JobDir, write_private
from trainway.backends.agents.journal import Record
from trainway.backends.agents.ports import Ports
from trainway.backends.agents.site_backend import SiteBackend
from trainway.backends.avoided_nodes import AvoidedNodes
from trainway.backends.base import (
    Absence,
    BackendSettings,
    Capacity,
    Check,
    Feature,
    Handle,
    Request,
    Update,
    Workload,
)
from trainway.backends.folders import Folder
from trainway.backends.job_threads import job_threads
from trainway.backends.nodes import Drain, Node
from trainway.backends.queues import QueueState
from trainway.backends.slurm import (
    checks,
    growth,
    options,
    partition_limits,
    planning,
    probing,
    refusals,
)
from trainway.backends.slurm.attachment import attachment
from trainway.backends.slurm.capacity import capacity_of
from trainway.backends.slurm.cluster_nodes import ClusterNodes, kept_off
from trainway.backends.slurm.holder import SlurmHolder
from trainway.backends.slurm.layout import layout_of
from trainway.backends.slurm.network import FIRST_PORT, LAST_PORT, SlurmNetwork
from trainway.backends.slurm.nodes_folders import nodes_folders
from trainway.backends.slurm.planning import SlurmRequest
from trainway.backends.slurm.queue_listing import QUEUE, states_of
from trainway.backends.slurm.relays import Relay, Relays, relays_of
from trainway.backends.slurm.section import NONE, PYXIS, ConfiguredCluster
from trainway.backends.slurm.sites import FAMILY, ConfiguredClusters
from trainway.compiler.network import JobIdentity, Network
from trainway.errors import ConflictError, TrainwayError, UnavailableError
from trainway.json_types import Json

SCRIPT: Final = "script.sbatch"
_LARGEST_SCRIPT: Final = 1 << 24
_FACTS_LAST_S: Final = 600.0
"""How long facts of a cluster are kept: what it has changes rarely, and what is free is for Slurm
to know."""
_IMAGES_HINT: Final = "leave out --image and --containers; the nodes' own programs are used"
_PORTS: Final = Ports(FIRST_PORT, LAST_PORT)
"""The ports of all backends of the family, since partitions may have nodes in common."""
_NO_IMAGES: Final = "the cluster has neither Pyxis nor Apptainer"


class SlurmBackend(SiteBackend[SlurmRequest]):
    """Hands each job to Slurm."""

    request_type = SlurmRequest
    has_own_nodes: Final = False
    """They are the administrators'."""

    def __init__(
        self,
        settings: BackendSettings,
        sites: ConfiguredClusters | None = None,
        relays: Relays | None = None,
        clock: Clock = now,
        ports: Ports | None = None,
    ) -> None:
        self._sites = sites or ConfiguredClusters(settings.home)
        super().__init__(settings, self._sites, ports or _PORTS, clock)
        self._relays = relays or relays_of(settings.home)
        self._facts: Json = {}
        self._looked = -_FACTS_LAST_S
        self._known: ConfiguredCluster | None = None
        """The cluster as it was configured when it was looked at."""
        self._failed: list[Check] = []

    async def look(self) -> None:
        """See whether there is such a cluster, and what it has; that is known for a while."""
        cluster = self._sites.find(self._target)
        if cluster != self._known or time.monotonic() - self._looked > _FACTS_LAST_S:
            await self._learn(cluster)

    async def survey(self) -> None:
        """Ask the login node, also for what no job depends on."""
        try:
            cluster = self._sites.find(self._target)
            await self._learn(cluster)
            self._facts[checks.VERSIONS] = await self._versions(cluster)
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

    def capacity(self) -> Capacity:
        """What the last survey found."""
        return capacity_of(self._facts, self._target.partition("/")[2])

    async def nodes(self) -> list[Node]:
        """The nodes of the cluster, or of the partition."""
        return await self._nodes(self._sites.find(self._target)).listed()

    async def drain(self, node: str, drain: Drain) -> None:
        """Keep our jobs off a node; for others only the administrators of Slurm can."""
        await self._nodes(self._sites.find(self._target)).drain(node, drain)

    async def undrain(self, node: str) -> None:
        """Let our jobs run there again."""
        await self._nodes(self._sites.find(self._target)).undrain(node)

    def _avoided(self, cluster: str) -> AvoidedNodes:
        return AvoidedNodes(self._home, f"{FAMILY}/{cluster}", self._clock)

    def _nodes(self, cluster: ConfiguredCluster) -> ClusterNodes:
        return ClusterNodes(self.name, self._avoided(cluster.name), partial(self._printed, cluster))

    async def queue_states(self) -> list[QueueState]:
        """The partitions, with what is used of them and who waits there."""
        cluster, partition = self._sites.find(self._target), self._target.partition("/")[2]
        facts = await self._relays.of(cluster.to_dict()).ask("facts")
        return states_of(facts, await self._printed(cluster, QUEUE), partition)

    async def _printed(self, cluster: ConfiguredCluster, argv: list[str]) -> str:
        """What a program of Slurm prints on the login node."""
        relay = self._relays.of(cluster.to_dict())
        answer = await relay.ask("command", argv=argv)
        if answer.get("status") != 0:
            said = str(answer.get("stderr") or "").encode()
            failure = explain(Result(argv, answer.get("status"), b"", said))
            raise UnavailableError(failure.message, hint=failure.hint or None)
        return str(answer.get("stdout") or "")

    def network(self, job: JobIdentity) -> Network:
        """The names of pods, and a port that other jobs of ours do not have."""
        return SlurmNetwork(job, port=self._ports.reserve())

    def problems(self, jobset: Json, source: Json) -> tuple[list[str], list[str]]:
        """What Slurm cannot do for the job, and options that are not to be set."""
        cluster, tool = self._sites.find(self._target), self._tool()
        missing = refusals.needs_images(jobset, tool, cluster.name)
        if missing:
            raise UnavailableError(missing, hint=_IMAGES_HINT)
        said, wrong = options.of_job(source, jobset)
        chosen = options.merged(cluster.batch_options(), said)
        errors = [*wrong, *refusals.errors(jobset, source, chosen, tool, shared=cluster.shared)]
        layout = layout_of(jobset, one_per_node=planning.spreads(source, jobset, chosen))
        warnings = refusals.warnings(jobset)
        warnings += growth.warnings(jobset, layout, chosen, shared=cluster.shared)
        warnings += kept_off(self.name, self._avoided(cluster.name).names(), chosen)
        partition = partition_limits.partition_of(self._facts, chosen)
        if partition is not None:
            errors += partition_limits.too_many_nodes(layout, partition, chosen)
            warnings += partition_limits.memory_given(layout, partition, chosen)
        return errors, warnings

    def plan(self, workload: Workload) -> SlurmRequest:
        """The script and the driver's plan."""
        known = workload.handle
        tool = str(known["containers"]) if known else self._tool()
        cluster = self._cluster(known)
        avoided = self._avoided(cluster.name).names()
        return planning.plan(workload, cluster, self._jobs, tool, avoided)

    async def rehearse(self, request: Request) -> None:
        """Have Slurm itself judge the script; raises what it says."""
        wanted = self._ours(request)
        with self._nodes(wanted.cluster).explaining():
            await self._agent(wanted.handle).ask("test", script=wanted.script)

    async def lacking(self, folders: Sequence[Folder]) -> list[str]:
        """Ask the login node, and a node for what that does not have."""
        cluster = self._sites.find(self._target)
        ask = partial(self._relays.of(cluster.to_dict()).ask, "command")
        return await nodes_folders(cluster, folders, lambda argv: ask(argv=argv))

    async def submit(self, request: Request) -> None:
        """Write script and plan down, and hand them over; Slurm gets them once."""
        wanted = self._ours(request)
        job = await self._write(wanted)
        script = await job_threads.run(job_file.read, job.path, job.path / SCRIPT, _LARGEST_SCRIPT)
        fields = {"id": wanted.plan["id"], "directory": str(job.path), "script": script.decode()}
        await self._agent(wanted.handle).ask("submit", **fields)

    async def watch(self, handle: Handle, after: int) -> AsyncIterator[Update]:
        """The job's journal, as the relay brings it."""
        job, relay = self.job_dir(handle), self._agent(handle)
        nodes = self._nodes(self._cluster(handle))
        await relay.ask("track", id=handle["id"], directory=str(job.path))
        async for update in relay.watch(str(handle["id"]), job.journal, after):
            await nodes.note(update.records, str(handle["id"]))
            yield update

    async def recover(self, handle: Handle, *, cancelled: bool = False) -> bool:
        """Have a relay take the job up again; Slurm alone restarts what it lost."""
        job = self.job_dir(handle)
        if not job.plan.exists():
            return False
        await self._agent(handle).ask("track", id=handle["id"], directory=str(job.path))
        if cancelled:
            await self._agent(handle).ask("cancel", id=handle["id"])
        return True

    async def suspend(self, handle: Handle) -> None:
        """Stop the pods; Slurm holds the job."""
        try:
            await super().suspend(handle)
        except AgentError as error:
            raise ConflictError(error.message, hint=error.hint) from error

    async def resize(self, handle: Handle, nodes: int) -> None:
        """Let an elastic job have so many nodes at most."""
        await self._agent(handle).ask("resize", id=handle["id"], nodes=nodes)

    def why_stays(self, handle: Handle) -> str:
        """Output that is not copied stays there, and what is not requeued cannot be suspended."""
        return planning.why_stays(handle)

    async def leave(self, handle: Handle) -> None:
        """Have Slurm give it up, once its pods have ended and all that they left is here."""
        job = self.job_dir(handle)
        try:
            await self._agent(handle).ask("leave", id=handle["id"], directory=str(job.path))
        except AgentError as error:
            raise ConflictError(error.message, hint=error.hint) from error
        await self._retire(job)

    async def cancel(self, handle: Handle) -> None:
        """End the batch job; when this returns Slurm has it no more."""
        await self._agent(handle).ask("cancel", id=handle["id"])

    async def absence(self, handle: Handle) -> Absence | None:
        """Why the login node cannot be reached; None: it can."""
        try:
            await self._agent(handle).ask("ping")
        except UnavailableError as error:
            return Absence(error.message, planning.remains(handle))
        except TrainwayError:
            return None
        return None

    async def forget(self, handle: Handle) -> None:
        """Remove what is kept here."""
        await self._discard(handle)

    async def _learn(self, cluster: ConfiguredCluster) -> None:
        described = cluster.to_dict()
        relay = self._relays.of(described)
        relay.describe(described)
        self._facts = await relay.ask("facts")
        await self._nodes(cluster).prune()
        self._looked, self._known, self._failed = time.monotonic(), cluster, []

    async def _versions(self, cluster: ConfiguredCluster) -> dict[str, str]:
        """Of the programs there that run images."""
        relay = self._relays.of(cluster.to_dict())
        tools = [tool for tool in probing.TOOLS if tool in self._facts["containers"]]
        answers = {tool: await relay.ask("command", argv=[tool, "--version"]) for tool in tools}
        told = {tool: str(answer.get("stdout") or "") for tool, answer in answers.items()}
        return {tool: probing.version_in(text) for tool, text in told.items()}

    def _cluster(self, known: Handle) -> ConfiguredCluster:
        """The cluster as it is configured; else as it was when the job was submitted."""
        try:
            return self._sites.find(self._target)
        except TrainwayError:
            if not known:
                raise
            partition = str(known["site"]).partition("/")[2]
            return ConfiguredCluster.from_dict(known["cluster"], partition)

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

    def holder(self) -> SlurmHolder:
        """Who holds allocations."""
        return SlurmHolder(self._sites, lambda cluster: self._avoided(cluster).names())

    def _agent(self, handle: Handle) -> Relay:
        return self._relays.of(handle["cluster"])

    def _workload_of(self, plan: Json) -> Workload | None:
        return planning.workload_of(plan)

    async def _way(
        self, handle: Handle, records: Sequence[Record], role: str | None, rank: int | None
    ) -> Json:
        return attachment(handle, records, role, rank)

    def _completed(self, job: JobDir, request: SlurmRequest, keys: StatusKeys) -> Json:
        """The script is kept beside it, as it is sent."""
        write_private(job.path / SCRIPT, request.script.encode())
        return super()._completed(job, request, keys)
