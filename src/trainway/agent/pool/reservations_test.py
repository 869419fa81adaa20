from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from trainway.agent.pool.ledger import Capacity
from trainway.agent.pool.placement import Placement
from trainway.agent.pool.reservations import Reservations, used_by
from trainway.json_types import Json


class Entry:
    """A gang as the queue sees it."""

    id = "j1"
    title = "job one"
    oversubscribe = False
    demand = ({"pod": "p0", "cpus": 2}, {"pod": "p1", "cpus": 1, "gpus": 0.5}, {"pod": "p2"})


PLACEMENT = Placement({"p0": "a", "p1": "b", "p2": "c"}, {"p1": {"gpus": ["0"]}})


class FakeHost:
    """Takes down what it is told."""

    def __init__(self, *, arbitrates: bool = True) -> None:
        self.is_usable = True
        self.facts: Json = {"arbitrates": arbitrates}
        self.told: list[Json] = []

    def capacity(self) -> Capacity:
        return Capacity(4000, 2**30)

    def send(self, frame: Mapping[str, object]) -> bool:
        self.told.append(dict(frame))
        return True

    def ops(self) -> list[str]:
        told, self.told = self.told, []
        return [frame["op"] for frame in told]


class World:
    def __init__(self) -> None:
        self.hosts = {name: FakeHost() for name in "abc"}
        self.granted: list[Placement] = []
        self.refused: list[tuple[bool, str]] = []
        self.found = Reservations(
            self.hosts.get,
            lambda _entry, placement: self.granted.append(placement),
            lambda _entry, had_it, why: self.refused.append((had_it, why)),
        )

    def answer(self, host: str, error: str = "") -> None:
        self.found.answered(host, {"id": "j1", "ok": not error, "error": error})

    def ops(self) -> dict[str, list[str]]:
        return {name: host.ops() for name, host in self.hosts.items()}


@pytest.fixture
def world() -> World:
    made = World()
    made.found.ask(Entry(), PLACEMENT)
    return made


def test_all_hosts_must_say_yes(world: World) -> None:
    (told,) = world.hosts["b"].told
    limits = {"cpus": 4000, "memory": 2**30}
    assert told == {
        "op": "hold", "id": "j1", "name": "job one", "cpus": 1000, "memory": 0, "gpus": {"0": 500},
        "limits": limits,
    }  # fmt: skip
    assert world.ops() == {"a": ["hold"], "b": ["hold"], "c": []}
    world.answer("a")
    assert world.found.is_pending("j1")
    assert world.granted == []
    world.answer("b")
    assert world.granted == [PLACEMENT]
    assert not world.found.is_pending("j1")
    world.found.keep_only({"j1"})
    assert world.ops() == {"a": [], "b": [], "c": []}
    world.found.keep_only(set())
    assert world.ops() == {"a": ["release"], "b": ["release"], "c": []}


def test_one_no_gives_everything_back(world: World) -> None:
    world.ops()
    world.answer("a")
    world.answer("b", "it is in use by x@y (job z)")
    assert world.refused == [(False, "host b: it is in use by x@y (job z)")]
    assert world.ops() == {"a": ["release"], "b": ["release"], "c": []}
    world.answer("a")
    assert world.ops()["a"] == ["release"], "an answer that comes late is given back too"
    assert world.granted == []


@dataclass(frozen=True)
class Later:
    """Whether the second starts though a host has not answered the first."""

    is_silent: bool
    starts: bool


@pytest.mark.parametrize(
    "case", [Later(is_silent=False, starts=False), Later(is_silent=True, starts=True)]
)
def test_they_start_in_their_order(world: World, case: Later) -> None:
    second = Entry()
    second.id = "j2"
    placement = Placement({"p0": "c", "p1": "c", "p2": "c"})
    world.found.ask(second, placement)
    world.answer("a")
    world.hosts["b"].is_usable = not case.is_silent
    world.found.answered("c", {"id": "j2", "ok": True})
    assert world.granted == ([placement] if case.starts else [])
    world.answer("b")
    assert len(world.granted) == 2


def test_a_host_that_is_lost_says_no(world: World) -> None:
    world.found.lost("a")
    assert world.refused == [(False, "host a was lost")]
    assert not world.found.is_pending("j1")


def test_a_new_connection_is_told_again(world: World) -> None:
    world.answer("a")
    world.answer("b")
    world.ops()
    world.found.connected("b")
    world.found.connected("c")
    assert world.ops() == {"a": [], "b": ["hold"], "c": []}
    world.answer("b")
    assert len(world.granted) == 1
    world.answer("b", "it is in use by x@y (job z)")
    assert world.refused == [(True, "host b: it is in use by x@y (job z)")]


def test_hosts_that_do_not_arbitrate_are_not_asked() -> None:
    world = World()
    world.hosts = {name: FakeHost(arbitrates=False) for name in "abc"}
    world.found = Reservations(
        world.hosts.get,
        lambda _entry, placement: world.granted.append(placement),
        lambda _entry, had_it, why: world.refused.append((had_it, why)),
    )
    world.found.ask(Entry(), PLACEMENT)
    assert world.granted == [PLACEMENT]
    assert world.ops() == {"a": [], "b": [], "c": []}


def test_others_are_named_with_what_they_have() -> None:
    others = [
        {"client": "ann@lab", "name": "job x", "cpus": 1500, "memory": 2**30, "gpus": {"1": 1000}},
        {"client": "", "name": "cluster dev", "cpus": 1000},
    ]
    assert used_by(others) == (
        "ann@lab (job x: 1.5 CPUs, 1 GiB of memory, GPU 1), another client (cluster dev: 1 CPU)"
    )


def test_a_host_whose_place_is_given_up_is_told(world: World) -> None:
    for name in "abc":
        world.answer(name)
    world.ops()
    world.found.resize(Entry(), Placement({"p0": "a"}, {}))
    assert world.ops() == {"a": [], "b": ["release"], "c": ["release"]}
