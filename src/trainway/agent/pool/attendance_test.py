"""What rented machines are told for the case that their server is gone."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from trainway.agent.pool.allocation import Allocation
from trainway.agent.pool.attendance import SECONDS, SETTING, seconds_alone, told
from trainway.agent.pool.clusters_testing import FakePool
from trainway.json_types import Json

MARGIN = 600.0
STOP, DOWN = {"minutes": 30, "down": False}, {"minutes": 30, "down": True}


@dataclass(frozen=True)
class Case:
    name: str
    autostop: Json | None
    seconds: float | None
    has_cluster: bool = True
    worker: bool = False
    loses: bool = False


CASES = [
    Case("no cluster has it", None, MARGIN, has_cluster=False),
    Case("a worker", None, MARGIN, worker=True, loses=True),
    Case("a cluster without autostop", None, None),
    Case("a cluster that stops", STOP, 1800 + MARGIN),
    Case("a cluster that goes down, and stops at least", DOWN, 1800 + MARGIN),
    Case("a cluster that goes down", DOWN, 1800 + MARGIN, loses=True),
    Case("a cluster that is to stop and would be ended", STOP, None, loses=True),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_how_long_a_machine_waits_for_its_server(case: Case) -> None:
    cluster = Allocation({"name": "dev", "autostop": case.autostop}, 1)
    terms: Json = {"margin": MARGIN, "worker": case.worker, "loses": case.loses}

    assert seconds_alone(terms, cluster if case.has_cluster else None) == case.seconds


def test_a_command_that_was_given_is_told() -> None:
    assert told({"margin": 1.0, "command": "poweroff"}, None) == {
        "op": "attend",
        "seconds": 1.0,
        "command": "poweroff",
    }


def rented_pool(terms: Json | None = None) -> FakePool:
    pool = FakePool()
    pool.only.settings = {SETTING: terms or {"margin": MARGIN}}
    return pool


def said(pool: FakePool) -> list[float | None]:
    frames, pool.only.told = pool.only.told, []
    return [frame["seconds"] for frame in frames if frame["op"] == "attend"]


def test_a_machine_hears_every_few_seconds_that_its_server_is_there() -> None:
    pool = rented_pool()
    pool.attendance.look()
    assert said(pool) == [MARGIN]
    pool.later(SECONDS)
    assert said(pool) == [MARGIN]
    pool.is_attended = False
    pool.later(SECONDS)
    assert said(pool) == []
    pool.is_attended = True
    pool.later(SECONDS)
    assert said(pool) == [MARGIN]


def test_what_changes_is_told_at_once() -> None:
    pool = rented_pool()
    pool.launch()
    assert said(pool) == [None]
    pool.ask(op="autostop", cluster="dev", minutes=5, down=False)
    assert said(pool) == [300 + MARGIN]
    pool.ask(op="autostop", cluster="dev", minutes=None, down=False)
    assert said(pool) == [None]


def test_hosts_that_are_not_rented_hear_nothing() -> None:
    pool = FakePool()
    pool.attendance.look()
    pool.launch(autostop=STOP)

    assert said(pool) == []


def test_a_cluster_whose_machines_are_gone_says_so_also_if_it_had_stopped() -> None:
    pool = rented_pool()
    pool.launch()
    for why in ("they shut themselves down", "they are gone"):
        (answer,) = pool.ask(op="release", cluster="dev", stop=True, message=why)
        assert answer["ok"]
        assert [item["message"] for item in pool.clusters.status()] == [why]
    assert pool.next_agent().clusters.status()[0]["message"] == "they are gone"
    pool.ask(op="start", cluster="dev")
    assert pool.clusters.status()[0]["message"] == ""
