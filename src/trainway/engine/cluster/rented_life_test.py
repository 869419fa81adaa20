"""The life of clusters on rented machines: stand-in clouds, and agents that the test plays."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from trainway.engine.cluster.clusters import Clusters
from trainway.engine.cluster.record import State
from trainway.engine.cluster.request import Launch
from trainway.engine.cluster.testing import ClusterWorld
from trainway.engine.costs.rate import rates_of
from trainway.engine.rental.record import RentalState
from trainway.engine.rental.rentals import Rentals
from trainway.engine.rental.testing import RentalWorld, StandInOffice, settled
from trainway.errors import ConflictError, NotFoundError
from trainway.json_types import Json
from trainway.providers.base import Ability
from trainway.providers.testing import Break, Fault

WANTED: Json = {"accelerators": "H100:8", "any_of": [{"infra": "aws"}, {"infra": "gcp"}]}


class Cloud:
    """A server with clusters and clouds."""

    def __init__(self, tmp_path: Path) -> None:
        self.clouds = RentalWorld(tmp_path)
        self.world = ClusterWorld()
        self.rentals: Rentals
        self.clusters: Clusters

    def play(self, scene: Callable[[], Awaitable[None]]) -> None:
        """Let a server live through a scene."""

        async def run() -> None:
            await self.world.engine.start()
            self.rentals, around = self.clouds.server()
            await self.rentals.start()
            office = StandInOffice(self.rentals)
            context = replace(self.world.engine._around_clusters(), office=lambda: office)
            self.clusters = Clusters(context, lambda: self.world.agents)
            await self.clusters.start()
            try:
                async with asyncio.timeout(20):
                    await scene()
            finally:
                await self.clusters.close()
                await self.rentals.close()
                around.ledger.close()
                await self.world.engine.close()

        asyncio.run(run())

    async def launch(self, infra: str = "cloud", resources: Json = WANTED) -> None:
        """Ask for the cluster `dev`."""
        await self.clusters.launch(Launch("dev", infra, 2, resources))

    async def until(self, state: State) -> None:
        """Wait until the cluster is in a state."""
        while (await self.clusters.get("dev"))["status"]["phase"] != state:
            await asyncio.sleep(0.001)


@pytest.fixture
def cloud(tmp_path: Path) -> Cloud:
    return Cloud(tmp_path)


def test_machines_are_rented_then_the_cluster_is_held_on_them(cloud: Cloud) -> None:
    async def scene() -> None:
        await cloud.launch()
        await cloud.until(State.UP)
        found = await cloud.clusters.get("dev")

        assert found["spec"]["infra"] == "aws/east/east-a"
        assert [node["host"] for node in found["status"]["nodes"]] == ["dev-0", "dev-1"]
        assert found["status"]["nodes"][0]["gpus"] == ["0", "1"], "as the machine says"
        assert found["status"]["rental"]["instanceType"] == "p5"
        assert found["status"]["rental"]["hourlyPrice"] == "20.0"
        (rate,) = rates_of(cloud.clusters.record("dev").rates)
        assert (rate.is_rented, rate.infra) == (True, "aws/east/east-a")
        assert rate.hourly == 20
        assert len(cloud.clouds.machines()) == 2

    cloud.play(scene)


def test_what_is_tried_elsewhere_is_shown(cloud: Cloud) -> None:
    cloud.clouds.aws.break_next(Fault("create", Break.CAPACITY))

    async def scene() -> None:
        await cloud.launch()
        await cloud.until(State.UP)
        rental = (await cloud.clusters.get("dev"))["status"]["rental"]

        assert [item["infra"] for item in rental["history"]] == ["aws/east/east-a"]
        assert rental["zone"] != "east-a" or rental["cloud"] != "aws"

    cloud.play(scene)


def test_what_no_cloud_offers_is_refused_at_once(cloud: Cloud) -> None:
    async def scene() -> None:
        with pytest.raises(NotFoundError, match="B200"):
            await cloud.launch(resources={"accelerators": "B200:8"})
        assert await cloud.clusters.all() == []

    cloud.play(scene)


def test_a_cluster_without_machines_is_stopped_and_says_why(cloud: Cloud) -> None:
    for each in cloud.clouds.clouds.values():
        each.break_next(Fault("create", Break.CAPACITY, times=9))

    async def scene() -> None:
        await cloud.launch()
        await cloud.until(State.STOPPED)

        assert (await cloud.clusters.get("dev"))["status"]["message"]
        assert cloud.world.agents.asked == [], "no agent has heard of it"
        for each in cloud.clouds.clouds.values():
            each.mend()
        await cloud.clusters.restart("dev")
        await cloud.until(State.UP)

    cloud.play(scene)


def test_a_stopped_cluster_costs_nothing_and_has_its_machines_again(cloud: Cloud) -> None:
    async def scene() -> None:
        await cloud.launch()
        await cloud.until(State.UP)
        await cloud.clusters.stop("dev")
        rental = cloud.rentals.find("dev")
        assert rental is not None
        assert rental.state is RentalState.STOPPED
        assert [rate.hourly for rate in rates_of(cloud.clusters.record("dev").rates)] == [20, 0]
        before = {machine.id for machine in cloud.clouds.machines()}

        await cloud.clusters.restart("dev")
        await cloud.until(State.UP)
        assert {machine.id for machine in cloud.clouds.machines()} == before

    cloud.play(scene)


def test_a_cluster_that_is_taken_down_leaves_nothing(cloud: Cloud) -> None:
    async def scene() -> None:
        await cloud.launch()
        await cloud.until(State.UP)
        await cloud.clusters.down("dev")

        assert cloud.clouds.machines() == []
        assert cloud.rentals.all() == []

    cloud.play(scene)


@pytest.mark.parametrize(("said", "left"), [("STOPPED", 2), ("gone", 0)])
def test_machines_follow_a_cluster_that_stops_by_itself(cloud: Cloud, said: str, left: int) -> None:
    async def scene() -> None:
        await cloud.launch()
        await cloud.until(State.UP)
        cloud.world.agents.say("dev", state=said)
        while any(each.state is RentalState.RUNNING for each in cloud.rentals.all()):
            await asyncio.sleep(0.001)
        await settled(cloud.rentals)

        assert len(cloud.clouds.machines()) == left
        assert all(each.state is RentalState.STOPPED for each in cloud.rentals.all())

    cloud.play(scene)


def test_a_cluster_is_not_launched_a_second_time_elsewhere(cloud: Cloud) -> None:
    async def scene() -> None:
        await cloud.launch()
        await cloud.until(State.UP)
        await cloud.launch(infra="aws")
        with pytest.raises(ConflictError, match="is on aws/east/east-a"):
            await cloud.launch(infra="gcp")

        assert len(cloud.clouds.machines()) == 2

    cloud.play(scene)


def test_machines_of_a_cluster_that_went_without_a_server_are_given_back(cloud: Cloud) -> None:
    async def first() -> None:
        await cloud.launch()
        await cloud.until(State.UP)
        await cloud.clusters._book.forget("dev")

    async def second() -> None:
        while cloud.clouds.machines():
            await asyncio.sleep(0.001)

    cloud.play(first)
    cloud.world = ClusterWorld()
    cloud.play(second)


def test_a_cluster_whose_machines_are_taken_is_stopped_and_costs_nothing(cloud: Cloud) -> None:
    async def scene() -> None:
        await cloud.launch(resources={**WANTED, "use_spot": True})
        await cloud.until(State.UP)
        first, second = cloud.clouds.machines()
        taken = next(each for each in cloud.clouds.clouds.values() if each.machines())
        taken.warn(first.id, "2026-11-18T10:00:00Z")
        await cloud.rentals.look()
        message = (await cloud.clusters.get("dev"))["status"]["message"]
        assert message.startswith(f"{taken.cloud} takes back {first.id} at 2026-11-18T10:00:00Z")
        taken.take(first.id)
        taken.take(second.id)
        await cloud.rentals.look()
        await settled(cloud.rentals)

        found = await cloud.clusters.get("dev")
        assert found["status"]["phase"] == State.STOPPED
        assert found["status"]["message"].startswith("its machines are gone")
        last = rates_of(cloud.clusters.record("dev").rates)[-1]
        assert last.hourly == 0
        await cloud.clusters.restart("dev")
        await cloud.until(State.UP)

    cloud.play(scene)


def test_machines_that_cannot_be_stopped_are_never_left_running(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = {Ability.STOP: "this cloud has no stopped machines"}
    for each in cloud.clouds.clouds.values():
        monkeypatch.setattr(each, "missing", lambda: missing)

    async def scene() -> None:
        await cloud.launch()
        await cloud.until(State.UP)
        with pytest.raises(ConflictError, match="this cloud has no stopped machines"):
            await cloud.clusters.stop("dev")
        assert (await cloud.clusters.get("dev"))["status"]["phase"] == State.UP
        cloud.world.agents.say("dev", state="STOPPED")
        while cloud.rentals.all():
            await asyncio.sleep(0.001)
        assert cloud.clouds.machines() == []

    cloud.play(scene)
