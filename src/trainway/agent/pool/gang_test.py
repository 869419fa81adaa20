"""A gang among hosts that do what the test says."""

from pathlib import Path

from trainway.agent.base.testing import container, jobset, role
from trainway.agent.pool.conftest import SPREAD, GangWorld
from trainway.agent.pool.placement import Placement


def test_a_job_waits_runs_and_ends(world: GangWorld) -> None:
    assert world.wants_place()
    world.gang.waiting("NoRoom", "it needs more", 1)
    world.gang.waiting("NoRoom", "it needs more", 1)
    assert [record["position"] for record in world.records("waiting")] == [1]
    world.place()
    assert not world.wants_place()
    assert world.ops("a") == ["job", "start"]
    job, start = world.last
    assert (job["token"], start["token"]) == (1, 1)
    assert start["pod"] == {
        "role": "node", "job_index": 0, "slot": 0, "uid": world.uid("node-0-0"),
        "attempt": 0, "job_attempt": 0, "failures": 0,
    }  # fmt: skip
    assert start["devices"] == {"gpus": ["0"]}
    assert start["addresses"] == {"node-0-0": "10.0.0.97", "node-0-1": "10.0.0.98"}
    assert start["env"] == {"HOST": "a", "TRAINWAY_FENCING_TOKEN": "1"}
    assert "peers" not in start
    world.run_both()
    world.record("a", "node-0-0", "Succeeded")
    assert not world.over()
    world.record("b", "node-0-1", "Succeeded")
    assert world.over()
    assert world.placement() is None
    assert world.end["succeeded"]
    assert world.ops("a") == ["remove"]
    assert world.ops("b") == ["job", "start", "remove"]


def test_mpi_jobs_learn_of_their_peers(tmp_path: Path) -> None:
    world = GangWorld(tmp_path, mpi={"secret": "keys"})
    world.place()
    assert world.ops("a") == ["job", "start"]
    assert world.last[1]["peers"]["node-0-1"] == {
        "host": "b", "address": "10.0.0.98", "port": 22, "user": "me", "host_keys": ["key-b"],
    }  # fmt: skip


def test_a_failure_of_its_own_restarts_it_where_it_is(tmp_path: Path) -> None:
    spec = jobset(
        role("node", container("main", "true"), parallelism=2, completions=2),
        failurePolicy={"maxRestarts": 1},
    )
    world = GangWorld(tmp_path, spec)
    world.place()
    world.run_both()
    first = world.uid("node-0-1")
    world.record("a", "node-0-0", "Failed")
    assert world.ops("b") == ["job", "start", "echo"]
    assert world.restarts == (0, 0), "the other host may be gone"
    world.say("b", "echo")
    assert world.ops("b") == ["stop"]
    assert (world.last[0]["uid"], world.last[0]["how"]) == (first, "delete")
    world.record("b", "node-0-1", "Failed", deleted=True)
    assert world.ops("b") == ["start"]
    assert (world.last[0]["token"], world.last[0]["pod"]["attempt"]) == (1, 1)
    assert world.restarts == (1, 1)


def test_logs_are_copied_and_continue_elsewhere(world: GangWorld) -> None:
    world.place()
    world.run_both()
    world.log("a", "node-0-0.main.0.log", 0, b"one\n")
    world.log("b", "node-0-0.main.0.log", 0, b"not its pod\n")
    world.log("a", "../plan.json", 0, b"evil")
    world.log("a", "node-0-0.main.0.log", 4, b"two\n")
    log = world.path / "logs" / "node-0-0.main.0.log"
    assert log.read_bytes() == b"one\ntwo\n"
    world.ask("suspend")
    for host, key in (("a", "node-0-0"), ("b", "node-0-1")):
        world.record(host, key, "Failed", deleted=True)
    assert world.placement() is None
    world.ask("resume")
    world.place({"node-0-0": "b", "node-0-1": "a"})
    world.log("b", "node-0-0.main.0.log", 0, b"three\n")
    assert log.read_bytes() == b"one\ntwo\nthree\n"


