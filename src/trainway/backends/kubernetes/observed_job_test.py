from dataclasses import dataclass

import pytest

from trainway.backends.kubernetes.interruption_test import taken
from trainway.backends.kubernetes.object_names import Names
from trainway.backends.kubernetes.observed_job import (
    SUBMITTED,
    ObservedJob,
    Verdict,
    is_settled,
    mpi_status,
    verdict_of,
    verdict_on,
)
from trainway.backends.kubernetes.pods import kept
from trainway.backends.kubernetes.testing import TIME, pod
from trainway.backends.kubernetes.usage.readings import Reading
from trainway.backends.kubernetes.waiting import Waiting
from trainway.json_types import Json

RUNNING = {"phase": "Running"}
LATER = "2026-11-15T05:00:09Z"


def event(uid: str = "e", count: int = 1, name: str = "demo") -> Json:
    return {
        "metadata": {"uid": uid, "creationTimestamp": TIME},
        "involvedObject": {"kind": "JobSet", "name": name},
        "count": count,
        "reason": "Why",
        "message": "text",
    }


def ended(kind: str, reason: str = "R") -> Json:
    return {"conditions": [{"type": kind, "status": "True", "reason": reason, "message": "m"}]}


def phases(job: ObservedJob) -> list[str]:
    return [f"{record['name']} {record['phase']}" for record in job.take()]


def test_only_what_changes_is_recorded() -> None:
    job = ObservedJob()
    for status in ({}, {}, RUNNING, RUNNING):
        job.on_pod(pod(status=status))
    assert [record["phase"] for record in job.take()] == ["Pending", "Running"]
    assert job.take() == []


def test_a_pod_of_an_earlier_attempt_is_not_heard_again() -> None:
    job = ObservedJob()
    job.on_pod(pod("old", status=RUNNING))
    job.on_pod(pod("new", attempt=1, created=LATER))
    job.on_pod(pod("old", status={"phase": "Failed"}))
    job.on_pod_gone(pod("old"))
    assert phases(job) == ["old Running", "new Pending"]


def test_a_gang_that_a_queue_began_anew_counts() -> None:
    job = ObservedJob()
    job.on_pod(pod("old", attempt=2, status=RUNNING))
    job.on_pod_gone(pod("old", attempt=2))
    job.on_pod(pod("new", attempt=0, created=LATER))
    assert phases(job) == ["old Running", "old Failed", "new Pending"]


def test_a_pod_that_ended_and_was_removed_stays_as_it_ended() -> None:
    job = ObservedJob()
    job.on_pod(pod(status={"phase": "Succeeded"}))
    job.take()
    job.on_pod_gone(pod())
    assert job.take() == []
    assert job.pods == []


def test_the_next_server_records_nothing_twice() -> None:
    first = ObservedJob()
    first.on_pod(pod(status=RUNNING))
    first.on_event(event(count=2))
    first.set_status({"restarts": 1})
    first.set_progress({"progressPercentage": 5})
    first.set_links({"wandb": "https://wandb.ai/runs/1"})
    first.set_waiting(Waiting("Unschedulable", "no room"))
    told = [{"seq": seq, "time": TIME, **record} for seq, record in enumerate(first.take())]
    second = ObservedJob(
        [{"type": "agent", "event": "submitted", "uid": "u", "created": TIME}, *told]
    )
    second.on_pod(pod(status=RUNNING))
    second.on_event(event(count=2))
    second.set_status({"restarts": 1})
    second.set_progress({"progressPercentage": 5})
    second.set_links({"wandb": "https://wandb.ai/runs/1"})
    second.set_waiting(Waiting("Unschedulable", "no room"))
    assert second.take() == []
    assert (second.uid, second.created, second.is_over) == ("u", TIME, False)
    second.on_event(event(count=3))
    second.set_waiting(None)
    assert [record["type"] for record in second.take()] == ["event", "waiting"]


def test_an_end_is_remembered() -> None:
    job = ObservedJob()
    job.end(Verdict(True, "AllJobsCompleted", "m"))
    records = job.take()
    assert records == [
        {"type": "end", "succeeded": True, "reason": "AllJobsCompleted", "message": "m"}
    ]
    assert ObservedJob(records).is_over


@dataclass(frozen=True)
class Case:
    name: str
    status: Json
    source: Json | None
    verdict: tuple[bool, str] | None
    is_complete: bool = True


