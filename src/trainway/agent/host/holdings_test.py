from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from trainway.agent.base.directory import Directory
from trainway.agent.host.holdings import ABSENCE_SECONDS, CLUSTER_ABSENCE_SECONDS, Holdings
from trainway.json_types import Json

LIMITS: Any = {"cpus": 4000, "memory": 100}


class Host:
    """A host whose clock the test turns."""

    def __init__(self, path: Path) -> None:
        self.time = 0.0
        self.directory = Directory(str(path))
        self.restart()

    def restart(self) -> None:
        self.holdings = Holdings(self.directory, lambda: self.time)

    def hold(self, key: str, owner: str = "a", *, insist: bool = False, **amounts: Any) -> str:
        data = {"key": key, "owner": owner, "client": f"{owner}@home", "name": f"job {key}"}
        return self.holdings.hold({**data, **amounts}, LIMITS, insist=insist)


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path)


@dataclass(frozen=True)
class Case:
    name: str
    first: Json
    second: Json
    is_free: bool
    limits: Json = field(default_factory=lambda: dict(LIMITS))


@pytest.mark.parametrize(
    "case",
    [
        Case("all CPUs", {"cpus": 4000}, {"cpus": 500}, is_free=False),
        Case("some are left", {"cpus": 3000}, {"cpus": 1000}, is_free=True),
        Case("memory", {"memory": 60}, {"memory": 60}, is_free=False),
        Case("a device", {"gpus": {"0": 1000}}, {"gpus": {"0": 1000}}, is_free=False),
        Case("another device", {"gpus": {"0": 1000}}, {"gpus": {"1": 1000}}, is_free=True),
        Case("halves", {"gpus": {"0": 500}}, {"gpus": {"0": 500}}, is_free=True),
        Case("nothing", {"cpus": 4000}, {}, is_free=True),
    ],
    ids=lambda case: case.name,
)
def test_nobody_gets_what_another_client_has(host: Host, case: Case) -> None:
    assert host.hold("x", "a", **case.first) == ""
    said = host.hold("y", "b", **case.second)
    assert said == ("" if case.is_free else "it is in use by a@home (job x)")
    assert host.hold("y", "b", insist=True, **case.second) == ""


def test_a_place_is_free_when_it_is_given_back(host: Host) -> None:
    assert host.hold("x", "a", cpus=4000) == ""
    assert host.hold("x", "a", cpus=3000) == "", "it takes its own place anew"
    assert not host.holdings.release("b", "x"), "it is not theirs"
    assert host.holdings.release("a", "x")
    assert host.hold("y", "b", cpus=4000) == ""
    assert host.holdings.others("b") == []
    assert [item["name"] for item in host.holdings.others("a")] == ["job y"]


def test_the_next_daemon_knows_what_is_held(host: Host) -> None:
    host.hold("x", "a", cpus=4000, gpus={"0": 1000})
    host.restart()
    assert host.hold("y", "b", cpus=1) == "it is in use by a@home (job x)"
    assert host.hold("x", "a", cpus=4000, gpus={"0": 1000}) == ""


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"a": 1}', "[{}]"])
def test_a_file_that_makes_no_sense_holds_nothing(host: Host, text: str) -> None:
    host.directory.replace("holdings.json", text.encode())
    host.restart()
    assert host.hold("y", "b", cpus=4000) == ""


@pytest.mark.parametrize(
    ("key", "patience"), [("x", ABSENCE_SECONDS), ("cluster/x", CLUSTER_ABSENCE_SECONDS)]
)
def test_what_nobody_needs_ends_by_itself(host: Host, key: str, patience: float) -> None:
    host.hold(key, "a", cpus=4000)
    for step in range(10):
        host.time = step * patience
        assert not host.holdings.expire(lambda _: True)
    host.time += patience - 1
    assert not host.holdings.expire(lambda _: False)
    host.time += 1
    assert host.holdings.expire(lambda _: False)
    assert host.hold("y", "b", cpus=4000) == ""
