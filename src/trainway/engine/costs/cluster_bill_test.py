"""Clusters cost their price while they are up."""

import json
from decimal import Decimal

from trainway.engine.cluster.record import ClusterRecord, State
from trainway.engine.costs.cluster_bill import bill, billed, cost_view, used_cluster
from trainway.engine.costs.cost import total
from trainway.engine.costs.metering import metered
from trainway.engine.rental.record import Rental, RentedMachine
from trainway.engine.usage import Grouping, UsageReport, used_before

PRICES = {"ssh/lab": {"node": 1, "gpus": {"A100": 2}}}
SHAPE = json.dumps({"cpus": "4", "memory": "0", "gpus": 1, "accelerators": "A100:1"})
TOKEN, MACHINES = "a", ("i-0", "i-1")
NEW = ClusterRecord(name="dev", id="c1", infra="ssh/lab", pool="p", nodes=2, resources=SHAPE)


def at(hour: int) -> str:
    return f"2026-11-15T{hour:02}:00:00Z"


def after(record: ClusterRecord, state: State, hour: int, **prices: float) -> ClusterRecord:
    there = record.changed({"state": state})
    return there.changed(billed(there, prices or PRICES, at(hour)))


def test_a_cluster_costs_its_price_while_it_is_up() -> None:
    assert billed(NEW, PRICES, at(1)) == {}  # it waits for its nodes
    up = after(NEW, State.UP, 2)
    assert billed(up, PRICES, at(3)) == {}
    assert cost_view(up) == {"cost": 0.0, "costSince": at(2), "pricePerHour": 6.0}
    stopped = after(up, State.STOPPED, 4)
    assert cost_view(stopped) == {"cost": 12.0}
    again = after(stopped, State.UP, 6)
    dearer = after(again, State.UP, 7, **{"ssh/lab": 10})
    assert cost_view(dearer) == {"cost": 18.0, "costSince": at(7), "pricePerHour": 20.0}
    gone = bill(dearer, at(8))
    assert gone is not None
    assert total(gone.pieces).spent == Decimal(38)
    assert bill(NEW, at(8)) is None
    free = after(NEW, State.UP, 2, local=1)
    assert (cost_view(free), free.rates) == ({}, None)


def spot(ended: str = "") -> Rental:
    return Rental(
        cluster="dev", token=TOKEN, cloud="aws", region="us-east-1", zone="us-east-1a",
        instance_type="p4d", spot=True, nodes=2, hourly_price="3", on_demand_price="10",
        machines=tuple(RentedMachine(name, 0, launched=at(1), ended=ended) for name in MACHINES),
    )  # fmt: skip


def test_a_rented_cluster_costs_until_it_is_given_back() -> None:
    rental = NEW.changed(metered(NEW, [spot()]))
    up = after(rental, State.UP, 2)
    back = up.changed(metered(up, [spot(ended=at(5))]))
    gone = bill(back, at(9))
    assert gone is not None
    assert (total(gone.pieces).spent, total(gone.pieces).saved) == (Decimal(12), Decimal(28))


def test_clusters_are_added_up_and_are_no_jobs() -> None:
    up = after(NEW, State.UP, 2)
    gone = bill(after(up, State.STOPPED, 3), at(3))
    assert gone is not None
    report = UsageReport(Grouping.CLUSTER)
    report.add([used_cluster(up, at(4)), used_before(gone)])
    assert report.to_dict() == {
        "items": [{"name": "dev", "jobs": 0, "gpuHours": 0.0, "cpuHours": 0.0, "cost": 18.0}],
        "total": {"jobs": 0, "gpuHours": 0.0, "cpuHours": 0.0, "cost": 18.0},
    }
    by_job = UsageReport(Grouping.JOB)
    by_job.add([used_cluster(up, at(4))])
    assert by_job.to_dict()["items"][0]["name"] == "cluster dev"
