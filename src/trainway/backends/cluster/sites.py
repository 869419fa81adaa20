"""Which pool agent keeps a cluster, and on which hosts."""

from pathlib import Path
from typing import Final

from trainway.agent.base import launch
from trainway.backends.agents.certificate import LOOPBACK
from trainway.backends.base import Capacity
from trainway.backends.local.capacity import Machine
from trainway.backends.login.login_fields import COPY
from trainway.backends.pool.kept import Kept, KeptClusters
from trainway.backends.pool.site import Site
from trainway.backends.slurm.section import ConfiguredCluster
from trainway.backends.slurm.sites import FAMILY as SLURM
from trainway.backends.slurm.sites import ConfiguredClusters
from trainway.backends.ssh.sites import FAMILY as SSH
from trainway.backends.ssh.sites import ConfiguredPools
from trainway.errors import UsageError
from trainway.json_types import Json

LOCAL: Final = "local"
LOCAL_POOL: Final = "local-clusters"
"""The pool of the clusters of this machine; a pool of hosts cannot be called so."""
SLURM_POOLS: Final = "slurm+"
"""What the names of pools begin with whose hosts are nodes of Slurm; those of others cannot."""
HOST: Final = "this"


class ClusterSites:
    """The clusters as sites of their backend."""

    family = "cluster"

    def __init__(self, home: Path, machine: Machine | None = None) -> None:
        self.kept = KeptClusters(home)
        self._home = home
        self._machine = machine or Machine()

    def names(self) -> list[str]:
        """All clusters."""
        return self.kept.names()

    def find(self, target: str) -> Site:
        """The cluster of that name."""
        found = self.kept.find(target)
        return Site(found.name, found.pool, queue=found.name, outputs=self._outputs(found))

    def hosts(self, target: str) -> list[Json]:
        """Those of its pool."""
        return self.pool_hosts(self.kept.find(target).infra)

    def pool_hosts(self, infra: str) -> list[Json]:
        """The hosts of an infrastructure, as a pool agent is told of them; Slurm says it itself."""
        family, _, target = infra.partition("/")
        if family == LOCAL:
            return [local_host(self._home, self._machine.capacity())]
        return [] if family == SLURM else ConfiguredPools(self._home).hosts(target)

    def infra(self, cloud: str | None, region: str | None, zone: str | None = None) -> str:
        """The full name of an infrastructure on which clusters can be."""
        if cloud in (None, LOCAL):
            return LOCAL
        if cloud == SSH:
            return f"{SSH}/{ConfiguredPools(self._home).find(region or '').pool}"
        if cloud != SLURM:
            raise UsageError(
                f"clusters on {cloud} are not supported yet; they can be on this machine, on SSH "
                "hosts or on Slurm",
                hint="use --infra local, ssh/POOL or slurm/CLUSTER, or trainway run for one job",
            )
        found = self.slurm_cluster(f"{SLURM}/{region or ''}" + (f"/{zone}" if zone else ""))
        if not found.shared:
            raise UsageError(
                f"clusters on {SLURM}/{found.name} need a file system that all its nodes see",
                hint="single jobs do not need one: trainway run --on",
            )
        return f"{SLURM}/{found.name}" + (f"/{zone}" if zone else "")

    def slurm_cluster(self, infra: str) -> ConfiguredCluster:
        """The cluster of Slurm that an infrastructure is, with its partition."""
        return ConfiguredClusters(self._home).find(infra.partition("/")[2])

    def pool(self, infra: str) -> str:
        """The agent that keeps the clusters of an infrastructure."""
        family, _, target = infra.partition("/")
        if family == LOCAL:
            return LOCAL_POOL
        if family == SLURM:
            return f"{SLURM_POOLS}{target.partition('/')[0]}"
        return ConfiguredPools(self._home).find(target).pool

    def _outputs(self, found: Kept) -> str:
        if found.is_local:
            return COPY
        if found.is_submitted:
            return self.slurm_cluster(found.infra).outputs
        return ConfiguredPools(self._home).find(found.infra.partition("/")[2]).outputs


def local_host(home: Path, capacity: Capacity) -> Json:
    """The machine that we are on, whose agent is reached without SSH."""
    folder = home / "pools" / LOCAL_POOL / HOST
    return {
        "name": HOST,
        "destination": HOST,
        "address": LOOPBACK,
        "command": launch.host_command(str(folder)),
        "cpus": capacity.cpus.nanos / 10**9,
        "memory": capacity.memory.ceil(),
        "gpus": list(capacity.gpus),
    }
