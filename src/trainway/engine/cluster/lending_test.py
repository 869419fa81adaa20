"""Credentials for jobs: given when machines are there, and renewed before they expire."""

import asyncio
import logging
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from trainway.engine.cluster.lending import Lending
from trainway.engine.cluster.record import ClusterRecord, State
from trainway.engine.cluster.rented_life_test import Cloud, cloud
from trainway.engine.rental.record import Rental, RentalState
from trainway.json_types import Json
from trainway.providers.base import JobCredentials
from trainway.providers.errors import ProviderError, Scope, Trouble

__all__ = ["cloud"]

SECRET = "s3cr3t"  # noqa: S105 - of a test
HOUR = timedelta(hours=1)


class World:
    """One cluster, and a clock that the test sets."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 18, tzinfo=UTC)
        self.records = {
            "dev": ClusterRecord(name="dev", id="1", infra="aws", pool="cloud+dev", nodes=1)
        }
        self.rental = Rental(cluster="dev", token="t", state=RentalState.RUNNING)  # noqa: S106 - a name
        self.asked: list[tuple[str, Json]] = []
        self.error: ProviderError | None = None
        book: Any = self
        self.lending = Lending(book, self.get, lambda: self.now)

    @property
    def agents(self) -> "World":
        """Those of the book."""
        return self

    async def ask(self, pool: str, operation: str, name: str, **more: Any) -> Json:
        """Be the agent."""
        assert (pool, operation, name) == ("cloud+dev", "lend", "dev")
        self.asked.append((name, more))
        return {"ok": True}

    async def get(self, _rental: Rental) -> JobCredentials | None:
        """Be the cloud."""
        if self.error is not None:
            raise self.error
        return JobCredentials({"aws.json": SECRET}, {"A": "aws.json"}, self.now + HOUR)

    def renew(self, **later: float) -> int:
        """How often something was given after so long."""
        before = len(self.asked)
        self.now += timedelta(**later)
        asyncio.run(self.lending.renew([self.rental]))
        return len(self.asked) - before


def test_others_are_given_half_an_hour_before_they_expire() -> None:
    world = World()
    asyncio.run(world.lending.lend(world.records["dev"], world.rental))
    assert world.asked == [("dev", {"files": {"aws.json": SECRET}, "variables": {"A": "aws.json"}})]
    assert world.renew(minutes=29) == 0
    assert world.renew(minutes=1) == 1
    assert world.renew(minutes=29) == 0


def test_a_new_server_gives_new_ones_at_once() -> None:
    assert World().renew() == 1


def test_a_cloud_that_does_not_answer_is_asked_again(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    world = World()
    world.error = ProviderError("AWS is away", trouble=Trouble.OTHER, scope=Scope.NONE)
    assert world.renew() == 0
    world.error = None
    assert world.renew(minutes=1) == 1
    assert "jobs of cluster dev get no credentials: AWS is away" in caplog.text
    assert SECRET not in caplog.text


def test_machines_have_them_before_the_cluster_is_up(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lend(_settings: object, cluster: str) -> JobCredentials:
        assert cluster == "dev"
        return JobCredentials({"aws.json": SECRET}, {}, datetime.now(UTC) + HOUR)

    for each in cloud.clouds.clouds.values():
        monkeypatch.setattr(each, "job_credentials", lend, raising=False)

    async def scene() -> None:
        await cloud.launch()
        await cloud.until(State.UP)
        asked = [each.split()[0] for each in cloud.world.agents.asked]
        assert asked.index("reach") < asked.index("lend") < asked.index("allocate")
        assert SECRET not in str(cloud.clusters.record("dev")) + str(cloud.rentals.all())

    cloud.play(scene)
