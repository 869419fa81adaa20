from dataclasses import dataclass

import pytest

from trainway.backends.slurm.queue_records import SEQ, Entry, JobMemory, entries_of, held_status
from trainway.json_types import Json

PENDING: Json = {
    "job": "12",
    "state": "PENDING",
    "reason": "Resources",
    "partition": "main",
    "waiting": True,
    "held": False,
    "position": 3,
}
HELD = {**PENDING, "reason": "JobHeldUser", "held": True}
RUNNING = {**PENDING, "state": "RUNNING", "waiting": False, "nodes": "n0"}
POD: Json = {
    "type": "pod",
    "seq": 5,
    "time": "2026-11-15T12:00:00Z",
    SEQ: 4,
    "uid": "u1",
    "pod": "node-0-0",
    "job": "x-node-0",
    "phase": "Running",
    "containers": [{"name": "node", "state": "running", "pid": 7}],
}


def memory(*records: Json) -> JobMemory:
    found = JobMemory()
    for record in records:
        found.take(record)
    return found


def told(entries: list[Entry]) -> list[Json]:
    return [{"type": type_, **fields} for type_, fields in entries]


def conditions(record: Json) -> dict[str, str]:
    return {item["type"]: item["status"] for item in record["jobset"]["conditions"]}


def test_a_job_waits_for_slurms_own_reason() -> None:
    (waiting,) = told(entries_of(PENDING, memory(), 0.0))
    assert waiting == {
        "type": "waiting",
        "reason": "Resources",
        "message": "Slurm job 12 is pending in partition main: Resources",
        "queue": "main",
        "position": 3,
    }
    assert entries_of(PENDING, memory(waiting), 0.0) == []
    (cleared,) = told(entries_of(RUNNING, memory(waiting), 0.0))
    assert cleared == {"type": "waiting"}
    assert entries_of(RUNNING, memory(waiting, cleared), 0.0) == []


def test_a_job_without_a_reason_waits_all_the_same() -> None:
    (waiting,) = told(entries_of({**PENDING, "reason": "", "position": 0}, memory(), 0.0))
    assert (waiting["reason"], waiting["position"]) == ("Pending", 1)


def test_a_job_that_is_held_is_suspended_until_it_is_not() -> None:
    (suspended,) = told(entries_of(HELD, memory(), 0.0))
    assert conditions(suspended) == {"Suspended": "True"}
    assert entries_of(HELD, memory(suspended), 0.0) == []
    resumed, waiting = told(entries_of(PENDING, memory(suspended), 1.0))
    assert conditions(resumed) == {"Suspended": "False"}
    assert waiting["type"] == "waiting"


def test_a_job_that_never_began_has_counts_while_it_is_held() -> None:
    roles = [{"name": "node", "replicas": 2}, {"name": "extra"}]
    found = memory()
    found.status = held_status({"spec": {"replicatedJobs": roles}})
    (suspended,) = told(entries_of(HELD, found, 0.0))
    counts = suspended["jobset"]["replicatedJobsStatus"]
    assert [(role["name"], role["suspended"]) for role in counts] == [("node", 2), ("extra", 1)]
    assert suspended["jobset"]["restartsCountTowardsMax"] == 0
    resumed, _ = told(entries_of(PENDING, memory(suspended), 1.0))
    assert [role["suspended"] for role in resumed["jobset"]["replicatedJobsStatus"]] == [0, 0]


def test_what_the_driver_says_of_a_job_that_runs_is_left_alone() -> None:
    status = {
        "type": "status",
        "jobset": {"conditions": [{"type": "Suspended", "status": "True"}], "restarts": 2},
    }
    assert entries_of(RUNNING, memory(status), 0.0) == []


@dataclass(frozen=True)
class End:
    state: str
    reason: str
    message: str
    exit: str = ""


@pytest.mark.parametrize(
    "case",
    [
        End("TIMEOUT", "TimeLimit", "it ran longer than its time limit (Slurm: job 12, TIMEOUT)"),
        End("CANCELLED", "Cancelled", "the job was cancelled"),
        End(
            "FAILED",
            "BatchFailed",
            "its batch script failed (Slurm: job 12, FAILED, exit code 3)",
            "3:0",
        ),
        End(
            "OUT_OF_MEMORY",
            "OutOfMemory",
            "it used more memory than it asked for (Slurm: job 12, OUT_OF_MEMORY, signal 9)",
            "0:9",
        ),
        End("STRANGE", "Lost", "it left the queue as STRANGE (Slurm: job 12, STRANGE)"),
    ],
    ids=lambda case: case.state,
)
def test_a_job_whose_driver_could_not_tell_its_end(case: End) -> None:
    frame = {"final": True, "job": "12", "state": case.state, "exit": case.exit}
    pod, status, end = told(entries_of(frame, memory(POD), 0.0))
    assert (pod["phase"], pod["reason"], pod["uid"]) == ("Failed", case.reason, "u1")
    assert pod["containers"][0]["exitCode"] == 137
    assert not {"seq", SEQ, "time"} & set(pod)
    assert conditions(status) == {"Failed": "True"}
    assert end == {
        "type": "end",
        "succeeded": False,
        "reason": case.reason,
        "message": case.message,
    }


def test_the_end_that_the_driver_wrote_counts() -> None:
    end = {"type": "end", "succeeded": True, SEQ: 9}
    assert entries_of({"final": True, "job": "12", "state": "FAILED"}, memory(end), 0.0) == []


def test_pods_that_ended_are_not_lost() -> None:
    over = {**POD, "phase": "Succeeded", SEQ: 6}
    found = memory(POD, over)
    assert found.live_pods == []
    assert found.seq == 6


def test_a_job_that_left_has_no_number_and_goes_on_after_its_last_record() -> None:
    submitted = {"type": "event", "seq": 0, "slurmJob": "12"}
    left = {"type": "agent", "seq": 6, "event": "left"}
    found = memory(submitted, POD, left)
    assert (found.number, found.seq, found.last) == ("", 6, 6)
    assert (found.live_pods, found.waiting, found.log_bases) == ([], {}, None)

    found.take({"type": "agent", "seq": 7, "event": "left", "logs": {"a.log": 5}})
    found.take({"type": "event", "seq": 8, "slurmJob": "13"})
    assert (found.number, found.seq, found.log_bases) == ("13", 7, {"a.log": 5})
