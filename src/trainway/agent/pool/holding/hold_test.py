from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from trainway.agent.pool.allocation import Allocation
from trainway.agent.pool.holding import hold as module
from trainway.agent.pool.holding.hold import Holder
from trainway.agent.transfer.ssh_failure import Failure
from trainway.json_types import Json

if TYPE_CHECKING:
    from collections.abc import Callable

    from trainway.agent.pool.placement import Placement


CLUSTER: Json = {"name": "hpc", "login": "", "env": {}}
DONE = {"ok": True}
AWAY = {"ok": False, "retry": True, "error": "Slurm does not answer", "hint": ""}


class FakeRelay:
    """Keeps what it is asked; the test answers."""

    made: list[FakeRelay]

    def __init__(self, cluster: Json, *_: object) -> None:
        self.cluster = cluster
        self.is_ready = False
        self.is_open = False
        self.home = "/home/me"
        self.absence = Failure("nothing listens there for SSH")
        self.asked: list[tuple[str, Json, Callable[[Json], None]]] = []
        FakeRelay.made.append(self)

    def open(self) -> None:
        self.is_open = True

    def close(self) -> None:
        self.is_open = self.is_ready = False

    def ask(self, operation: str, done: Callable[[Json], None], **fields: object) -> None:
        self.asked.append((operation, fields, done))

    def answer(self, operation: str, answer: Json) -> Json:
        """Answer the oldest question, which must be this one; its fields."""
        asked, fields, done = self.asked.pop(0)
        assert asked == operation
        done(answer)
        return fields


class FakeCapacity:
    gpus = ("0", "1")


class FakeHost:
    def __init__(self, name: str) -> None:
        self.name = name
        self.is_usable = False
        self.failure: Failure | None = None
        self.absence = "it has not answered yet"

    def capacity(self) -> FakeCapacity:
        return FakeCapacity()


class World:
    """A pool agent whose relay, hosts and clock are the test's."""

    def __init__(self) -> None:
        self.hosts: dict[str, FakeHost] = {}
        self.timers: list[tuple[float, Callable[[], object]]] = []
        self.said: list[str] = []
        self.placement: Placement | None = None
        self.lost_for = ""
        self.answers: list[Json] = []
        self.endings: list[Json] = []
        self.allocation = Allocation(
            {"name": "dev", "id": "1", "nodes": 2, "cpus": 1, "gpus": 2, "slurm": slurm()}, 1
        )
        FakeRelay.made = []
        self.holder = Holder(self, self)

    loop = property(lambda self: self)
    archive = environ = None

    @property
    def relay(self) -> FakeRelay:
        return FakeRelay.made[-1]

    def log(self, _text: str) -> None: ...

    def call_later(self, seconds: float, callback: Callable[[], object]) -> None:
        self.timers.append((seconds, callback))

    def host(self, name: str) -> FakeHost | None:
        return self.hosts.get(name)

    def have_hosts(self, hosts: list[Json]) -> None:
        self.hosts = {item["name"]: FakeHost(item["name"]) for item in hosts}

    # What the clusters are told

    def wait(self, _allocation: Allocation, message: str) -> None:
        self.said.append(message)

    def note(self, _allocation: Allocation) -> None: ...

    def placed(self, allocation: Allocation, placement: Placement) -> None:
        allocation.hold(placement)
        self.placement = placement

    def lost(self, allocation: Allocation, message: str) -> None:
        allocation.stop()
        self.lost_for = message

    # What the test does

    def hosts_of_nodes(self) -> dict[str, str]:
        return {} if self.placement is None else self.placement.hosts

    def ready(self) -> None:
        self.relay.is_ready = True
        self.holder.on_ready(self.relay)

    def begin(self) -> None:
        self.holder.begin(self.allocation, self.answers.append)
        self.ready()
        self.relay.answer("submit", {"ok": True, "job": "7"})

    def slurm(self, state: str, **fields: object) -> None:
        self.holder.on_slurm({"event": "slurm", "id": "1", "job": "7", "state": state, **fields})

    def up(self) -> None:
        self.begin()
        self.slurm("RUNNING", nodes="n1,n2")
        for host in self.hosts.values():
            host.is_usable = True
        self.holder.look()

    def end(self) -> None:
        self.holder.end(self.allocation, self.endings.append)


def slurm() -> Json:
    return {"cluster": CLUSTER, "script": "#!/bin/bash", "env": {}}


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setattr(module, "HoldRelay", FakeRelay)
    return World()


def test_a_cluster_waits_with_its_job_and_is_up_when_all_nodes_answer(world: World) -> None:
    world.holder.begin(world.allocation, world.answers.append)
    assert world.relay.is_open
    assert world.answers == []
    world.ready()
    fields = world.relay.answer("submit", {"ok": True, "job": "7"})
    assert (fields["id"], fields["script"]) == ("1", "#!/bin/bash")
    assert world.answers == [DONE]
    world.slurm("PENDING", waiting=True, partition="gpu", reason="Resources")
    assert world.said == ["Slurm job 7 is pending in partition gpu: Resources"]
    world.slurm("RUNNING", nodes="n[1-2]")
    fields = world.relay.answer("command", {"ok": True, "status": 0, "stdout": "n1\nn2\n"})
    assert fields["argv"] == ["scontrol", "show", "hostnames", "n[1-2]"]
    assert list(world.hosts) == ["n1@dev", "n2@dev"]
    world.hosts["n1@dev"].is_usable = True
    world.holder.look()
    assert not world.hosts_of_nodes()
    assert world.said[-1] == "Slurm job 7 runs; its nodes do not answer yet"
    world.hosts["n2@dev"].is_usable = True
    world.holder.look()
    assert world.hosts_of_nodes() == {"node-0": "n1@dev", "node-1": "n2@dev"}
    assert world.placement is not None
    assert world.placement.names("node-1") == ["0", "1"]


