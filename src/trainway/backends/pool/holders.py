"""Who holds nodes for clusters, by infrastructure: the backends that have that capability."""

from collections.abc import Callable

from trainway.backends import capabilities
from trainway.backends.base import Backend
from trainway.backends.cluster_holder import ClusterHolder
from trainway.errors import UsageError
from trainway.families.builtin import HERE
from trainway.families.family import Clusters
from trainway.families.table import family_of, name_of


class Holders:
    """Those of one server."""

    def __init__(self, backends: Callable[[str], Backend]) -> None:
        self._backends = backends

    def of(self, infra: str) -> ClusterHolder:
        """Who holds nodes there."""
        return capabilities.holding(self._backends(name_of(infra))).holder()

    def infra(self, cloud: str | None, region: str | None, zone: str | None = None) -> str:
        """The full name of an infrastructure on which clusters can be."""
        family = cloud or HERE
        if family_of(family).clusters is Clusters.NONE:
            raise UsageError(
                f"clusters on {cloud} are not supported yet; they can be on this machine, on SSH "
                "hosts, on Slurm or on a cloud that has a provider",
                hint="use --infra local, ssh/POOL, slurm/CLUSTER or aws, or trainway run",
            )
        return self.of(family).infra(region, zone)
