"""Which pool agent keeps a cluster, and on which hosts."""

import sys
from pathlib import Path
from typing import Any, Final

import trainway
from trainway.backends.base import Capacity
from trainway.backends.cluster.kept import Kept, KeptClusters
from trainway.backends.local.capacity import Machine
from trainway.backends.local.network import LOOPBACK
from trainway.backends.ssh.sites import ConfiguredPools, Site
from trainway.errors import UsageError

Json = dict[str, Any]

LOCAL: Final = "local"
SSH: Final = "ssh"
LOCAL_POOL: Final = "local-clusters"
"""The pool of the clusters of this machine; a pool of hosts cannot be called so."""
HOST: Final = "this"
_AGENT: Final = Path(trainway.__file__).parent / "agent"
_LATER: Final = ("kubernetes", "slurm")


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
        """The hosts of an infrastructure, as a pool agent is told of them."""
        if infra == LOCAL:
            return [local_host(self._home, self._machine.capacity())]
        return ConfiguredPools(self._home).hosts(infra.partition("/")[2])

    def infra(self, cloud: str | None, region: str | None) -> str:
        """The full name of an infrastructure on which clusters can be."""
        if cloud in (None, LOCAL):
            return LOCAL
        if cloud in _LATER:
            raise UsageError(
                f"clusters on {cloud} come later; they can be on this machine and on SSH hosts",
                hint="--infra local or --infra ssh/POOL; single jobs run with trainway run --on",
            )
        if cloud != SSH:
            raise UsageError(
                f"clusters on {cloud} come later", hint="--infra local or --infra ssh/POOL"
            )
        return f"{SSH}/{ConfiguredPools(self._home).find(region or '').pool}"

    def pool(self, infra: str) -> str:
        """The agent that keeps the clusters of an infrastructure."""
        if infra == LOCAL:
            return LOCAL_POOL
        return ConfiguredPools(self._home).find(infra.partition("/")[2]).pool

    def _outputs(self, found: Kept) -> str:
        if found.is_local:
            return "copy"
        return ConfiguredPools(self._home).find(found.infra.partition("/")[2]).outputs


def local_host(home: Path, capacity: Capacity) -> Json:
    """The machine that we are on, whose agent is reached without SSH."""
    program = [sys.executable, "-I", "-S", str(_AGENT), "host", "connect"]
    folder = home / "pools" / LOCAL_POOL / HOST
    return {
        "name": HOST,
        "destination": HOST,
        "address": LOOPBACK,
        "command": [*program, "--home", str(folder)],
        "cpus": capacity.cpus.nanos / 10**9,
        "memory": capacity.memory.ceil(),
        "gpus": list(capacity.gpus),
    }
