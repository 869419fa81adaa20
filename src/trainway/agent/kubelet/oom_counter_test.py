"""Counters of both versions of control groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from trainway.agent.kubelet.oom_counter import OomCounter

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
    counter_of_ours = OomCounter.of_this_process(str(own), str(tmp_path / "groups"))
    assert not counter_of_ours.has_grown()
    counter.write_text(case.after)
    assert counter_of_ours.has_grown()
    assert not counter_of_ours.has_grown()


def test_without_a_group_nothing_is_counted(tmp_path: Path) -> None:
    assert not OomCounter.of_this_process(str(tmp_path / "own"), str(tmp_path)).has_grown()
