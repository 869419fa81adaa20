"""Which pool agent keeps the workers of a worker pool, and on which hosts: `worker-pool/NAME`."""

from pathlib import Path

from trainway.backends.pool.holders import Holders
from trainway.backends.pool.kept import KeptWorkerPools
from trainway.backends.pool.site import Site
from trainway.families.builtin import WORKERS
from trainway.json_types import Json


class WorkerPoolSites:
    """The worker pools as sites of their backend."""

    family = WORKERS

    def __init__(self, home: Path, holders: Holders) -> None:
        self.kept = KeptWorkerPools(home)
        self._holders = holders

    def names(self) -> list[str]:
        """All worker pools."""
        return self.kept.names()

    def find(self, target: str) -> Site:
        """The pool of that name; which queue, that is which worker, nobody knows yet."""
        found = self.kept.find(target)
        return Site(
            found.name, found.pool, outputs=self._holders.of(found.infra).outputs(found.infra)
        )

    def hosts(self, target: str) -> list[Json]:
        """Those of its agent."""
        infra = self.kept.find(target).infra
        return self._holders.of(infra).hosts(infra)
