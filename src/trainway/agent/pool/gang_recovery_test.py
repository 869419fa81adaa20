"""A gang whose pool agent dies, and another one takes over."""

import json

from trainway.agent.pool.conftest import SPREAD, GangWorld


def test_the_next_pool_agent_goes_on_without_a_trace(world: GangWorld) -> None:
    world.place()
    world.run_both()
    world.log("a", "node-0-0.main.0.log", 0, b"one\ntw")
    uids = [world.uid("node-0-0"), world.uid("node-0-1")]
    world.reborn()
    assert not world.wants_place()
    placement = world.placement()
    assert placement is not None
    assert placement.hosts == SPREAD
    for name in "ab":
        world.host(name, "up", token=1)
    assert world.ops("a") == ["resume"]
    assert (world.last[0]["after"], world.last[0]["logs"]) == (0, {"node-0-0.main.0.log": 6})
    assert world.ops("b") == ["resume"]
    assert world.last[0]["logs"] == {}
    world.log("a", "node-0-0.main.0.log", 6, b"o\n")
    assert (world.path / "logs" / "node-0-0.main.0.log").read_bytes() == b"one\ntwo\n"
    assert [world.uid("node-0-0"), world.uid("node-0-1")] == uids
    assert world.restarts == (0, 0)
    world.record("a", "node-0-0", "Succeeded")
    world.record("b", "node-0-1", "Succeeded")
    assert world.end["succeeded"]
    assert [record["event"] for record in world.records("agent")] == ["started", "recovered"]


def test_the_next_pool_agent_starts_what_was_not_started(world: GangWorld) -> None:
    world.place()
    world.reborn()
    world.host("a", "up")
    assert world.ops("a") == ["job", "start"]
    assert world.last[1]["pod"]["uid"] == world.uid("node-0-0")


def test_the_next_pool_agent_begins_what_was_only_placed(world: GangWorld) -> None:
    lines = [{"seq": 0, "type": "placement", "token": 1, "hosts": SPREAD}]
    (world.path / "journal.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    world.reborn()
    assert not world.wants_place()
    for name in "ab":
        world.host(name, "up")
        assert world.ops(name) == ["job", "start"]


def test_the_next_pool_agent_goes_on_leaving(world: GangWorld) -> None:
    world.place()
    world.run_both()
    world.host("a", "lost")
    world.reborn()
    assert world.gang.token == 2
    assert not world.wants_place()
    world.host("b", "up", token=1)
    assert world.ops("b") == ["resume", "stop"]
    world.record("b", "node-0-1", "Failed", deleted=True, token=1)
    assert world.wants_place()
    assert world.restarts == (1, 0)


def test_a_loss_that_was_only_just_noted_is_not_forgotten(world: GangWorld) -> None:
    world.place()
    world.run_both()
    world.pool.hosts["a"].state = "lost"
    world.gang.on_host("a", "lost")  # and the agent dies before the controllers have looked
    world.reborn()
    assert world.restarts == (1, 0)


def test_the_next_pool_agent_places_what_waited(world: GangWorld) -> None:
    world.gang.waiting("NoRoom", "it needs more", 1)
    world.reborn()
    assert world.wants_place()
    world.place()
    assert world.ops("a") == ["job", "start"]


def test_a_job_that_ended_is_left_alone(world: GangWorld) -> None:
    world.ask("cancel")
    before = (world.path / "journal.jsonl").read_text()
    world.reborn()
    assert world.over()
    assert (world.path / "journal.jsonl").read_text() == before
