from datetime import UTC, datetime, timedelta
from pathlib import Path

from trainway.backends.base import Check
from trainway.backends.nodes import Node
from trainway.backends.pool.backend_test import Play, play
from trainway.backends.pool.capacity import capacity_of
from trainway.backends.pool.nodes import of_agent, of_survey, with_drained
from trainway.jobset.quantity import Quantity
from trainway.json_types import Json

Q = Quantity.parse
GIB = 2**30


def test_a_host_whose_time_is_up_is_not_set_aside_any_more() -> None:
    now = datetime(2026, 11, 18, 5, tzinfo=UTC)
    terms = {"why": "a test", "by": "ana", "since": now.timestamp() - 9}
    drained = {
        "h1": {**terms, "until": now.timestamp() + 1},
        "h2": {**terms, "until": now.timestamp() - 1},
    }
    one, two, three = with_drained([Node(name, "up") for name in ("h1", "h2", "h3")], drained, now)
    assert (one.drained, one.drained_by, one.problem) == (
        "a test",
        "ana",
        "it is set aside: a test",
    )
    assert one.drained_until == now + timedelta(seconds=1)
    assert (two, three) == (Node("h2", "up"), Node("h3", "up"))
    (told,) = of_agent([_host("h1", drained="a test", drainTerms=drained["h1"])])
    assert (told.drained, told.drained_by, told.drained_until) == (
        "a test",
        "ana",
        one.drained_until,
    )


def _host(name: str, **more: object) -> Json:
    amounts = {"cpus": 8, "memory": 16 * GIB, "gpus": 4}
    free = {"cpus": 2.5, "memory": 4 * GIB, "gpus": 1.0}
    return {"name": name, "state": "up", "address": "10.0.0.1", **amounts, "free": free, **more}


def test_the_agent_knows_what_is_free_and_who_is_away() -> None:
    away = {"state": "lost", "message": "no route to host", "hint": "check the cable"}
    hosts = [
        _host("a1"),
        _host("a2", **away),
        {"name": "a3", "state": "connecting", "address": ""},
        _host("a4", state="silent"),
        _host("a5", retired=True),
    ]
    first, second, third, fourth, fifth = of_agent(hosts)
    assert first == Node(
        "a1", "up", "", "", Q(8), Q("2500m"), Q("16Gi"), Q("4Gi"), 4, 1
    )  # fmt: skip
    assert (second.state, second.problem) == ("lost", "no route to host (check the cable)")
    assert (third.state, third.problem, third.gpus) == ("connecting", "", 0)
    assert fourth.problem == "it is silent"
    assert "no longer configured" in fifth.problem


def test_hosts_without_an_agent_report_themselves() -> None:
    checks = [
        Check("host a1", ok=True, detail="Python 3.11"),
        Check("host a2", ok=False, detail="the login is refused", fix="add a key"),
    ]
    capacity = capacity_of([_host("a1")])
    first, second = of_survey([{"name": "a1"}, {"name": "a2"}], checks, capacity)
    assert (first.state, first.problem, first.cpus) == ("up", "", Q(8))
    assert (second.state, second.problem) == ("not reached", "the login is refused (add a key)")


def test_an_agent_that_runs_is_asked(tmp_path: Path) -> None:
    async def acts(stage: Play) -> None:
        stage.answers["status"] = {"ok": True, "hosts": [_host("a1")]}
        await stage.backend.agent("lab").ask("ping")  # starts it
        (node,) = await stage.backend.nodes()
        assert (node.name, node.state, node.free_gpus) == ("a1", "up", 1)
        assert stage.fake.asked[-1] == {"op": "status"}
        assert stage.fake.starts == 1

    play(tmp_path, acts)
