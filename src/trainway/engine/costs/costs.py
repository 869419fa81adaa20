"""All that an engine does about money: rates and budgets."""

from collections.abc import Callable, Mapping
from datetime import datetime

from trainway.engine.costs.budgets import Budgets
from trainway.engine.costs.cluster_budgets import SpendingClusters, Tell
from trainway.engine.costs.rating import Prices, Rating
from trainway.engine.ledger import Ledger
from trainway.engine.live import LiveJob


class Costs:
    """What the jobs and clusters of one server cost, and may cost."""

    def __init__(
        self,
        ledger: Ledger,
        clock: Callable[[], datetime],
        live: Mapping[str, LiveJob],
        prices: Callable[[], Prices],
        tell: Tell,
        clusters: SpendingClusters,
    ) -> None:
        self.rating = Rating(ledger, clock, live, prices)
        self.budgets = Budgets(ledger, clock, live, tell, clusters)

    async def start(self) -> None:
        """Begin to look after them."""
        await self.rating.start()
        await self.budgets.start()

    async def close(self) -> None:
        """Look after them no more."""
        await self.budgets.close()
        await self.rating.close()
