"""Kill a server before and after each call of a cloud and each write, and begin another one."""

import random
from pathlib import Path

import pytest

from trainway.engine.rental.kills_testing import HALF, KilledLife, random_faults, random_steps
from trainway.engine.rental.testing import Steps
from trainway.providers.testing import Break, Fault

STEPS = 31
"""More steps than a life has, so that the last case is a server that is never killed."""
EVERY = 6


def _kill(folder: Path, at: int, *, after: bool) -> bool:
    life = KilledLife(folder)
    life.world.aws.break_next(HALF)
    was_killed = not life.live(Steps(kill_at=at, after=after))
    assert life.restart() == []
    return was_killed


@pytest.mark.engine
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("at", range(STEPS))
def test_nothing_is_leaked_and_nothing_lost_at_any_step(
    tmp_path: Path, at: int, after: bool
) -> None:
    _kill(tmp_path, at, after=after)


def test_some_of_the_same_steps_in_every_run(tmp_path: Path) -> None:
    killed = []
    for at in range(2, STEPS + EVERY, EVERY):
        folder = tmp_path / str(at)
        folder.mkdir()
        killed.append(_kill(folder, at, after=at % 4 == 0))
    assert killed[0]
    assert not killed[-1], "a life has more steps than are walked"


@pytest.mark.parametrize("breaks", [Break.KILLED_BEFORE, Break.KILLED_AFTER])
def test_half_a_gang_of_a_killed_server_is_finished(tmp_path: Path, breaks: Break) -> None:
    life = KilledLife(tmp_path)
    life.world.aws.break_next(HALF, Fault("machine", breaks, zone="east-b", skip=1))
    assert not life.live(Steps())
    assert life.restart() == []


@pytest.mark.engine
@pytest.mark.parametrize("seed", range(20))
def test_random_kills_and_troubles_one_after_the_other(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - the same each time
    life = KilledLife(tmp_path)
    life.world.aws.break_next(*random_faults(chance))
    life.live(random_steps(chance))
    while chance.random() < 0.5:
        life.live_on(random_steps(chance))
    assert life.restart() == []
