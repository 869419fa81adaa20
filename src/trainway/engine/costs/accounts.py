"""What accounts stand at: jobs and rented machines that are there, and those that are gone.

Of those that are gone the store is asked when an account is looked at first; after that they are
counted as they go. Each counts once, however often it is told.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal

from trainway.engine.cluster.record import ClusterRecord
from trainway.engine.costs.account import labelled_so, root_of
from trainway.engine.costs.cluster_bill import runs_of
from trainway.engine.costs.cluster_budgets import SpendingClusters, hourly_of
from trainway.engine.costs.cost import Cost, Piece, pieces, shown, total
from trainway.engine.costs.rate import rates_of
from trainway.engine.ledger import Ledger
from trainway.engine.live import LiveJob
from trainway.engine.observation import RUNS
from trainway.engine.record import JobRecord
from trainway.engine.times import time_text
from trainway.jobset.labels import ACCOUNT
from trainway.json_types import Json


@dataclass(frozen=True)
class Charge:
    """What is charged to an account."""

    cost: Cost = field(default_factory=Cost)
    hourly: Decimal = Decimal(0)
    """What an hour costs from now on."""

    def __add__(self, other: "Charge") -> "Charge":
        return Charge(self.cost + other.cost, self.hourly + other.hourly)

    @property
    def spent(self) -> Decimal:
        """What it is in dollars."""
        return self.cost.spent


class Accounts:
    """The accounts of one server."""

    def __init__(
        self,
        ledger: Ledger,
        clock: Callable[[], datetime],
        live: Mapping[str, LiveJob],
        clusters: SpendingClusters,
    ) -> None:
        self._ledger = ledger
        self._clock = clock
        self._live = live
        self._clusters = clusters
        self._gone: dict[str, dict[str, tuple[str, Cost]]] = {}
        """The accounts and costs of what is gone, by the account of its run and by id."""
        ledger.charge = self.view

    def note(self, job_id: str, labels: Mapping[str, str], found: Iterable[Piece]) -> None:
        """A job is over, or a cluster is gone, and has cost this."""
        account = labels.get(ACCOUNT, "")
        if root_of(account) in self._gone:
            self._gone[root_of(account)][job_id] = account, total(list(found))

    async def follow(self, roots: Collection[str]) -> None:
        """Know what has gone of these, and forget all others."""
        for root in self._gone.keys() - set(roots):
            del self._gone[root]
        for root in [root for root in roots if root not in self._gone]:
            known = self._gone[root] = {}
            try:
                found = await self._read(root)
            except BaseException:
                del self._gone[root]
                raise
            self._gone[root] = found | known

    def now(self) -> dict[str, Charge]:
        """How those that are followed stand, and their parts."""
        sums: dict[str, Charge] = {}
        entries = [*self._there()]
        entries += [(account, Charge(cost)) for gone in self._gone.values()
                    for account, cost in gone.values()]  # fmt: skip
        for account, charge in entries:
            for name in {account, root_of(account)}:
                sums[name] = sums.get(name, Charge()) + charge
        return sums

    async def view(self, account: str) -> Json:
        """What is charged to one in all, as the API shows it."""
        root = root_of(account)
        gone = await self._read(root)
        found = [Charge(cost) for name, cost in gone.values() if account in (name, root)]
        found += [each for name, each in self._there() if account in (name, root_of(name))]
        charge = sum(found, start=Charge())
        if not found or not (charge.spent or charge.hourly):
            return {}
        view: Json = {"cost": shown(charge.spent)}
        if charge.cost.saved:
            view["saved"] = shown(charge.cost.saved)
        if charge.hourly:
            view |= {"costSince": time_text(self._clock()), "pricePerHour": shown(charge.hourly)}
        return view

    def _there(self) -> Iterable[tuple[str, Charge]]:
        for live in self._live.values():
            record = live.record
            if ACCOUNT not in record.labels or not record.rates or record.is_over:
                continue
            cost = total(job_pieces(record, self._clock(), live.observation.runs))
            yield record.label_map[ACCOUNT], Charge(cost, rates_of(record.rates)[-1].hourly)
        for cluster in self._clusters.spending():
            if ACCOUNT in cluster.labels and cluster.rates:
                charge = Charge(total(self._pieces(cluster)), hourly_of(cluster))
                yield cluster.label_map[ACCOUNT], charge

    def _pieces(self, cluster: ClusterRecord) -> list[Piece]:
        return pieces(rates_of(cluster.rates), runs_of(cluster), time_text(self._clock()))

    async def _read(self, root: str) -> dict[str, tuple[str, Cost]]:
        found = await self._ledger.call(self._ledger.store.costs.charged, root)
        accounts = {job.job_id: (labelled_so(job.labels, root), job) for job in found}
        return {
            job_id: (account, total(job.pieces))
            for job_id, (account, job) in accounts.items()
            if account
        }


def job_pieces(record: JobRecord, now: datetime, runs: Iterable[Json] | None = None) -> list[Piece]:
    """The times in which a job cost something by itself; `runs`: what is known of them by now."""
    known = record.observed_data.get(RUNS) or [] if runs is None else list(runs)
    return pieces(rates_of(record.rates), known, record.finished or time_text(now))
