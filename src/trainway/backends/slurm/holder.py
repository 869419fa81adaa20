"""Clusters on Slurm: a batch job holds the nodes, and a pool agent of its own keeps each cluster.

Slurm judges itself what fits, and says which nodes a cluster has when it has them.
"""

from collections.abc import Callable, Collection
from typing import Final

from trainway.backends.pool.network import PoolNetwork
from trainway.backends.slurm import holding
from trainway.backends.slurm.section import ConfiguredCluster
from trainway.backends.slurm.sites import FAMILY, ConfiguredClusters
from trainway.compiler.network import JobIdentity, Network
from trainway.errors import InvalidError, UsageError
from trainway.json_types import Json

POOLS: Final = "slurm+"
"""What the names of pools begin with whose hosts are nodes of Slurm; those of others cannot."""


class SlurmHolder:
    """Holds allocations."""

    def __init__(
        self, clusters: ConfiguredClusters, avoided: Callable[[str], Collection[str]]
    ) -> None:
        """`avoided` names the nodes of a cluster that are left alone."""
        self._clusters = clusters
        self._avoided = avoided

    def infra(self, region: str | None, zone: str | None) -> str:
        """The cluster and maybe a partition of it; all its nodes must see the same files."""
        partition = f"/{zone}" if zone else ""
        found = self._clusters.find(f"{region or ''}{partition}")
        if not found.shared:
            raise UsageError(
                f"clusters on {FAMILY}/{found.name} need a file system that all its nodes see",
                hint="single jobs do not need one: trainway run --on",
            )
        return f"{FAMILY}/{found.name}{partition}"

    def pool(self, infra: str, cluster: str) -> str:  # noqa: ARG002 - as below
        """One agent for each cluster of Slurm, whichever partitions are used."""
        return f"{POOLS}{infra.split('/')[1]}"

    def hosts(self, infra: str) -> list[Json]:  # noqa: ARG002 - Slurm says it later
        """None yet."""
        return []

    def outputs(self, infra: str) -> str:
        """As is configured for the cluster."""
        return self.cluster(infra).outputs

    def order(self, infra: str, cluster: Json) -> Json:
        """With the batch job that holds its nodes."""
        options = cluster["slurm"]["options"]
        errors = holding.errors(options)
        if errors:
            raise InvalidError([f"slurm: {text}" for text in errors])
        amounts = {name: cluster[name] for name in ("id", "name", "nodes", "cpus", "memory")}
        accelerator = str(cluster["slurm"]["accelerator"])
        wanted = holding.Wanted(
            **amounts, gpus=cluster["gpus"], accelerator=accelerator, options=options
        )
        there = self.cluster(infra)
        return {**cluster, "slurm": holding.held(wanted, there, self._avoided(there.name))}

    def network(self, job: JobIdentity, port: int) -> Network:
        """The names of pods, as on hosts of a pool: host agents run there."""
        return PoolNetwork(job, port=port)

    def cluster(self, infra: str) -> ConfiguredCluster:
        """The cluster of Slurm that an infrastructure is, with its partition."""
        return self._clusters.find(infra.partition("/")[2])
