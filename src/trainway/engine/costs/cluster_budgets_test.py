"""Clusters spend budgets: they warn once, and are taken down when all is spent."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import timedelta
from decimal import Decimal

import pytest
from sqlalchemy import Engine as Database

from trainway.engine.cluster.record import State
from trainway.engine.cluster.request import Launch
from trainway.engine.cluster.testing import ClusterWorld, FakeAgents, play, until_begun
from trainway.engine.faulty_store import Faults, faulty_store
from trainway.engine.notify.notifier import Notifying
from trainway.engine.testing import NOW, memory_database, told
from trainway.engine.usage import Grouping
from trainway.errors import ConflictError, DatabaseError, UsageError
from trainway.jobset.labels import USER
from trainway.notify.message import HttpRequest
from trainway.notify.targets import Form, Target

TEAM = Target("team", "https://team.example.org/hook", Form.JSON)
ANN = {USER: "ann"}


class Server:
    """What outlives servers: a database, the agents of clusters, and who is told."""

    def __init__(self, faults: Faults | None = None) -> None:
        self.agents = FakeAgents()
        self.database: Database = memory_database()
        self.faults = faults or Faults()
        self.told: list[str] = []

    def _send(self, request: HttpRequest) -> None:
        body = json.loads(request.body)
        if body["event"] == "budget":
            self.told.append(body["text"])

    def live(self, scene: Callable[[ClusterWorld], Awaitable[None]], hours: float = 0) -> None:
        """Let a server live, which begins so many hours later than the first."""
        notifying = Notifying(lambda: [TEAM], self._send, first_pause_s=0.001)
        store = faulty_store(self.database, self.faults)
        self.agents._changed = asyncio.Event()
        world = ClusterWorld(self.agents, store, notifying, {"local": 1})
        world.now = NOW + timedelta(hours=hours)

        async def whole(world: ClusterWorld) -> None:
            await scene(world)
            async with asyncio.timeout(20):
                while not world.engine.notifier.is_idle:
                    world.engine.notifier.wake()
                    world.now += timedelta(seconds=1)
                    await asyncio.sleep(0.001)

        play(whole, world)


async def launched(world: ClusterWorld, max_cost: float | None = None) -> None:
    request = Launch("dev", "", 1, {"cpus": 1}, labels=ANN, max_cost=max_cost)
    await world.clusters.launch(request)
    await world.until_phase(State.UP)


async def look(world: ClusterWorld, hours: float) -> None:
    world.now = NOW + timedelta(hours=hours)
    await world.engine.costs.budgets.look()


async def gone(world: ClusterWorld) -> None:
    await world.until_cluster(lambda: world.clusters.find("dev") is None)


def test_a_cluster_is_taken_down_when_it_has_cost_all_that_it_may() -> None:
    server = Server()

    async def scene(world: ClusterWorld) -> None:
        await launched(world, max_cost=5)
        job = await world.exec()
        fake = await until_begun(world.jobs, job)
        for hours in (3.9, 4.1, 4.5):
            await look(world, hours)
        budget = (await world.clusters.get("dev"))["status"]["budget"]
        assert (budget["limit"], bool(budget["warned"])) == (5.0, True)
        await look(world, 5)
        await told(fake, "cancel")  # its jobs end first
        fake.write("end", succeeded=False, reason="Cancelled", message="",
                   time=world.now.isoformat())  # fmt: skip
        status = (await world.until(job, "Failed"))["status"]
        assert status["cause"] == "Budget"
        await gone(world)
        report = await world.engine.reading.usage(Grouping.USER, "", "")
        assert [(each["name"], each["cost"]) for each in report["items"]] == [("ann", 5.0)]

    server.live(scene)
    assert server.told == [
        "cluster dev has cost $4.10 of $5.00",
        "cluster dev has cost $5.00 of $5.00, which is all that it may, and is taken down",
    ]


def test_a_limit_can_be_replaced_before_it_is_reached() -> None:
    server = Server()

    async def scene(world: ClusterWorld) -> None:
        await launched(world, max_cost=5)
        await look(world, 4.5)
        await launched(world, max_cost=50)
        await look(world, 6)
        await launched(world)
        assert (await world.clusters.get("dev"))["status"]["budget"]["limit"] == 50.0

    server.live(scene)
    assert len(server.told) == 1


def test_what_a_killed_server_has_told_the_next_one_only_does() -> None:
    server = Server()

    async def first(world: ClusterWorld) -> None:
        await launched(world, max_cost=5)
        server.agents.away = "its agent does not answer"
        await look(world, 6)
        await asyncio.sleep(0)
        assert world.clusters.find("dev") is not None

    async def second(world: ClusterWorld) -> None:
        await look(world, 6.1)
        await gone(world)

    server.live(first)
    server.agents.away = ""
    server.live(second, hours=6)
    assert len(server.told) == 1


def test_a_budget_of_a_month_counts_clusters_and_takes_them_down() -> None:
    server = Server()

    async def first(world: ClusterWorld) -> None:
        await world.engine.costs.budgets.put("ann", f"{USER}=ann", Decimal(10))
        await launched(world)
        await look(world, 8.5)
        await look(world, 9)
        assert world.engine.costs.budgets.views()[0]["spent"] == 9.0
        await look(world, 10.5)
        await gone(world)
        await refused(world)

    async def refused(world: ClusterWorld) -> None:
        assert world.engine.costs.budgets.views()[0]["spent"] == 10.5
        with pytest.raises(ConflictError, match="budget ann of user ann stands at"):
            await launched(world)

    server.live(first)
    server.live(refused, hours=11)
    assert [text.split(" stands at ")[1] for text in server.told] == [
        "$8.50 of $10.00",
        "$10.50 of $10.00",
    ]


@pytest.mark.parametrize("after", [False, True])
def test_a_write_that_fails_makes_nobody_hear_it_twice_or_never(after: bool) -> None:
    server = Server(Faults(after=after))

    async def scene(world: ClusterWorld) -> None:
        await launched(world, max_cost=5)
        server.faults.arm()
        server.faults.first = 0
        with suppress(DatabaseError):
            await look(world, 4.5)
        server.faults.heal()
        await look(world, 4.5)

    server.live(scene)
    assert server.told == ["cluster dev has cost $4.50 of $5.00"]


def test_labels_that_cannot_be_are_refused() -> None:
    async def scene(world: ClusterWorld) -> None:
        with pytest.raises(UsageError, match="cannot be set"):
            await world.clusters.launch(Launch("dev", labels={"a b": "c"}))

    Server().live(scene)
