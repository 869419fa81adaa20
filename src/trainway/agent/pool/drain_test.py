"""A host that is set aside takes no new pods, whoever the pool agent is, and keeps those it has."""

import time
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import pytest

from trainway.agent.base.directory import Directory
from trainway.agent.base.event_loop import EventLoop
from trainway.agent.base.testing import container, jobset, role
from trainway.agent.pool.drains import Drains, is_last
from trainway.agent.pool.ledger import Capacity
from trainway.agent.pool.state import State, drained_hosts
from trainway.agent.pool.testing import pool_agent
from trainway.json_types import Json


def job(script: str) -> Json:
    return jobset(role("node", container("main", script)))


def test_what_is_set_aside_is_remembered_and_forgotten(tmp_path: Path) -> None:
    directory = Directory(str(tmp_path))
    assert drained_hosts(directory) == {}
    state = State(directory)
    state.append(
        {"type": "drain", "host": "a", "why": "its fan", "by": "ana", "since": 5.0, "until": 7.5}
    )
    state.append({"type": "drain", "host": "b", "why": "its disk"})
    state.append({"type": "drain", "host": "b", "why": ""})
    terms = {"why": "its fan", "by": "ana", "since": 5.0, "until": 7.5}
    assert drained_hosts(directory) == State(directory).drained == {"a": terms}
    assert drained_hosts(directory) == {"a": terms}, "the next one has written it anew"


def test_a_drained_host_takes_no_new_pods_also_after_a_killed_agent() -> None:
    with pool_agent() as pool:
        for host in "ab":
            pool.until_host(host, "up")
        assert pool.ask("drain", host="a", why="its fan is loud") == {"ok": True}
        assert pool.status("a")["drained"] == "its fan is loud"
        pool.end()
        pool.start()
        for host in "ab":
            pool.until_host(host, "up")
        assert pool.status("a")["drained"] == "its fan is loud"
        for _ in range(3):
            done = pool.job(job("true"))
            assert done.end()["succeeded"]
            assert set(done.placement().values()) == {"b"}


def test_pods_go_on_and_a_job_waits_for_a_host_that_is_set_aside() -> None:
    with pool_agent(hosts=1) as pool:
        pool.until_host("a", "up")
        runs = pool.job(job("mkfifo f; cat f"))
        runs.until_pod("Running")
        assert pool.ask("drain", host="a", why="its fan is loud") == {"ok": True}
        waits = pool.job(job("true"))
        waiting = waits.until(lambda record: record["type"] == "waiting")
        assert "a: it is set aside: its fan is loud" in waiting["message"]
        assert pool.ask("drain", host="a") == {"ok": True}
        assert waits.end()["succeeded"]
        assert "drained" not in pool.status("a")
        assert runs.ask("cancel", grace=0)["ok"]


def test_a_host_that_is_set_aside_for_a_time_takes_pods_again_by_itself() -> None:
    with pool_agent(hosts=1) as pool:
        pool.until_host("a", "up")
        later = time.time() + 600
        assert pool.ask("drain", host="a", why="a test", by="ana", until=later) == {"ok": True}
        terms = pool.status("a")["drainTerms"]
        assert (terms["by"], terms["until"]) == ("ana", later)
        waits = pool.job(job("true"))
        waiting = waits.until(lambda record: record["type"] == "waiting")
        assert "a: it is set aside: a test" in waiting["message"]
        until = time.time() + 0.3
        assert pool.ask("drain", host="a", why="a test", until=until) == {"ok": True}
        assert waits.end()["succeeded"]
        assert time.time() >= until
        assert "drained" not in pool.status("a")
        assert pool.ask("drain", host="a", why="long ago", until=1.0) == {"ok": True}
        assert "drained" not in pool.status("a")


def test_when_the_time_of_a_host_is_up_follows_the_clock_of_the_machine(tmp_path: Path) -> None:
    state, loop, told = State(Directory(str(tmp_path))), EventLoop(), list[str]()
    drains = Drains(state, loop, told.append, lambda: None)
    with mock.patch.object(time, "time", return_value=7.0):  # it has not been set yet
        drains.set("a", {"why": "its fan", "until": 2_000_000_000.0})
        drains.look()
    assert told == []
    with mock.patch.object(time, "time", return_value=2_000_000_001.0):
        drains.look()
    assert told == ["a takes pods again: its time is up"]


def test_a_host_that_is_not_there_cannot_be_set_aside() -> None:
    with pool_agent() as pool:
        answer = pool.ask("drain", host="z", why="no reason")
        assert (answer["code"], answer["hint"]) == ("not_found", "its hosts are a, b")


@dataclass
class Known:
    """What is known of a host."""

    name: str
    gpus: int | None = 0
    drained: str = ""
    retired: bool = False

    @property
    def facts(self) -> Json:
        return {} if self.gpus is None else {"gpus": self.gpus}

    def capacity(self) -> Capacity | None:
        return None if self.gpus is None else Capacity.read({}, {"gpus": self.gpus})


@dataclass(frozen=True)
class Last:
    """Whether host a is the last one beside these."""

    id: str
    others: list[Known]
    expected: bool
    gpus: int = 0
    drained: str = ""


@pytest.mark.parametrize(
    "case",
    [
        Last("alone", [], expected=True),
        Last("another one", [Known("b")], expected=False),
        Last("one that has not answered yet", [Known("b", None)], expected=False, gpus=1),
        Last("the others are set aside", [Known("b", drained="its fan")], expected=True),
        Last("the others are not configured any more", [Known("b", retired=True)], expected=True),
        Last("the others have no GPUs", [Known("b")], expected=True, gpus=2),
        Last("another one has GPUs, too", [Known("b"), Known("c", 1)], expected=False, gpus=2),
        Last("it is set aside already", [], expected=False, drained="its disk"),
    ],
    ids=lambda case: case.id,
)
def test_which_host_is_the_last(case: Last) -> None:
    mine = Known("a", case.gpus, case.drained)
    assert is_last("a", [mine, *case.others]) is case.expected  # type: ignore[list-item] # stand-ins for hosts
