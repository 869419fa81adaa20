"""The ledger of rentals and the money of clusters, in both databases and on a full disk."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from trainway.engine.cluster.record import ClusterRecord
from trainway.engine.costs.cluster_bill import bill
from trainway.engine.costs.metering import metered
from trainway.engine.database import open_database
from trainway.engine.faulty_store import Faults, faulty_store, full
from trainway.engine.notify.outbox import NewNotice
from trainway.engine.rental.record import Attempt, Rental, RentalState, RentedMachine
from trainway.engine.rental.testing import CLUSTER, TERMS, RentalWorld, wanted
from trainway.engine.store import Store
from trainway.errors import DatabaseError
from trainway.notify.message import Notice

HOUR, LATER = "2026-11-18T08:00:00.000000Z", "2026-11-18T10:00:00.000000Z"
MACHINE = RentedMachine("i-1", 0, "3.3.3.3", launched=HOUR, before=((HOUR, HOUR),))
ROW = Rental(
    cluster="dev",
    token="t1",  # noqa: S106 - the name of a request
    cloud="aws",
    hourly_price="2.5",
    machines=(MACHINE,),
    history=(Attempt("aws", "us-east-1", error="no"),),
    created=HOUR,
)


def test_what_is_rented_and_what_it_cost_are_kept(new_database: Callable[[], str]) -> None:
    store = Store(open_database(new_database()))
    rentals, clusters = store.rentals, store.clusters
    other = replace(ROW, token="t2", cluster="other")  # noqa: S106 - as above
    rentals.change([ROW, other])
    assert rentals.living() == [ROW, other]
    over = replace(ROW, state=RentalState.ENDED, machines=(replace(MACHINE, ended=LATER),))
    rentals.change([over], forget=["t2"])
    assert (rentals.living(), rentals.of_cluster("dev", HOUR)) == ([], [over])
    assert rentals.of_cluster("dev", LATER) == []

    record = ClusterRecord(name="dev", id="c1", infra="aws", pool="p", nodes=1, launched=HOUR,
                           labels='{"team": "nlp"}')  # fmt: skip
    clusters.add(record)
    columns = metered(record, rentals.of_cluster("dev", HOUR)) | {"budget": '{"limit": "9"}'}
    notice = NewNotice("team", Notice("budget", HOUR, {}, "little is left"), 0.0)
    clusters.update("dev", columns, [notice])
    clusters.update("gone", columns, [notice])  # nobody is told of what is not there
    (found,) = clusters.all()
    assert found == record.changed(columns)
    clusters.remove("dev", bill(found, LATER))
    (spent,) = store.costs.ended(HOUR)
    assert (spent.label_map, [float(each.cost().spent) for each in spent.pieces]) == (
        {"team": "nlp"},
        [5.0],
    )
    store.close()


@pytest.mark.parametrize("first", range(2))
def test_what_cannot_be_written_down_is_not_asked_for(first: int, tmp_path: Path) -> None:
    world, faults = RentalWorld(tmp_path), Faults(is_lasting=True, error=full)

    async def scene() -> None:
        rentals, around = world.server(store=faulty_store(world.database, faults))
        await rentals.start()
        faults.arm()
        faults.first = first
        with pytest.raises(DatabaseError, match=r"full|space"):
            await rentals.rent(CLUSTER, wanted(), TERMS)
        assert "create" not in [call for each in world.clouds.values() for call in each.calls()]
        faults.heal()
        await rentals.rent(CLUSTER, wanted(), TERMS)
        assert len(world.machines()) == 2
        faults.arm()
        faults.first = 0
        with pytest.raises(DatabaseError, match=r"full|space"):
            await rentals.end(CLUSTER)
        assert len(world.machines()) == 2
        faults.heal()
        await rentals.end(CLUSTER)
        await rentals.close()
        around.ledger.close()

    asyncio.run(scene())
    assert world.machines() == []
