"""Servers that rent of moto's AWS are killed at any request, and the next ones leak nothing.

A tenth of `benchmarks/clouds.py kills-moto`, which kills real processes.
"""

import random
from functools import cache
from pathlib import Path

import pytest
from benchmarks.clouds_moto_kills import MOST_STEPS, CountedCalls, MotoWorld, make_trouble
from moto_cloud import REGION, MotoCloud

from trainway.engine.rental.kills_testing import KilledLife, random_steps
from trainway.engine.rental.testing import Steps

KILLS = 5


@pytest.fixture
def calls(moto_cloud: MotoCloud, monkeypatch: pytest.MonkeyPatch) -> CountedCalls:
    for name, value in moto_cloud.variables().items():
        monkeypatch.setenv(name, value)
    return calls_of(moto_cloud.port)


@cache
def calls_of(_: int) -> CountedCalls:
    """Shared by tests: a client of EC2 takes a second to make."""
    return CountedCalls()


@pytest.mark.parametrize("first", [0, 100, 200, 300])
def test_nothing_is_leaked_and_nothing_lost(
    tmp_path: Path, moto_cloud: MotoCloud, calls: CountedCalls, first: int
) -> None:
    killed, seed, wrong = 0, first, list[str]()
    while killed < KILLS:
        chance = random.Random(seed)  # noqa: S311 - the same each time
        make_trouble(moto_cloud, chance)
        folder = tmp_path / str(seed)
        folder.mkdir()
        life = KilledLife(folder, MotoWorld(folder, moto_cloud, calls))
        killed += not life.live(random_steps(chance, most=MOST_STEPS))
        while chance.random() < 0.4:
            killed += not life.live_on(random_steps(chance, most=MOST_STEPS // 2))
        wrong += [f"seed {seed}: {each}" for each in life.restart()]
        seed += 1
    assert wrong == []


def test_what_is_leaked_or_lost_is_seen(
    tmp_path: Path, moto_cloud: MotoCloud, calls: CountedCalls
) -> None:
    life = KilledLife(tmp_path, MotoWorld(tmp_path, moto_cloud, calls))
    assert not life.live(Steps(kill_at=18))  # two machines run
    calls.steps = Steps()
    lost = moto_cloud.living()[0]["id"]
    made = calls.send("ec2", REGION, "create_volume", AvailabilityZone=f"{REGION}a", Size=1)
    calls.send("ec2", REGION, "terminate_instances", InstanceIds=[lost])
    first, *_ = wrong = life.restart()
    assert lost in first
    assert any(f"volume {made['VolumeId']}" in each for each in wrong)
