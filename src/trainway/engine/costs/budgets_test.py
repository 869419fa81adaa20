"""Budgets warn once and end what runs, also after a kill between any two lines."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import Engine as Database

from trainway.backends.testing import FakeBackend
from trainway.engine.costs.budget import Budget, Standing, hours_left, standing
from trainway.engine.faulty_store import Faults, faulty_store
from trainway.engine.submission import Submission
from trainway.engine.testing import NOW, World, act, jobset, memory_database, told
from trainway.errors import ConflictError, DatabaseError
from trainway.jobset.labels import USER
from trainway.notify.message import HttpRequest
from trainway.notify.targets import Form, Target

TEAM = Target("team", "https://team.example.org/hook", Form.JSON)
ANN = {USER: "ann"}


@dataclass(frozen=True)
class Case:
    spent: str
    state: Standing
    hours: str | None


@pytest.mark.parametrize(
    "case",
    [
        Case("0", Standing.FINE, "4"),
        Case("7.99", Standing.FINE, "0.005"),
        Case("8", Standing.NEAR, "1"),
        Case("10", Standing.SPENT, None),
        Case("11", Standing.SPENT, None),
    ],
    ids=lambda case: case.spent,
)
def test_how_a_budget_of_ten_stands(case: Case) -> None:
    ten = Decimal(10)
    assert standing(Decimal(case.spent), ten) is case.state
    left = hours_left(Decimal(case.spent), ten, Decimal(2))
    assert left == (None if case.hours is None else Decimal(case.hours))
    assert hours_left(Decimal(case.spent), ten, Decimal(0)) is None


def test_what_a_month_is_written_down_once() -> None:
    budget = Budget("nlp", "team=nlp", "10", "")
    near = budget.now("2026-11", Decimal(8))
    assert (near.warned, near.spent_up) == ("2026-11", "")
    assert near.now("2026-11", Decimal(9)) == near
    spent = near.now("2026-11", Decimal(10))
    assert (spent.warned, spent.spent_up) == ("2026-11", "2026-11")
    assert spent.now("2026-12", Decimal(0)).spent_up == "2026-11"  # which is no more


class Webhook:
    """Takes notices."""

    def __init__(self) -> None:
        self.got: list[tuple[str, str]] = []

    def __call__(self, request: HttpRequest) -> None:
        body = json.loads(request.body)
        self.got.append((body["event"], body["text"]))


def world(
    webhook: Webhook, database: Database | None = None, backend: FakeBackend | None = None
) -> World:
    """A server; the next one on the same database takes up what this one leaves."""
    store = faulty_store(database or memory_database(), Faults())
    prices = {"local": 1}
    return World(backend, store, targets=lambda: [TEAM], send=webhook, prices=lambda: prices)


async def running(world: World, max_cost: float | None = None, name: str = "demo") -> str:
    submission = Submission([jobset(name)], environ={"A": "b"}, labels=ANN, max_cost=max_cost)
    made, _ = await world.engine.submit(submission)
    job_id = str(made["metadata"]["id"])
    (await world.begun(job_id)).run()
    await world.until(job_id, "Running")
    return job_id


async def look(world: World, hours: float) -> None:
    world.now = NOW + timedelta(hours=hours)
    await world.engine.costs.budgets.look()


async def ended(world: World, job_id: str) -> dict[str, Any]:
    """Let the agent end a job that it was told to end."""
    job = world.backend.jobs[job_id]
    await told(job, "cancel")
    job.write("end", succeeded=False, reason="Cancelled", message="", time=world.now.isoformat())
    status: dict[str, Any] = (await world.until(job_id, "Failed"))["status"]
    return status


def play(scene: Callable[[World], Awaitable[None]], made: World) -> None:
    asyncio.run(act(scene, made))


def test_a_job_ends_when_it_has_cost_all_that_it_may() -> None:
    webhook = Webhook()

    async def scene(world: World) -> None:
        job_id = await running(world, max_cost=5)
        for hours in (3.9, 4.1, 4.5):
            await look(world, hours)
        status = (await world.engine.reading.get(job_id))["status"]
        assert (status["budget"]["limit"], bool(status["budget"]["warned"])) == (5.0, True)
        await look(world, 5)
        status = await ended(world, job_id)
        assert (status["reason"], status["cause"]) == ("BudgetExceeded", "Budget")
        assert status["message"] == "it has cost $5.00 of $5.00, which is all that it may"
        reasons = await world.reasons(job_id)
        assert (reasons.count("BudgetWarning"), reasons.count("BudgetExceeded")) == (1, 1)
        again = await world.engine.again(job_id)
        assert again.max_cost == 5.0
        async with asyncio.timeout(60):
            while not world.engine.is_idle:
                world.now += timedelta(seconds=1)
                await asyncio.sleep(0)
        assert [text for event, text in webhook.got if event == "budget"] == [
            "demo on local: 80 % of its budget of $5.00 is spent"
        ]

    play(scene, world(webhook))


def test_a_monthly_budget_survives_kills_and_deletions() -> None:
    webhook, backend, database = Webhook(), FakeBackend(), memory_database()
    ids: list[str] = []

    async def warned(world: World) -> None:
        await world.engine.costs.budgets.put("ann", f"{USER}=ann", Decimal(10))
        first = await running(world, name="first")
        await look(world, 4)
        await world.engine.cancel(first)
        job = world.backend.jobs[first]
        await told(job, "cancel")
        job.write("end", succeeded=False, reason="Cancelled", message="",
                  time=world.now.isoformat())  # fmt: skip
        await world.until(first, "Cancelled")
        await world.engine.delete(first)  # what it has cost counts all the same
        world.now = NOW
        ids.append(await running(world, name="second"))
        await look(world, 4.5)

    async def spent(world: World) -> None:
        await look(world, 5)
        assert world.engine.costs.budgets.views()[0]["spent"] == 9.0
        assert (await world.reasons(ids[0])).count("BudgetWarning") == 1
        await look(world, 6.5)
        status = await ended(world, ids[0])
        assert status["cause"] == "Budget"
        with pytest.raises(ConflictError, match="the monthly budget ann of user ann stands at"):
            await running(world, name="third")
        await world.engine.costs.budgets.put("ann", f"{USER}=ann", Decimal(100))
        await world.engine.costs.budgets.look()
        ids.append(await running(world, name="third"))
        async with asyncio.timeout(60):
            while not world.engine.notifier.is_idle:
                world.now += timedelta(seconds=1)
                await asyncio.sleep(0)

    async def both() -> None:
        await act(warned, world(webhook, database, backend))
        await act(spent, world(webhook, database, backend))

    asyncio.run(both())
    database.dispose()
    told_of = [text for event, text in webhook.got if event == "budget"]
    assert [text.split(" stands at ")[1] for text in told_of] == [
        "$8.50 of $10.00",
        "$10.50 of $10.00",
    ]


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("first", range(2))
def test_a_database_that_fails_makes_nobody_hear_it_twice_or_never(first: int, after: bool) -> None:
    webhook, faults = Webhook(), Faults(after=after)
    database = memory_database()
    store = faulty_store(database, faults)
    made = World(None, store, targets=lambda: [TEAM], send=webhook, prices=lambda: {"local": 1})

    async def scene(world: World) -> None:
        budgets = world.engine.costs.budgets
        await budgets.put("ann", f"{USER}=ann", Decimal(10))
        job_id = await running(world)
        world.now = NOW + timedelta(hours=8.5)
        faults.arm()
        faults.first = first
        with suppress(DatabaseError):
            await budgets.look()
        faults.heal()
        await budgets.look()
        await budgets.look()
        async with asyncio.timeout(60):
            while not webhook.got or not world.engine.notifier.is_idle:
                world.engine.notifier.wake()
                world.now += timedelta(seconds=1)
                await asyncio.sleep(0.01)
        assert (await world.reasons(job_id)).count("BudgetWarning") == 1

    play(scene, made)
    database.dispose()
    assert len([text for event, text in webhook.got if event == "budget"]) == 1
