"""A gang whose hosts fall silent, are lost, and come back."""

import base64
from pathlib import Path

import pytest

from trainway.agent.base.testing import container, jobset, role
from trainway.agent.pool import intake
from trainway.agent.pool.conftest import GangWorld


def test_a_lost_host_moves_the_whole_gang(world: GangWorld) -> None:
    world.place()
    world.run_both()
    stale = world.uid("node-0-0")
    world.host("a", "silent")
    assert "HostUnreachable" in world.reasons()
    world.host("a", "lost")
    assert world.gang.token == 2
    assert world.ops("b")[-1] == "stop"
    assert not world.wants_place(), "the other pod still runs"
    lost = [record for record in world.records("pod") if record["uid"] == stale][-1]
    assert (lost["phase"], lost["reason"]) == ("Failed", "HostLost")
    world.record("b", "node-0-1", "Failed", deleted=True, token=1)
    assert world.wants_place()
    assert world.placement() is None
    world.place({"node-0-0": "b", "node-0-1": "c"})
    assert world.restarts == (1, 0)
    assert world.ops("c") == ["job", "start"]
    assert world.last[1]["token"] == 2
    assert world.last[1]["pod"]["attempt"] == 1
    # The host that was lost is heard again.
    world.record("a", "node-0-0", "Succeeded", uid=stale, token=1)
    world.host("a", "up", token=1)
    assert world.ops("a")[-1] == "fence"
    assert world.last[-1]["token"] == 2
    world.say("a", "fenced", token=2)
    assert world.ops("a") == ["remove"]
    assert not world.over()
    world.record("b", "node-0-0", "Succeeded")
    world.record("c", "node-0-1", "Succeeded")
    assert world.end["succeeded"]


def test_a_failure_that_comes_from_a_lost_host_does_not_count(world: GangWorld) -> None:
    world.place()
    world.run_both()
    world.record("b", "node-0-1", "Failed")
    world.say("b", "record", seq=2, type="event", reason="After", message="", token=1)
    assert "After" not in world.reasons(), "what follows a record that waits must wait too"
    world.host("a", "silent")
    assert not world.over()
    world.host("a", "lost")
    assert world.restarts == (1, 0)
    assert world.wants_place()
    assert "After" in world.reasons()


def test_a_failure_waits_for_a_host_that_comes_back_with_news(world: GangWorld) -> None:
    world.place()
    world.run_both()
    stale = world.uid("node-0-0")
    world.pool.hosts["a"].state = "connecting"
    world.record("b", "node-0-1", "Failed")
    world.pool.hosts["a"].seq = 1
    world.ops("a")
    world.host("a", "up", token=1)
    assert world.ops("a")[-1] == "echo"
    world.say("a", "echo")
    assert not world.over(), "it has a record that has not come"
    world.pool.hosts["a"].seq = 0
    world.record("a", "node-0-0", "Failed", uid=stale, reason="AgentLost")
    assert world.restarts == (1, 0)
    assert world.wants_place()


def test_a_failure_of_its_own_counts_when_the_others_are_there(world: GangWorld) -> None:
    world.place()
    world.run_both()
    for host, key in (("a", "node-0-0"), ("b", "node-0-1")):
        world.record(host, key, "Failed")
        assert not world.over()
    world.say("b", "echo")
    assert world.over()
    assert world.end["reason"] == "FailedJobs"


def test_cancelling_does_not_wait_for_an_inquiry(world: GangWorld) -> None:
    world.place()
    world.run_both()
    world.host("a", "silent")
    world.record("b", "node-0-1", "Failed")
    world.ask("cancel")
    assert world.over()


def test_a_host_that_stopped_its_pods_itself_counts_as_lost(world: GangWorld) -> None:
    world.place()
    world.run_both()
    world.record("a", "node-0-0", "Failed", reason="Fenced")
    world.record("b", "node-0-1", "Failed", deleted=True, token=1)
    assert (world.gang.token, world.restarts) == (2, (1, 0))
    assert world.wants_place()


def test_a_gang_that_leaves_does_not_wait_for_a_pod_that_never_arrived(world: GangWorld) -> None:
    world.place()
    world.record("a", "node-0-0", "Running")
    unseen = world.uid("node-0-1")
    world.record("a", "node-0-0", "Failed", reason="AgentLost")
    assert not world.wants_place(), "the other pod may run"
    world.ops("b")
    world.host("b", "up", token=1)
    assert world.ops("b") == ["resume", "stop"]
    world.say("b", "error", op="stop", uid=unseen, message="the pod has never been here")
    assert world.wants_place()
    assert world.restarts == (1, 0)


def test_a_host_that_forgot_the_job_counts_as_lost(world: GangWorld) -> None:
    world.place()
    world.run_both()
    world.host("a", "up")
    assert world.gang.token == 2
    assert "stop" in world.ops("b")


