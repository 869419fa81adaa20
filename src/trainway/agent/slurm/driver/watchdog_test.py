"""An attempt that nobody can tell by a file that it counts no more."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from trainway.agent.base.directory import Directory
from trainway.agent.slurm.commands import Commands, Result
from trainway.agent.slurm.driver.watchdog import DOUBT_SECONDS, SHORTEST_SECONDS, Watchdog, limit_of
from trainway.agent.slurm.fencing import BEAT_SECONDS, DriverLease, StaleError, Token
from trainway.agent.slurm.files.job_files import HEARD

LIMIT = 60.0
BEATS = int(LIMIT / BEAT_SECONDS)


class Slurm:
    """Answers with what it is told to; nothing: it cannot be reached."""

    def __init__(self) -> None:
        self.says = ""
        self.asked = 0

    def run(self, argv: Sequence[str], done: Callable[[Result], None], **_: Any) -> None:
        self.asked += 1
        done(Result(argv, 0 if self.says else 1, self.says.encode(), b""))


@pytest.fixture
def slurm() -> Slurm:
    return Slurm()


@pytest.fixture
def watchdog(tmp_path: Path, slurm: Slurm) -> Watchdog:
    lease = DriverLease(Directory(str(tmp_path)), Token("7", 1))
    return Watchdog(lease, cast("Commands", slurm), LIMIT)


def test_whoever_hears_the_relay_asks_nobody(
    watchdog: Watchdog, slurm: Slurm, tmp_path: Path
) -> None:
    for beat in range(2 * BEATS):
        (tmp_path / HEARD).touch()
        os.utime(tmp_path / HEARD, (beat, beat))
        assert watchdog.check()
    assert slurm.asked == 0


def test_without_a_relay_slurm_is_asked_now_and_then(watchdog: Watchdog, slurm: Slurm) -> None:
    slurm.says = "JobId=7 JobState=RUNNING Restarts=1"
    assert all(watchdog.check() for _ in range(2 * BEATS))
    assert slurm.asked == 2 * LIMIT / DOUBT_SECONDS


def test_an_attempt_that_hears_nobody_ends_before_the_next_one_begins(
    watchdog: Watchdog, slurm: Slurm
) -> None:
    assert [watchdog.check() for _ in range(BEATS)] == [True] * (BEATS - 1) + [False]
    assert slurm.asked > 1


def test_an_attempt_that_was_replaced_stops_at_once(watchdog: Watchdog, slurm: Slurm) -> None:
    slurm.says = "JobId=7 JobState=RUNNING Restarts=2"
    with pytest.raises(StaleError, match=r"attempt 7\.1 is out of date"):
        all(watchdog.check() for _ in range(BEATS))


def test_slurm_says_how_long_it_waits() -> None:
    assert limit_of("SlurmctldTimeout = 120 sec\nSlurmdTimeout           = 300 sec\n") == 300
    assert limit_of("SlurmdTimeout = 0 sec") == SHORTEST_SECONDS
