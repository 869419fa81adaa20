"""Clusters whose rented machines have shut themselves down."""

import asyncio
from dataclasses import dataclass, replace

import pytest

from trainway.engine.cluster.record import State
from trainway.engine.cluster.rented_life_test import WANTED, Cloud, cloud
from trainway.engine.cluster.request import Launch
from trainway.engine.rental.record import Rental, RentalState
from trainway.engine.rental.testing import settled

__all__ = ["cloud"]


@dataclass(frozen=True)
class Case:
    name: str
    down: bool
    message: str


CASES = [
    Case("autostop", False, "its machines have stopped"),
    Case("autodown", True, "its machines are gone"),
]
RULE = "(they shut themselves down when no server is heard for 65 minutes)"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_cluster_says_that_machines_have_shut_themselves_down(cloud: Cloud, case: Case) -> None:
    async def scene() -> None:
        wanted = Launch("dev", "cloud", 2, WANTED, idle_minutes=5, down=case.down)
        await cloud.clusters.launch(wanted)
        await cloud.until(State.UP)
        told = [host["unattended"] for host in cloud.world.agents.reached]
        assert told == [{"margin": 3600.0, "worker": False, "loses": case.down}] * 2
        rental = cloud.rentals.find("dev")
        assert rental is not None
        assert rental.gang.ends_by_shutdown is case.down

        for each in cloud.clouds.machines():
            aws = cloud.clouds.aws
            aws.take(each.id, "") if case.down else aws.stop(each.place.region, [each.id])
        await cloud.rentals.look()
        await settled(cloud.rentals)
        found = await cloud.clusters.get("dev")
        assert found["status"]["phase"] == State.STOPPED
        assert found["status"]["message"].startswith(case.message)
        assert found["status"]["message"].endswith(RULE)
        await cloud.clusters.restart("dev")
        await cloud.until(State.UP)
        assert len(cloud.clouds.machines()) == 2

    cloud.play(scene)


def test_the_reason_is_known_to_its_agent(cloud: Cloud) -> None:
    async def scene() -> None:
        wanted = Launch("dev", "cloud", 2, WANTED, idle_minutes=5)
        await cloud.clusters.launch(wanted)
        await cloud.until(State.UP)
        for each in cloud.clouds.machines():
            cloud.clouds.aws.stop(each.place.region, [each.id])
        cloud.world.agents.say("dev", state="STOPPED")
        await cloud.until(State.STOPPED)
        await cloud.clusters.all(refresh=True)

        message = (await cloud.clusters.get("dev"))["status"]["message"]
        assert message.endswith(RULE)
        assert [each.state for each in cloud.rentals.all()] == [RentalState.STOPPED]

    cloud.play(scene)


def test_machines_of_a_cluster_that_stopped_without_a_server_are_stopped(cloud: Cloud) -> None:
    async def scene() -> None:
        await cloud.launch()
        await cloud.until(State.UP)
        cloud.world.agents.clusters["dev"] |= {"state": "STOPPED", "nodes": []}
        await cloud.clusters._settling.settle("dev")  # as the next server does at its start

        assert cloud.clusters.record("dev").state == State.STOPPED
        assert [each.state for each in cloud.rentals.all()] == [RentalState.STOPPED]

    cloud.play(scene)


def test_a_worker_always_ends_itself(cloud: Cloud) -> None:
    async def scene() -> None:
        await cloud.clusters.launch(Launch("w-1", "cloud", 1, WANTED, worker_pool="w"))
        while cloud.clusters.record("w-1").state != State.UP:
            await asyncio.sleep(0.001)
        (host,) = cloud.world.agents.reached
        second = replace(cloud.clusters.record("w-1"), name="w-2")
        cloud.clusters._book.records["w-2"] = second
        planned = Rental(cluster="w-2", token="t")  # noqa: S106 - a name
        await cloud.rentals._book.put(planned)
        told = await cloud.clusters._rented._hosts_of(second.pool)
        assert told == [host], "the other one is in the making, and nobody knows where"
        await cloud.rentals._book.put(forget=[planned.token])
        del cloud.clusters._book.records["w-2"]
        assert host["unattended"] == {"margin": 3600.0, "worker": True, "loses": True}
        rental = cloud.rentals.find("w-1")
        assert rental is not None
        assert rental.gang.ends_by_shutdown
        assert rental.state is RentalState.RUNNING

    cloud.play(scene)