def test_a_lost_host_without_pods_matters_when_one_shall_go_there(tmp_path: Path) -> None:
    spec = jobset(
        role("first", container("main", "true")),
        role(
            "node",
            container("main", "true"),
            dependsOn=[{"name": "first", "status": "Complete"}],
        ),
    )
    world = GangWorld(tmp_path, spec)
    world.place({"first-0-0": "a", "node-0-0": "b"})
    world.host("b", "lost")
    assert world.gang.token == 1
    world.record("a", "first-0-0", "Succeeded", job="trial-first-0")
    assert world.gang.token == 2
    assert world.wants_place()


def test_output_follows_the_gang(world: GangWorld) -> None:
    world.place()
    world.run_both()
    data = base64.b64encode(b"step 5").decode()
    fields = {"path": "output/ckpt", "offset": 0, "last": True, "mtime_ns": 5, "data": data}
    world.say("a", "output", **fields)
    world.say("a", "output", **{**fields, "path": "output/../plan.json"})
    assert (world.path / "output" / "ckpt").read_bytes() == b"step 5"
    assert not (world.path / "plan.json").exists()
    assert "OutputNotCopied" in world.reasons()
    world.host("a", "lost")
    world.record("b", "node-0-1", "Failed", deleted=True, token=1)
    world.ops("b")
    world.place({"node-0-0": "b", "node-0-1": "c"})
    for name in "bc":
        assert world.ops(name) == ["job", "put", "job", "start"]
        assert (world.last[1]["path"], world.last[1]["data"]) == ("output/ckpt", data)


def test_cancelling_does_not_wait_for_a_host_that_is_away(world: GangWorld) -> None:
    world.place()
    world.run_both()
    world.host("a", "silent")
    world.ask("cancel", grace=0)
    assert not world.over()
    assert world.ops("b")[-1] == "stop"
    assert world.last[-1]["how"] == "kill"
    world.record("b", "node-0-1", "Failed", deleted=True)
    assert world.over()
    assert world.answers[-1]["ok"]


def test_what_was_said_into_a_broken_connection_is_said_again(world: GangWorld) -> None:
    world.place()
    world.record("b", "node-0-1", "Running")
    world.ops("a")
    world.host("a", "up")
    assert world.ops("a") == ["job", "start"], "it has not got the job"
    world.host("a", "up", token=1)
    assert world.ops("a")[-2:] == ["resume", "start"], "it has the job, but maybe not the pod"
    world.record("a", "node-0-0", "Running")
    world.say("a", "job", ok=True)
    world.ask("cancel")
    world.ops("a")
    world.host("a", "up", token=1)
    assert world.ops("a")[-2:] == ["resume", "stop"]


def test_a_record_counts_once(world: GangWorld) -> None:
    world.place()
    event = {"seq": 0, "type": "event", "reason": "BackOff", "message": "m", "token": 1}
    world.say("a", "record", **event)
    world.say("a", "record", **event)
    world.say("a", "record", **{**event, "seq": 1, "token": 0})
    assert world.reasons().count("BackOff") == 1


def test_pods_nobody_knows_are_killed(world: GangWorld) -> None:
    world.place()
    world.ops("a")
    world.record("a", "node-0-0", "Running", uid="other")
    assert world.ops("a") == ["stop"]
    assert (world.last[0]["uid"], world.last[0]["how"]) == ("other", "kill")


def test_a_missing_piece_of_a_log_is_asked_for(
    world: GangWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intake, "RESEND_SECONDS", 0.0)
    world.place()
    world.run_both()
    world.log("a", "node-0-0.main.0.log", 0, b"one\n")
    world.ops("a")
    world.log("a", "node-0-0.main.0.log", 8, b"three\n")
    assert world.ops("a") == ["resume"]
    assert world.last[0]["logs"] == {"node-0-0.main.0.log": 4}
    world.log("a", "node-0-0.main.0.log", 4, b"two\nthree\n")
    log = world.path / "logs" / "node-0-0.main.0.log"
    assert log.read_bytes() == b"one\ntwo\nthree\n"
    assert world.ops("a") == []


def test_errors_of_a_host_are_told(world: GangWorld) -> None:
    world.place()
    world.run_both()
    world.say("a", "error", op="put", message="No space left on device")
    assert "HostError" in world.reasons()
    assert not world.over()
    world.say("a", "error", op="start", uid=world.uid("node-0-0"), message="no such role")
    world.record("b", "node-0-1", "Failed", deleted=True)
    assert world.over()
    assert not world.end["succeeded"]


def test_a_gang_whose_hosts_are_all_gone_has_failed(world: GangWorld) -> None:
    world.place()
    world.run_both()
    world.gang.lose("its allocation ended")
    world.settle()
    assert world.over()
    assert (world.end["reason"], world.end["message"]) == ("HostLost", "its allocation ended")
    assert {record["reason"] for record in world.records("pod") if record["phase"] == "Failed"} == {
        "HostLost"
    }
