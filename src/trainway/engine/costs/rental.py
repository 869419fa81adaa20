"""What rented machines cost, for those who rent them and give them back. Pure.

Whoever launches machines for a job, or for a cluster, writes the columns of `rented` in the very
change that says that they are there, and those of `returned` in the one that says that they are
gone:

    change = Change({**columns, **rented(record, rental, live.now())}, events)

From then on the machines cost their price, whether something runs on them or not, and `jobs show`,
`cost-report` and budgets count it. Machines for another attempt, or elsewhere, are rented anew:
that ends what they cost before. A job whose end is stored costs nothing after it.
"""

from dataclasses import dataclass
from decimal import Decimal

from trainway.engine.cluster.record import ClusterRecord
from trainway.engine.costs.rate import Columns, Rate, rates_of, with_rate
from trainway.engine.record import JobRecord


@dataclass(frozen=True)
class Rental:
    """Machines of one type for one attempt of a job."""

    infra: str
    """Where they are: `aws/us-east-1/us-east-1a`."""
    instance_type: str
    nodes: int
    hourly: Decimal
    """What an hour of one node costs; of a `float`, give `Decimal(str(price))`."""
    is_spot: bool = False
    on_demand: Decimal | None = None
    """What an hour of one node costs on demand; None: nobody knows, or it is not spot."""


def rented(record: JobRecord | ClusterRecord, rental: Rental, now: str) -> Columns:
    """The columns of a job or cluster that has these machines from now on."""
    full = rental.on_demand
    rate = Rate(
        since=now,
        hourly=rental.hourly * rental.nodes,
        place=record.backend,
        nodes=rental.nodes,
        is_rented=True,
        infra=rental.infra,
        instance_type=rental.instance_type,
        is_spot=rental.is_spot,
        on_demand=None if full is None else full * rental.nodes,
        attempt=record.attempt if isinstance(record, JobRecord) else 0,
    )
    return with_rate(rates_of(record.rates), rate)


def returned(record: JobRecord | ClusterRecord, now: str) -> Columns:
    """The columns of a job or cluster whose machines are gone; empty: it has none."""
    rates = rates_of(record.rates)
    last = rates[-1] if rates else None
    if last is None or not last.is_rented or not last.hourly:
        return {}
    nothing = Decimal(0)
    return with_rate(rates, Rate(now, nothing, last.place, is_rented=True, attempt=last.attempt))