def test_what_slurm_refuses_is_told_and_nothing_is_held(world: World) -> None:
    world.holder.begin(world.allocation, world.answers.append)
    world.ready()
    world.relay.answer("submit", {"ok": False, "error": "no such partition", "hint": "sinfo"})
    world.relay.answer("forget", DONE)
    assert world.answers == [{"ok": False, "error": "no such partition", "hint": "sinfo"}]
    assert world.lost_for == "no such partition"
    world.end()
    assert world.endings == [DONE]
    assert world.relay.asked == []


def test_a_login_node_that_is_away_is_the_reason_to_wait(world: World) -> None:
    world.holder.begin(world.allocation, world.answers.append)
    world.holder.on_absent(world.relay)
    assert world.answers == [DONE]
    assert world.said == ["nothing listens there for SSH"]
    world.end()
    assert world.endings == [DONE], "nothing was sent, so there is nothing to end"


def test_slurm_is_asked_again_until_it_answers(world: World) -> None:
    world.holder.begin(world.allocation, world.answers.append)
    world.ready()
    world.relay.answer("submit", AWAY)
    assert (world.answers, world.said) == ([DONE], ["Slurm does not answer"])
    _, again = world.timers.pop()
    again()
    world.relay.answer("submit", {"ok": True, "job": "7"})
    again()
    assert world.relay.asked == []


def test_a_new_connection_asks_for_the_same_job(world: World) -> None:
    world.up()
    world.ready()
    assert world.relay.answer("track", {"ok": True, "job": "7"})["id"] == "1"
    hosts = world.hosts
    world.slurm("RUNNING", nodes="n1,n2")
    assert world.hosts is hosts


def test_a_job_that_nobody_knows_any_more_is_lost(world: World) -> None:
    world.up()
    world.ready()
    world.relay.answer("track", AWAY)
    assert world.lost_for == ""
    world.ready()
    world.relay.answer("track", {"ok": False, "error": "it is not on this cluster"})
    assert "Slurm: job 7, LOST" in world.lost_for


def test_an_allocation_that_ends_is_lost_and_cleared_before_the_next(world: World) -> None:
    world.up()
    world.slurm("TIMEOUT", final=True)
    assert world.lost_for == (
        "its allocation ended: it ran longer than its time limit (Slurm: job 7, TIMEOUT)"
    )
    assert world.hosts == {}
    world.allocation.start(None)
    world.holder.begin(world.allocation, world.answers.append)
    world.ready()
    world.relay.answer("forget", DONE)
    world.relay.answer("submit", {"ok": True, "job": "8"})
    assert world.answers == [DONE, DONE]
    assert world.allocation.slurm["job"] == "8"


def test_an_allocation_is_given_back_once_whoever_asks(world: World) -> None:
    world.up()
    world.end()
    world.end()
    assert world.relay.answer("forget", DONE) == {"id": "1"}
    assert world.endings == [DONE, DONE]
    assert world.hosts == {}
    assert not world.relay.is_open
    assert "job" not in world.allocation.slurm


def test_an_allocation_whose_login_node_is_away_stays_until_it_is_back(world: World) -> None:
    world.up()
    world.relay.is_ready = False
    world.end()
    seconds, look = world.timers.pop()
    assert seconds == module.END_SECONDS
    world.relay.is_ready = True
    look()
    assert world.endings == [], "it is there, and takes its time"
    world.relay.is_ready = False
    world.timers.pop()[1]()
    (answer,) = world.endings
    assert not answer["ok"]
    assert "nothing listens there" in answer["error"]
    assert list(world.hosts) == ["n1@dev", "n2@dev"]
    world.end()
    world.ready()
    world.relay.answer("forget", DONE)
    assert world.endings[1:] == [DONE]


def test_a_stopped_cluster_that_cannot_be_cleared_away_asks_for_nothing_new(world: World) -> None:
    world.up()
    world.slurm("NODE_FAIL", final=True)
    world.end()
    world.timers.pop()[1]()
    assert not world.endings[0]["ok"]
    assert not world.relay.is_open
    world.end()
    world.ready()
    world.relay.answer("forget", DONE)
    assert world.endings[1:] == [DONE]


def test_a_slurm_that_does_not_answer_is_told_to_whoever_gives_back(world: World) -> None:
    world.up()
    world.end()
    world.relay.answer("forget", AWAY)
    assert world.endings == [AWAY]
    assert list(world.hosts) == ["n1@dev", "n2@dev"]


def test_slurm_is_asked_once_when_a_node_goes_away(world: World) -> None:
    world.up()
    world.hosts["n2@dev"].is_usable = False
    for _ in range(2):
        world.holder.look()
    assert [operation for operation, _, _ in world.relay.asked] == ["track"]
    world.relay.answer("track", {"ok": True, "job": "7"})
    world.hosts["n2@dev"].is_usable = True
    world.holder.look()
    world.hosts["n1@dev"].is_usable = False
    world.holder.look()
    assert [operation for operation, _, _ in world.relay.asked] == ["track"]
