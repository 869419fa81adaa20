"""Counters of both versions of control groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from trainway.agent.slurm.driver.memory_limit import MemoryLimit

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Case:
    id: str
    own: str
    counter: str
    before: str
    after: str


@pytest.mark.parametrize(
    "case",
    [
        Case(
            "first version",
            "11:cpuset:/\n4:memory:/slurm/job_1/step_0\n0::/\n",
            "memory/slurm/job_1/step_0/memory.oom_control",
            "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n",
            "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n",
        ),
        Case(
            "second version",
            "0::/system.slice/job_1/step_0\n",
            "system.slice/job_1/step_0/memory.events",
            "low 0\nhigh 0\nmax 9\noom 0\noom_kill 0\n",
            "low 0\nhigh 0\nmax 9\noom 1\noom_kill 1\n",
        ),
    ],
    ids=lambda case: case.id,
)
def test_killings_are_noticed_once(case: Case, tmp_path: Path) -> None:
    own, counter = tmp_path / "own", tmp_path / "groups" / case.counter
    own.write_text(case.own)
    counter.parent.mkdir(parents=True)
    counter.write_text(case.before)
    limit = MemoryLimit(str(own), str(tmp_path / "groups"))
    assert not limit.was_exceeded()
    counter.write_text(case.after)
    assert limit.was_exceeded()
    assert not limit.was_exceeded()


def test_without_a_limit_nothing_is_exceeded(tmp_path: Path) -> None:
    assert not MemoryLimit(str(tmp_path / "own"), str(tmp_path)).was_exceeded()
