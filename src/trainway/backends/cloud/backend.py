"""The backend of clouds: it holds machines for clusters, which jobs then run on.

A job never runs on a cloud as such: it runs on a cluster of rented machines (`cluster/NAME`). One
that gets its machines when its turn comes waits here until then, in name only.
"""

import asyncio
from typing import Final

from trainway.backends.base import BackendSettings, Handle, Request, Workload
from trainway.backends.cloud.holder import CloudHolder
from trainway.backends.file_store import check_files
from trainway.backends.pool import planning
from trainway.backends.pool.backend import PoolBackend
from trainway.backends.pool.leaving import LeavesHosts
from trainway.backends.pool.planning import PoolRequest
from trainway.backends.pool.site import Site
from trainway.compiler.network import JobIdentity, Network
from trainway.errors import UsageError
from trainway.json_types import Json

_HINT: Final = "use trainway run --on {cloud}, or trainway launch --infra {cloud} for a cluster"


class CloudSites:
    """The places of clouds, none of which is a pool by itself."""

    def __init__(self, cloud: str) -> None:
        self.family = cloud

    def names(self) -> list[str]:
        """None: they come and go."""
        return []

    def find(self, target: str) -> Site:
        """Raises where machines must be rented first."""
        place = f"{self.family}/{target}" if target else self.family
        raise UsageError(
            f"machines on {place} are rented for a cluster, and jobs run on that",
            hint=_HINT.format(cloud=self.family),
        )

    def hosts(self, target: str) -> list[Json]:
        """Raises, as above."""
        self.find(target)
        return []


class CloudBackend(LeavesHosts, PoolBackend):
    """Holds rented machines for clusters."""

    def __init__(self, settings: BackendSettings) -> None:
        super().__init__(settings, CloudSites(settings.family))
        self._cloud = settings.family

    async def look(self) -> None:
        """Nothing is there before it is rented; whoever rents sees what there is."""

    def problems(self, jobset: Json, source: Json) -> tuple[list[str], list[str]]:
        """Also what cannot be rented for."""
        errors, warnings = super().problems(jobset, source)
        if jobset["spec"].get("suspend"):
            errors = [*errors, "spec.suspend: a job on rented machines cannot begin suspended"]
        return errors, warnings

    def plan(self, workload: Workload) -> PoolRequest:
        """The job as it waits for machines; it is made anew for those that it gets."""
        site = Site(self._target, pool="")
        return planning.plan(workload, site, self._jobs, self.environment(workload))

    async def rehearse(self, request: Request) -> None:
        """See that its files were sent."""
        await asyncio.to_thread(check_files, self._home, self._ours(request).plan["objects"])

    async def submit(self, request: Request) -> None:  # noqa: ARG002 - whatever it is
        """Raises: it is given to the machines that are rented for it."""
        self._sites.find(self._target)

    async def delete(self, handle: Handle) -> None:
        """Remove what there may be of it here; no agent has ever heard of it."""
        await self._discard(handle)

    def network(self, job: JobIdentity) -> Network:
        """As the machines have it that are rented for the job; it is compiled to know which."""
        return self.holder().network(job, self._ports.reserve())

    def holder(self) -> CloudHolder:
        """Who holds rented machines."""
        return CloudHolder(self._cloud)
