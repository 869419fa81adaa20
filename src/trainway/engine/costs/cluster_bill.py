"""What clusters cost: a cluster costs its price while it is up, whatever runs on it. Pure.

Its jobs cost nothing by themselves, so that nothing counts twice. When a cluster is forgotten, what
it had cost is kept as that of a deleted job is. Times are those at which the server knew.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any, Final

from trainway.backends.demand import Demand
from trainway.engine.attempt_runs import Runs, begun, stopped
from trainway.engine.cluster.record import ClusterRecord, State
from trainway.engine.costs.budget import JobBudget
from trainway.engine.costs.rate import Columns, Rate, rates_of, with_rate
from trainway.engine.costs.spent_job import SpentJob
from trainway.engine.placement.prices import hourly_price
from trainway.engine.usage import Rates, UsedJob, usage_view
from trainway.json_types import Json

_UP: Final = (State.UP, State.AUTOSTOPPING)
_SHOWN: Final = ("cost", "saved", "costSince", "pricePerHour")


def billed(record: ClusterRecord, prices: Mapping[str, Any], now: str) -> Columns:
    """The columns of a cluster whose bill changes with this record; empty: it stays."""
    columns: Columns = {}
    runs, is_up = runs_of(record), record.state in _UP
    before = json.dumps(runs)
    if is_up:
        begun(runs, 0, now, now)
    else:
        stopped(runs, now)
    if json.dumps(runs) != before:
        columns["runs"] = json.dumps(runs)
    rates = rates_of(record.rates)
    last = rates[-1] if rates else None
    if not is_up or (last is not None and last.is_rented):
        return columns
    hourly = hourly_price(prices, record.infra, _demand(record))
    if (last is None and hourly is None) or (last and last.hourly == (hourly or Decimal(0))):
        return columns
    rate = Rate(now, hourly or Decimal(0), record.infra, record.nodes)
    return columns | with_rate(rates, rate)


def runs_of(record: ClusterRecord) -> Runs:
    """When it was up."""
    runs: Runs = json.loads(record.runs) if record.runs else []
    return runs


def bill(record: ClusterRecord, now: str) -> SpentJob | None:
    """What is kept of a cluster that is forgotten; None: it has cost nothing."""
    if not record.rates:
        return None
    runs = runs_of(record)
    stopped(runs, now)
    return SpentJob(
        *(record.id, record.name, record.backend, record.labels, ""),
        *(json.dumps(runs), record.rates, now),
    )


def used_cluster(record: ClusterRecord, now: str) -> UsedJob:
    """A cluster among what is added up."""
    costs = rates_of(record.rates)
    return UsedJob(
        *(record.label_map, record.backend, Rates(), runs_of(record), now, costs),
        *(record.id, record.name),
    )


def cost_view(record: ClusterRecord) -> Json:
    """What it has cost and may, as the API shows it; empty: nobody has said a price."""
    budget = JobBudget.of(record.budget)
    may: Json = {} if budget is None else {"budget": budget.view()}
    if not record.rates:
        return may
    found = usage_view(Rates(), runs_of(record), "", rates_of(record.rates))
    return {name: found[name] for name in _SHOWN if name in found} | may


def _demand(record: ClusterRecord) -> Demand:
    """What its nodes have; the type of their GPUs is the one that was asked for."""
    shape = record.shape
    demand = shape.demand()
    name = shape.accelerator.partition(":")[0]
    return replace(demand, types={name: demand.gpus}) if name and demand.gpus else demand