def test_a_suspended_job_gives_its_place_back(world: GangWorld) -> None:
    world.place()
    world.run_both()
    world.ask("suspend")
    assert world.answers[-1]["ok"]
    assert world.placement() is not None
    world.record("a", "node-0-0", "Failed", deleted=True)
    world.record("b", "node-0-1", "Failed", deleted=True)
    assert world.placement() is None
    assert not world.wants_place()
    assert world.ops("a")[-1] == "remove"
    world.ask("resume")
    assert world.wants_place()
    world.place({"node-0-0": "c", "node-0-1": "c"})
    assert world.ops("c") == ["job", "start", "start"]
    assert world.last[1]["token"] == 2
    assert world.restarts == (0, 0)


def test_a_job_may_be_suspended_before_it_has_a_place(world: GangWorld) -> None:
    world.ask("suspend")
    assert not world.wants_place()
    conditions = world.records("status")[-1]["jobset"]["conditions"]
    assert [item["type"] for item in conditions if item["status"] == "True"] == ["Suspended"]
    world.ask("resume")
    assert world.wants_place()


def test_a_job_that_is_submitted_suspended_asks_for_nothing(tmp_path: Path) -> None:
    spec = jobset(role("node", container("main", "true")), suspend=True)
    world = GangWorld(tmp_path, spec)
    world.settle()
    assert not world.wants_place()
    world.ask("resume")
    assert world.wants_place()


def test_a_job_that_waits_is_cancelled_at_once(world: GangWorld) -> None:
    world.ask("cancel")
    assert world.over()
    assert (world.end["reason"], world.answers[-1]["ok"]) == ("Cancelled", True)


def test_a_job_that_can_never_fit_ends(world: GangWorld) -> None:
    world.gang.refuse("it needs 9 CPUs")
    world.settle()
    assert world.over()
    assert (world.end["reason"], world.end["message"]) == ("DoesNotFit", "it needs 9 CPUs")


def test_a_host_that_cannot_take_the_job_fails_its_pods(world: GangWorld) -> None:
    world.place()
    world.say("a", "job", ok=False, error="No space left on device")
    world.record("b", "node-0-1", "Failed", deleted=True)
    assert world.over()
    failed = [record for record in world.records("pod") if record["pod"] == "node-0-0"][-1]
    assert (failed["reason"], failed["message"]) == (
        "FailedCreate",
        "host a: No space left on device",
    )


def test_an_error_of_our_own_ends_the_job_everywhere(world: GangWorld) -> None:
    world.place()
    world.gang.fail("the agent failed: oh")
    world.settle()
    assert world.over()
    assert world.end["reason"] == "AgentError"
    assert world.ops("a")[-1] == world.ops("b")[-1] == "remove"


def test_restarts_within_a_pod_count_towards_the_limit(tmp_path: Path) -> None:
    spec = jobset(role("node", container("main", "x"), pod={"restartPolicy": "OnFailure"}))
    world = GangWorld(tmp_path, spec)
    world.place({"node-0-0": "a"})
    again = [{"name": "main", "state": "running", "restarts": 1}]
    world.record("a", "node-0-0", "Running", containers=again)
    assert world.ops("a") == ["job", "start"], "it may restart once before that is held against it"
    pod = world.gang._pods.get(world.uid("node-0-0"))
    assert pod is not None
    assert len(pod.status().restart_times) == 1


def test_pods_beyond_the_parallelism_take_the_places_of_others(tmp_path: Path) -> None:
    spec = jobset(role("node", container("main", "true"), parallelism=1, completions=2))
    world = GangWorld(tmp_path, spec)
    world.gang.place(Placement(dict(SPREAD), {"node-0-0": {"gpus": ["3"]}}))
    world.settle()
    world.record("a", "node-0-0", "Succeeded")
    assert world.ops("a") == ["job", "start", "start"]
    assert (world.last[2]["pod"]["slot"], world.last[2]["devices"]) == (1, {"gpus": ["3"]})
    world.record("a", "node-0-1", "Succeeded")
    assert world.end["succeeded"]