@pytest.mark.parametrize(
    "case",
    [
        Case("new", {}, None, None),
        Case("JobSet done", ended("Completed"), None, (True, "R")),
        Case("JobSet failed", ended("Failed"), None, (False, "R")),
        Case("TrainJob runs", {}, {"status": {}}, None),
        Case("both done", ended("Completed", "J"), {"status": ended("Complete", "T")}, (True, "J")),
        Case(
            "JobSet says it later",
            {"restarts": 0},
            {"status": ended("Failed", "T")},
            (False, "T"),
            is_complete=False,
        ),
        Case(
            "too long",
            {"restarts": 0},
            {"status": ended("Failed", "DeadlineExceeded")},
            (False, "DeadlineExceeded"),
        ),
        Case("MPIJob without a JobSet", {}, {"status": ended("Succeeded", "M")}, (True, "M")),
    ],
    ids=lambda case: case.name,
)
def test_how_a_job_ended(case: Case) -> None:
    verdict, is_complete = verdict_on(case.status, case.source)
    assert (verdict and verdict[:2]) == case.verdict
    assert is_complete == case.is_complete


def test_a_condition_that_is_false_ends_nothing() -> None:
    status = {"conditions": [{"type": "Failed", "status": "False"}]}
    assert verdict_of(status) is None


def test_a_job_is_settled_when_nothing_runs_any_more() -> None:
    over, running = pod(status={"phase": "Failed"}), pod(status=RUNNING)
    counts = {"replicatedJobsStatus": [{"name": "node", "active": 1}]}
    assert is_settled({}, [over])
    assert not is_settled({}, [over, running])
    assert not is_settled(counts, [])


def test_a_suspended_mpijob_is_suspended_in_the_words_of_a_jobset() -> None:
    condition = {"type": "Suspended", "status": "True"}
    other = {"type": "Created", "status": "True"}
    assert mpi_status({"status": {"conditions": [other, condition]}}) == {"conditions": [condition]}
    assert mpi_status({}) == {}


@pytest.mark.parametrize(
    ("kind", "name", "is_ours"),
    [
        ("JobSet", "demo", True),
        ("JobSet", "demo-2", False),
        ("Job", "demo-node-1", True),
        ("Job", "demo-node-2", False),
        ("Job", "demo-2-node-0", False),
        ("Pod", "demo-node-0-3-abcde", True),
        ("Pod", "demo-2-node-0-3-abcde", False),
        ("Pod", "demo-node-0", False),
        ("Job", "demo-launcher", True),
        ("Pod", "demo-worker-3", True),
        ("Pod", "demo-launcher-x7f2k", True),
    ],
)
def test_an_object_of_another_job_is_not_ours(kind: str, name: str, is_ours: bool) -> None:
    assert Names("demo", {"node": 2}).match(kind, name) is is_ours


def test_what_we_tell_ourselves_is_told_once_also_by_the_next_server() -> None:
    job = ObservedJob()
    for _ in range(2):
        job.tell("LogLimitReached", "text", "JobSet/demo")
    (record,) = job.take()
    assert (record["type"], record["reason"], record["eventType"]) == (
        "event",
        "LogLimitReached",
        "Warning",
    )
    later = ObservedJob([{"seq": 0, **record}])
    later.tell("LogLimitReached", "text", "JobSet/demo")
    assert later.take() == []


def test_what_a_pod_used_outlives_the_server_and_is_told_when_memory_runs_out() -> None:
    limited = pod(status=RUNNING)
    limited["spec"] = {
        "nodeName": "n1",
        "containers": [{"name": "main", "resources": {"limits": {"memory": "64Mi"}}}],
    }
    first = ObservedJob()
    first.on_pod(kept(limited))
    assert first.nodes == {"demo-node-0-0-abcde": "n1"}
    assert first.on_readings({"demo-node-0-0-abcde": Reading(50, 32 << 20, "1")}, 0)
    assert not first.on_readings({"demo-node-0-0-abcde": Reading(50, 48 << 20, "2")}, 1)
    killed = {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}
    limited["status"] = {
        "phase": "Failed",
        "containerStatuses": [{"name": "main", "state": killed}],
    }
    first.on_pod(kept(limited))
    told = first.take()
    assert [record["type"] for record in told] == ["pod", "usage", "usage", "pod"]
    assert told[2]["pods"]["node-0-0"]["peakMemory"] == 48 << 20
    said = "its limit is 64.0 MiB and its highest sample was 48.0 MiB"
    assert told[3]["message"] == f"it used more memory than it has: {said}"
    assert first.nodes == {}
    second = ObservedJob(told)
    second.on_pod(kept(limited))
    assert second.take() == []


def test_a_job_that_has_come_from_elsewhere_goes_on_counting() -> None:
    before = {"restarts": 2, "restartsCountTowardsMax": 1}
    known = [
        {"seq": 0, "type": "agent", "event": "started"},
        {"seq": 1, "type": "status", "jobset": before},
        {"seq": 2, "type": "agent", "event": "submitted", "uid": "u"},
    ]
    job = ObservedJob(known)
    job.on_pod(pod(status=RUNNING, attempt=1))
    job.set_status({"restarts": 1, "restartsCountTowardsMax": 1})
    told, status = job.take()

    assert (job.restarts_before, told["attempt"]) == (2, 3)
    assert status["jobset"] == {"restarts": 3, "restartsCountTowardsMax": 2}
    again = ObservedJob([*known, {"seq": 3, **told}, {"seq": 4, **status}])
    again.set_status({"restarts": 1, "restartsCountTowardsMax": 1})
    assert again.take() == []


