"""The backend of worker pools: a job goes to the worker that it is given, like one of a cluster.

All workers of a pool are alike and kept by one pool agent, so a job can be made before it is known
which of them it gets. The engine chooses one when the job starts, and writes it into its handle.
"""

from trainway.backends.base import BackendSettings, Workload
from trainway.backends.cluster.backend import ClusterBackend
from trainway.backends.cluster.worker_pool_sites import WorkerPoolSites
from trainway.backends.pool.backend import PoolBackend
from trainway.backends.pool.kept import Kept
from trainway.backends.pool.leaving import LeavesHosts
from trainway.backends.pool.site import Site
from trainway.errors import ConflictError
from trainway.json_types import Json

GOING = "SHUTTING_DOWN"
"""The state of a pool that takes no jobs any more."""


class WorkerPoolBackend(LeavesHosts, ClusterBackend):
    """Jobs of one worker pool."""

    def __init__(self, settings: BackendSettings) -> None:
        super().__init__(settings)
        self._pools = WorkerPoolSites(settings.home, self._holders)
        self._sites = self._names = self._pools

    async def look(self) -> None:
        """See whether there is such a pool, and whether it takes jobs."""
        found = self._kept()
        if found.state == GOING:
            raise ConflictError(f"worker pool {found.name} is being taken down")
        await PoolBackend.look(self)

    def problems(self, jobset: Json, source: Json) -> tuple[list[str], list[str]]:
        """Also what a worker cannot do for it."""
        errors, warnings = super().problems(jobset, source)
        if jobset["spec"].get("suspend"):
            errors = [*errors, "spec.suspend: a job of a worker pool cannot begin suspended"]
        return errors, warnings

    def _places(self, workload: Workload, found: Kept) -> Json:
        """The directory of the worker, which no job changes for those to come."""
        places = super()._places(workload, found)
        places.pop("lasting", None)
        return places

    def _kept(self) -> Kept:
        return self._pools.kept.find(self._target)

    def _kept_at(self, site: Site) -> Kept:
        return self._clusters.kept.find(site.queue) if site.queue else self._kept()
