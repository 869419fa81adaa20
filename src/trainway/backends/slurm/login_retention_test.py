import asyncio
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from trainway.backends import configuration
from trainway.backends.slurm.login_retention import (
    MARK,
    PAUSE_S,
    Folder,
    LoginRetention,
    Rules,
    due,
    rules,
)
from trainway.errors import InvalidError, UnavailableError
from trainway.json_types import Json

DAY = 86_400.0
NOW = 100 * DAY
GIB = 2**30


@dataclass(frozen=True)
class Case:
    name: str
    ages: dict[str, float]
    """In days."""
    size: int
    """Of each, in GiB."""
    gone: list[str]


@pytest.mark.parametrize(
    "case",
    [
        Case("young and small", {"a": 29, "b": 1}, 1, []),
        Case("too old", {"a": 31, "b": 30.5, "c": 1}, 1, ["a", "b"]),
        Case("too large", {"a": 3, "b": 2, "c": 1}, 20, ["a"]),
        Case("much too large", {"a": 3, "b": 2, "c": 1}, 60, ["a", "b", "c"]),
        Case("old ones make room", {"a": 31, "b": 2, "c": 1}, 25, ["a"]),
    ],
    ids=lambda case: case.name,
)
def test_what_goes(case: Case) -> None:
    folders = [Folder(name, NOW - age * DAY) for name, age in case.ages.items()]
    sizes = dict.fromkeys(case.ages, case.size * GIB)
    assert due(folders, sizes, Rules(), NOW) == case.gone


class FakeRelay:
    """A login node where each folder has a GiB."""

    def __init__(self) -> None:
        self.forgotten: list[str] = []
        self.is_away = False

    async def ask(self, operation: str, **fields: Any) -> Json:
        if operation == "forget":
            if self.is_away:
                raise UnavailableError("away")
            self.forgotten.append(fields["id"])
            return {}
        assert fields["argv"][:3] == ["du", "-sk", "--"]
        lines = [f"{GIB // 1024}\t{path}" for path in fields["argv"][3:]]
        return {"stdout": "\n".join(lines)}


class World:
    def __init__(self, jobs: Path) -> None:
        self.jobs = jobs
        self.now = NOW
        self.relay = FakeRelay()
        self.retention = LoginRetention(jobs, "hpc", Rules, lambda: self.now)

    def job(self, name: str, age: float, outputs: str = "copy", *, fetched: bool = True) -> None:
        directory = self.jobs / name
        directory.mkdir(parents=True)
        (directory / "plan.json").write_text(json.dumps({"id": name, "outputs": outputs}))
        if fetched:
            self.retention.mark(directory)
            os.utime(directory / MARK, (NOW - age * DAY,) * 2)

    def sweep(self) -> list[str]:
        asyncio.run(self.retention.sweep(self.relay, "/home/me/.trainway/slurm"))
        forgotten, self.relay.forgotten = self.relay.forgotten, []
        return forgotten


def test_only_jobs_of_which_all_is_here_are_touched(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.job("old", 40)
    world.job("young", 1)
    world.job("not-fetched", 40, fetched=False)
    world.job("keeps-its-output", 40, outputs="keep")
    elsewhere = LoginRetention(tmp_path, "other", Rules, lambda: NOW)
    world.job("of-another-cluster", 40, fetched=False)
    elsewhere.mark(tmp_path / "of-another-cluster")
    os.utime(tmp_path / "of-another-cluster" / MARK, (NOW - 40 * DAY,) * 2)
    assert world.sweep() == ["old"]
    assert world.sweep() == [], "not twice within an hour"
    world.now += PAUSE_S
    assert world.sweep() == [], "and what is gone is gone"
    assert (tmp_path / "old" / "plan.json").exists(), "what is here stays"


def test_a_login_node_that_is_away_is_tried_again(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.job("old", 40)
    world.relay.is_away = True
    assert world.sweep() == []
    world.relay.is_away = False
    world.now += PAUSE_S
    assert world.sweep() == ["old"]


def test_the_rules_are_those_of_the_settings(tmp_path: Path) -> None:
    assert rules(tmp_path) == Rules(30, 50 * GIB)
    file = tmp_path / "config.yaml"
    file.write_text("retention: {days: 7, size: 5Gi}")
    assert rules(tmp_path) == Rules(7, 5 * GIB)
    file.write_text("retention: {days: 0.5}")
    assert rules(tmp_path) == Rules(0.5, 50 * GIB)
    file.write_text("retention: {size: many}")
    with pytest.raises(InvalidError, match="must be a size, such as 50Gi"):
        configuration.read(tmp_path)
    assert rules(tmp_path) == Rules()