def test_an_elastic_job_tells_with_how_many_nodes_it_runs() -> None:
    job = ObservedJob(elastic={"node": 2})
    told: list[Json] = []

    def see(rank: int, phase: str) -> list[str]:
        job.on_pod(pod(f"p{rank}", rank=rank, status={"phase": phase}))
        fresh = job.take()
        told.extend(fresh)
        return [f"{each['eventType']} {each['message']}" for each in fresh if "message" in each]

    assert (see(0, "Running"), see(1, "Pending")) == ([], [])
    assert see(1, "Running") == ["Normal runs with 2 of 2 nodes"]
    assert see(1, "Failed") == ["Warning runs with 1 of 2 nodes"]
    job = ObservedJob([{"seq": n, **each} for n, each in enumerate(told)], {"node": 2})
    assert see(1, "Failed") == []
    assert see(1, "Running") == ["Normal runs with 2 of 2 nodes"]
    assert (see(1, "Succeeded"), see(0, "Succeeded")) == ([], [])


def test_a_size_is_written_down_once_by_whatever_server() -> None:
    job = ObservedJob(elastic={"node": 3})
    job.set_status({"restarts": 1})
    job.set_size(2)
    job.set_size(2)
    told = job.take()
    assert told[1:] == [{"type": "status", "jobset": {"restarts": 1}, "nodes": 2}]

    job = ObservedJob([{"seq": n, **each} for n, each in enumerate(told)], {"node": 3})
    job.set_size(2)
    assert job.take() == []
    job.set_size(3)
    assert [each["nodes"] for each in job.take()] == [3]


def test_a_pod_that_went_while_nobody_watched_is_lost() -> None:
    job = ObservedJob()
    for rank, phase in enumerate(["Running", "Running", "Succeeded"]):
        job.on_pod(pod(f"p{rank}", rank=rank, status={"phase": phase}))
    known = [{"seq": n, **each} for n, each in enumerate(job.take())]

    job = ObservedJob(known)
    job.on_pod(pod("p0", rank=0, status={"phase": "Running"}))
    job.miss_pods()

    (lost,) = job.take()
    assert (lost["pod"], lost["phase"], lost["reason"]) == ("node-0-1", "Failed", "Deleted")


def test_a_pod_that_was_taken_away_has_failed() -> None:
    job = ObservedJob()
    job.on_pod(taken(0))
    assert "was taken from its node" in job.interruption(
        ["node"], Verdict(True, "AllJobsCompleted", "")
    )
    (record,) = job.take()
    assert (record["phase"], record["reason"]) == ("Failed", "EvictionByEvictionAPI")


def test_a_job_that_failed_because_somebody_deleted_a_pod_names_it() -> None:
    job, failed = ObservedJob(), Verdict(False, "FailedJobs", "one job failed")
    job.on_pod(pod("p0", status={"phase": "Running"}))
    job.on_pod_gone(pod("p0", status={"phase": "Running"}))
    named = "one job failed; p0 was deleted before it was done"
    assert job.interruption(["node"], failed) == "", "it counts, as for JobSet"
    assert job.explained(["node"], failed).message == named
    assert ObservedJob(job.take()).explained(["node"], failed).message == named
    late = Verdict(False, "DeadlineExceeded", "its time is up")
    assert job.explained(["node"], late) == late
    done = Verdict(True, "AllJobsCompleted", "")
    assert job.explained(["node"], done) == done


def sick(name: str = "p0", node: str = "n3", attempt: int = 0) -> Json:
    """A pod that ended because its node failed the health check."""
    ended = {"exitCode": 71, "message": "nvidia-smi exited with 9"}
    check = {"name": "trainway-health-check", "state": {"terminated": ended}}
    made = pod(name, attempt=attempt, status={"phase": "Failed", "initContainerStatuses": [check]})
    made["spec"]["nodeName"] = node
    return made


def test_a_node_that_fails_the_health_check_is_named_once() -> None:
    job = ObservedJob()
    job.on_pod(sick())
    job.on_pod(sick() | {"spec": {"nodeName": "n3", "containers": []}})
    why = "node n3 failed its health check: nvidia-smi exited with 9"
    record, event = job.take()
    assert (record["reason"], record["phase"]) == ("HealthCheckFailed", "Failed")
    assert (event["reason"], event["object"], event["message"]) == ("NodeSetAside", "Node/n3", why)
    assert job.why_sick == why
    again = ObservedJob([record, event])
    again.on_pod(sick())
    assert (again.take(), again.why_sick) == ([], why)
    submitted = {"type": "agent", "event": SUBMITTED}
    assert ObservedJob([record, event, submitted]).why_sick == "", "it has begun again since"
