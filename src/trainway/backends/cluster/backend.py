"""The backend of clusters: a job goes to the pool agent of its cluster, into the cluster's queue.

On this machine a job is what it is with `local`: it has the submitter's environment and files, and
its pods meet on the loopback address.
"""

import asyncio
import posixpath
from dataclasses import replace
from typing import Final

from trainway.agent.pool.allocation import Allocation, never_fits, requested
from trainway.agent.pool.placement import Placement, shortage
from trainway.backends.base import BackendSettings, Request, Workload
from trainway.backends.cluster.sites import ClusterSites
from trainway.backends.host_amounts import TASK_CPUS
from trainway.backends.node_sharing import apart
from trainway.backends.pod_demand import pod_demands
from trainway.backends.pool.backend import PoolBackend
from trainway.backends.pool.holders import Holders
from trainway.backends.pool.kept import Kept
from trainway.backends.pool.planning import PoolRequest
from trainway.backends.pool.site import Site
from trainway.compiler.network import JobIdentity, Network
from trainway.counting import counted
from trainway.errors import ConflictError, TrainwayError
from trainway.families.table import family_of
from trainway.jobset.model import replicated_jobs
from trainway.json_types import Json

_REPORTED: Final = 0.9
_HOST: Final = "any"
"""Where all nodes are taken to be while it is seen what fits on them."""


class ClusterBackend(PoolBackend):
    """Jobs of one cluster."""

    def __init__(self, settings: BackendSettings) -> None:
        self._holders = Holders(settings.backends)
        self._clusters = ClusterSites(settings.home, self._holders)
        super().__init__(settings, self._clusters)

    async def look(self) -> None:
        """See whether there is such a cluster, and whether it takes jobs."""
        found = self._kept()
        if found.state == "STOPPED":
            raise ConflictError(
                f"cluster {found.name} is stopped", hint=f"trainway start {found.name}"
            )
        await super().look()

    def network(self, job: JobIdentity) -> Network:
        """As whoever holds its nodes says."""
        holder = self._holders.of(self._kept().infra)
        return holder.network(job, self._ports.reserve())

    def shares_host(self) -> bool:
        """Whether it is a share of this machine."""
        return self._kept().is_local

    def environment(self, workload: Workload) -> dict[str, str]:
        """On this machine what the submitter has."""
        try:
            is_local = self._kept().is_local
        except TrainwayError:  # the cluster is gone, and its jobs with it
            return {}
        return dict(workload.environ) if is_local else {}

    def problems(self, jobset: Json, source: Json) -> tuple[list[str], list[str]]:
        """Also whether it could ever fit on the cluster."""
        errors, warnings = super().problems(jobset, source)
        found = self._kept()
        if found.is_local:
            warnings = []
        demands: list[Json] = [dict(item) for item in pod_demands(jobset, apart(source, jobset))]
        demand = cluster_demand(demands, source, found)
        why = too_many_nodes(found, demand, source) or unfitting(found, demand)
        return ([*errors, why] if why else errors), warnings

    def _host_count(self) -> int:
        """What the nodes of a cluster hold is looked at instead."""
        return 0

    def plan(self, workload: Workload) -> PoolRequest:
        """As in the pool, with what a task takes though it asks for nothing."""
        request = super().plan(workload)
        try:
            found = self._kept_at(request.site)
        except TrainwayError:
            return request
        demand = cluster_demand(request.plan["demand"], workload.source or {}, found)
        places = self._places(workload, found)
        return replace(request, plan={**request.plan, "demand": demand, **places})

    def _places(self, workload: Workload, found: Kept) -> Json:
        """Where its tasks run: all in one directory, that `exec` finds what `setup` has made.

        On this machine that is the folder of the task which came last and had one, else where the
        first was submitted; hosts have a folder for each cluster.
        """
        if not found.is_local:
            return {"cluster": found.id}
        if (workload.source or {}).get("kind") != "Task":
            return {}
        given = _working_directory(workload.jobset)
        if given:
            return {"lasting": posixpath.join(workload.workdir, given)}
        lasting = self._clusters.kept.working_directory(found.name) or workload.workdir
        return {"workdir": lasting, "lasting": lasting}

    async def submit(self, request: Request) -> None:
        """Also note where the jobs to come run."""
        lasting = self._ours(request).plan.get("lasting")
        if lasting:
            keep = self._clusters.kept.keep_working_directory
            await asyncio.to_thread(keep, self._target, lasting)
        await super().submit(request)

    async def _ways(self) -> list[Json]:
        """Its agent knows them where nobody else does, as on Slurm."""
        hosts = await super()._ways()
        if not hosts:
            hosts = (await self.agent(self._kept().pool).ask("status"))["hosts"]
        return hosts

    def _kept(self) -> Kept:
        return self._clusters.kept.find(self._target)

    def _kept_at(self, site: Site) -> Kept:  # noqa: ARG002 - a cluster is one site
        """The cluster that a job was given to."""
        return self._kept()


def _working_directory(jobset: Json) -> str:
    """The folder that a task names."""
    (first, *_) = replicated_jobs(jobset["spec"])
    containers = first.pod.spec.get("containers") or [{}]
    return str(containers[0].get("workingDir") or "")


def cluster_demand(demand: list[Json], source: Json, found: Kept) -> list[Json]:
    """What a job takes of its cluster: a task that asks for no CPUs takes half of one.

    A rented machine reports less memory than its cloud says that it has, since its kernel keeps
    some. A job that asks for all of it must fit all the same: nobody else is there.
    """
    if family_of(found.infra).rents:
        demand = [{**item, "memory": int(item["memory"] * _REPORTED)} for item in demand]
    if source.get("kind") != "Task":
        return demand
    least = min(TASK_CPUS, float(found.amounts["cpus"]) or TASK_CPUS)
    return [{**item, "cpus": item["cpus"] or least} for item in demand]


def too_many_nodes(found: Kept, demand: list[Json], source: Json) -> str:
    """Why a task has more nodes than the cluster; empty: it has not."""
    count = len(demand)
    if source.get("kind") != "Task" or count <= found.nodes:
        return ""
    nodes = counted(found.nodes, "node")
    return f"num_nodes: it needs {count} nodes, but {found.called} has {nodes}"


def unfitting(found: Kept, demand: list[Json]) -> str:
    """Why a job could not run on the cluster though nothing else did; empty: it could."""
    allocation = Allocation({"name": found.name, "nodes": found.nodes, **found.amounts}, 0)
    count = -int(-float(found.amounts["gpus"]) // 1)
    devices = {key: {"gpus": [str(number) for number in range(count)]} for key in allocation.keys}
    allocation.hold(Placement(dict.fromkeys(allocation.keys, _HOST), devices))
    if not never_fits(demand, allocation):
        return ""
    why = shortage(demand, allocation.rooms(), empty=True)
    nodes = counted(found.nodes, "node")
    return f"{why}; {found.called} has {nodes} of {requested(found.amounts)}"
