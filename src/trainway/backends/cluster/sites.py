"""Which pool agent keeps a cluster, and on which hosts: `cluster/NAME`."""

from pathlib import Path

from trainway.backends.pool.holders import Holders
from trainway.backends.pool.kept import KeptClusters
from trainway.backends.pool.site import Site
from trainway.json_types import Json


class ClusterSites:
    """The clusters as sites of their backend."""

    family = "cluster"

    def __init__(self, home: Path, holders: Holders) -> None:
        self.kept = KeptClusters(home)
        self._holders = holders

    def names(self) -> list[str]:
        """All clusters."""
        return self.kept.names()

    def find(self, target: str) -> Site:
        """The cluster of that name."""
        found = self.kept.find(target)
        outputs = self._holders.of(found.infra).outputs(found.infra)
        return Site(found.name, found.pool, queue=found.name, outputs=outputs)

    def hosts(self, target: str) -> list[Json]:
        """Those of its pool."""
        infra = self.kept.find(target).infra
        return self._holders.of(infra).hosts(infra)
