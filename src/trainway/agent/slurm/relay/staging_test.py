"""The files of a job on their way, with a Slurm that is the test."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from trainway.agent.base.directory import Directory
from trainway.agent.base.event_loop import EventLoop
from trainway.agent.slurm.commands import Commands, Result
from trainway.agent.slurm.files.job_files import JobFiles
from trainway.agent.slurm.relay.followed_job import FollowedJob
from trainway.agent.slurm.relay.queue_states import QueueState
from trainway.agent.slurm.relay.staging import PARCEL, JobStaging
from trainway.agent.transfer.blobs import Blobs
from trainway.agent.transfer.feed import Position

RUNS = "JobId=12 JobState=RUNNING BatchHost=n1 Restarts=0"
PLAN = {"id": "a", "slurm": {"shared": False, "scratch": "/scratch"}}


class Slurm:
    """Keeps what it is asked; the test answers."""

    def __init__(self) -> None:
        self.env: dict[str, str] = {}
        self.asked: list[tuple[list[str], Callable[[Result], None]]] = []

    def run(self, argv: Sequence[str], done: Callable[[Result], None], **_: Any) -> None:
        self.asked.append((list(argv), done))

    def answer(self, stdout: str = "", failure: str = "") -> list[str]:
        """Answer the oldest question; its words."""
        argv, done = self.asked.pop(0)
        done(Result(argv, int(bool(failure)), stdout.encode(), failure.encode()))
        return argv


class Site:
    """A job that runs on nodes that do not see its directory."""

    def __init__(self, home: Path) -> None:
        (home / "agent.pyz").touch()
        directory = Directory(str(home))
        files = JobFiles(directory, "a", make=True)
        files.put(PLAN, "", Blobs(directory), str(home / "agent.pyz"))
        self.path = Path(files.directory.path)
        self._home = directory

    def relay(self) -> tuple[JobStaging, Slurm]:
        """What a relay has of the job."""
        job = FollowedJob(JobFiles(self._home, "a"), "12", Position({}), lambda: 0.0)
        job.state = QueueState("12", "RUNNING")
        slurm = Slurm()
        commands = cast("Commands", slurm)
        staging = JobStaging(job, EventLoop(), commands, lambda: 0.0, lambda _job: None)
        return staging, slurm


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


def test_a_parcel_that_cannot_be_sent_ends_the_job_and_is_not_kept(site: Site) -> None:
    staging, slurm = site.relay()
    staging.look()
    slurm.answer(RUNS)
    (site.path / PARCEL).write_bytes(b"large")
    assert "pack" in slurm.answer()
    assert slurm.answer(failure="sbcast: No space left on device")[0] == "sbcast"
    assert not (site.path / PARCEL).exists()
    slurm.answer(RUNS)
    assert slurm.answer() == ["scancel", "12"]
    assert staging.failure == "sbcast: No space left on device"


def test_of_two_relays_the_later_one_serves_a_job(site: Site) -> None:
    first, slurm = site.relay()
    first.look()
    assert len(slurm.asked) == 1
    second, other_slurm = site.relay()
    second.look()
    assert other_slurm.asked == [], "the first one may be writing"
    first.look()
    slurm.answer(RUNS)
    assert slurm.asked == [], "it knows that there is another one"
    second.look()
    assert len(other_slurm.asked) == 1


def test_a_relay_that_went_leaves_its_jobs_to_the_next(site: Site) -> None:
    first, _ = site.relay()
    first.look()
    first.close()
    second, slurm = site.relay()
    second.look()
    assert len(slurm.asked) == 1
