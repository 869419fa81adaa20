"""The engine and the provider of Azure together: what one leaves open, the other closes."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from trainway.engine.rental.errors import NoOfferError
from trainway.engine.rental.record import RentalState
from trainway.engine.rental.rentals import Rentals
from trainway.engine.rental.testing import CLUSTER, OWNER, TERMS, RentalWorld, settled, wanted
from trainway.engine.rental.watch import ChangeKind
from trainway.optimizer.testing import catalog_of, row
from trainway.providers import backoff
from trainway.providers.azure.calls import AzureCalls
from trainway.providers.azure.login import Login
from trainway.providers.azure.provider import AzureProvider
from trainway.providers.azure.stand_in_testing import REGION, SKUS, SUBSCRIPTION, AzureStandIn, sku
from trainway.providers.web_api_testing import served

H100 = "Standard_ND96isr_H100_v5"


@pytest.fixture
def cloud() -> AzureStandIn:
    found = AzureStandIn()
    found.skus = [*SKUS, sku(H100, "standardNDSH100v5Family", vCPUs="8", GPUs="8")]
    return found


@pytest.fixture
def world(
    cloud: AzureStandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[RentalWorld]:
    monkeypatch.setattr(backoff, "FIRST_S", 0.0)
    made = RentalWorld(tmp_path)
    offer = row(H100, 10, accelerator="H100", count=8, region=REGION, spot=4)
    catalog_of(tmp_path, {"azure": [offer]}).close()
    with served(cloud) as address:
        login = Login("secret", SUBSCRIPTION)
        provider = AzureProvider(AzureCalls(address, lambda: login, lambda _: None))
        made.clouds = cast("Any", {"azure": provider})
        yield made


def test_a_gang_lives_and_leaves_nothing(world: RentalWorld, cloud: AzureStandIn) -> None:
    async def script(rentals: Rentals) -> None:
        rental = await rentals.rent(CLUSTER, wanted(), TERMS)
        assert (rental.infra, rental.instance_type) == (f"azure/{REGION}", H100)
        assert all(each.public_address and each.user for each in rental.machines)
        assert (await rentals.stop(CLUSTER)).state is RentalState.STOPPED
        assert (await rentals.resume(CLUSTER)).state is RentalState.RUNNING
        assert not await rentals.look()
        await rentals.end(CLUSTER)

    assert world.live(script)
    assert cloud.things == {}
    assert cloud.living() == []


def test_half_a_gang_and_lost_groups_leave_nothing(world: RentalWorld, cloud: AzureStandIn) -> None:
    cloud.failing = {"-1": "AllocationFailed"}
    provider = cast("Any", world.clouds)["azure"]

    async def script(rentals: Rentals) -> None:
        with pytest.raises(NoOfferError, match=r"There is no room \(AllocationFailed\)"):
            await rentals.rent(CLUSTER, wanted(), TERMS)
        await settled(rentals)
        assert cloud.living() == []
        cloud.failing = {}

        rental = await rentals.rent(CLUSTER, wanted(), TERMS)
        provider.create(replace(rental.gang, token="lost", cluster="lost", count=1))  # noqa: S106
        lost = {f"trainway-{name}": name for name in ("orphan", "lost")}
        marks = {"trainway-server": OWNER, "trainway-token": "t", "trainway-cluster": "orphan"}
        cloud.groups["trainway-orphan"] = {
            "name": "trainway-orphan",
            "location": REGION,
            "tags": marks,
            "properties": {},
        }
        swept = (await rentals.sweep(dry_run=False)).machines
        assert {each.id.partition("/")[0]: each.cluster for each in swept} == lost
        assert len(cloud.living()) == 1

    assert world.live(script)


def test_machines_that_are_evicted_take_their_group_along(
    world: RentalWorld, cloud: AzureStandIn
) -> None:
    async def script(rentals: Rentals) -> None:
        rental = await rentals.rent(CLUSTER, wanted(spot=True), TERMS)
        assert rental.spot
        for each in list(cloud.machines()):
            del cloud.things[each]
        assert [change.kind for change in await rentals.look()] == [ChangeKind.ENDED]
        await settled(rentals)
        assert rentals.all() == []

    assert world.live(script)
    assert cloud.living() == []
