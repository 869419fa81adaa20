"""Jobs get their rates when they get their place, and when prices change."""

import asyncio
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from trainway.backends.testing import FakeBackend
from trainway.engine.costs.rate import Rate, rates_of, with_rate
from trainway.engine.costs.rating import rated
from trainway.engine.database import open_database
from trainway.engine.phases import Phase
from trainway.engine.record import JobRecord
from trainway.engine.store import Store
from trainway.engine.testing import NOW, World, act
from trainway.engine.times import time_text
from trainway.engine.usage import Grouping

PRICE = {"local": {"node": 1, "cpu": 0.5}}


def at(hours: float) -> str:
    return time_text(NOW + timedelta(hours=hours))


def run(scene: Any, world: World) -> None:
    asyncio.run(act(scene, world))


def test_a_job_costs_what_was_said_when_it_began_until_another_price_is_read() -> None:
    prices: dict[str, Any] = dict(PRICE)
    world = World(prices=lambda: dict(prices))

    async def scene(world: World) -> None:
        job_id = await world.submit(pods=2, requests={"cpu": "1"})
        job = await world.begun(job_id)
        job.run()
        job.run("node-0-1")
        await world.until(job_id, "Running")
        world.now = NOW + timedelta(hours=1)
        prices["local"] = 10
        await world.engine.costs.rating.look()
        await world.engine.costs.rating.look()  # which changes nothing more
        record = await world.engine.reading.record(job_id)
        assert [(rate.since, rate.hourly) for rate in rates_of(record.rates)] == [
            (at(0), Decimal(3)),
            (at(1), Decimal(20)),
        ]
        shown = (await world.engine.reading.get(job_id))["status"]["usage"]
        told = {name: shown[name] for name in ("cost", "costSince", "pricePerHour")}
        assert told == {"cost": 3.0, "costSince": at(1), "pricePerHour": 20.0}
        world.now = NOW + timedelta(hours=2)
        assert (await total(world))["cost"] == 23.0  # what runs counts until now
        job.write("end", succeeded=True, reason="AllJobsCompleted", message="", time=at(1.5))
        await world.until(job_id, "Succeeded")
        by_job = (await world.engine.reading.usage(Grouping.JOB, "", ""))["items"]
        assert [(each["id"], each["cost"]) for each in by_job] == [(job_id, 13.0)]
        assert (await total(world, since=at(1)))["cost"] == 10.0
        await world.engine.delete(job_id)
        assert (await total(world))["cost"] == 13.0  # what was spent stays spent

    run(scene, world)


def test_without_prices_nobody_is_told_of_money() -> None:
    async def scene(world: World) -> None:
        job_id = await world.submit()
        job = await world.begun(job_id)
        job.run()
        await world.until(job_id, "Running")
        assert "cost" not in (await world.engine.reading.get(job_id))["status"]["usage"]
        assert "cost" not in await total(world)

    run(scene, World())


def test_rented_machines_have_no_other_price_at_the_same_place() -> None:
    job = JobRecord(
        id="1", name="a", namespace="b", kind="JobSet", backend="aws", phase=Phase.RUNNING
    )
    there = job.with_columns(with_rate((), Rate(at(0), Decimal(2), "aws", is_rented=True)))
    assert rated(there, {"aws": 7}, at(1)) == {}
    moved = there.with_columns({"backend": "local"})
    assert rates_of(rated(moved, {"local": 7}, at(1))["rates"])[-1].hourly == Decimal(7)


def test_the_next_server_goes_on_with_the_rates_and_the_prices_of_its_time(tmp_path: Path) -> None:
    url, backend = f"sqlite:///{tmp_path / 'x.db'}", FakeBackend()

    async def begin(world: World) -> None:
        job_id = await world.submit("demo")
        (await world.begun(job_id)).run()
        await world.until(job_id, "Running")

    async def go_on(world: World) -> None:
        record = await world.engine.reading.record("demo")
        assert [rate.hourly for rate in rates_of(record.rates)] == [Decimal(1), Decimal(2)]

    async def both() -> None:
        await act(begin, World(backend, Store(open_database(url)), prices=lambda: PRICE))
        second = World(backend, Store(open_database(url)), prices=lambda: {"local": 2})
        await act(go_on, second)

    asyncio.run(both())


async def total(world: World, since: str = "") -> Any:
    return (await world.engine.reading.usage(None, "", since))["total"]
