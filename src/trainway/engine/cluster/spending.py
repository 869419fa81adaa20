"""What budgets see of clusters, and what they do to them."""

from collections.abc import Callable, Sequence

from trainway.engine.cluster.book import Announcement
from trainway.engine.cluster.clusters import Clusters
from trainway.engine.cluster.record import ClusterRecord
from trainway.engine.worker_pool.pools import WorkerPools


class Spending:
    """All clusters, those of worker pools among them."""

    def __init__(self, clusters: Clusters, pools: Callable[[], WorkerPools]) -> None:
        self._clusters = clusters
        self._pools = pools

    def spending(self) -> Sequence[ClusterRecord]:
        """All that there are."""
        return list(self._clusters.book.records.values())

    async def note_budget(self, name: str, budget: str, tell: Announcement) -> None:
        """Write how the budget of one stands, together with what is told of it, or nothing."""
        await self._clusters.book.announce(name, tell, budget=budget)

    async def take_down(self, record: ClusterRecord) -> None:
        """Give back all that one has; a pool would replace a worker, so it is released whole."""
        if record.worker_pool:
            await self._pools().down(record.worker_pool, cancel_jobs=True)
        else:
            await self._clusters.down(record.name)
