from typing import Any

import pytest

from trainway.engine.observation import Observation
from trainway.engine.phases import Phase
from trainway.engine.testing import jobset
from trainway.json_types import Json

TIME = "2026-11-15T05:10:00.000001Z"


def pod(phase: str, attempt: int = 0, name: str = "node-0-0", **container: Any) -> Json:
    return {
        "seq": 0,
        "time": TIME,
        "type": "pod",
        "pod": name,
        "attempt": attempt,
        "phase": phase,
        "ready": phase == "Running",
        "containers": [{"name": "main", "restarts": 0, **_started(phase), **container}],
    }


def _started(phase: str) -> Json:
    return {} if phase == "Pending" else {"startedAt": TIME}


def status(**fields: Any) -> Json:
    return {"type": "status", "jobset": fields}


def end(succeeded: bool, reason: str) -> Json:
    return {"type": "end", "time": TIME, "succeeded": succeeded, "reason": reason, "message": "m"}


def observed(*records: Json) -> Observation:
    observation = Observation()
    observation.fold(records)
    return observation


QUEUED = {"type": "waiting", "reason": "NoRoom", "message": "m", "position": 1}
PLACED = {"type": "placement", "hosts": {"node-0-0": "h0"}}
SUSPENDED = status(conditions=[{"type": "Suspended", "status": "True"}])


@pytest.mark.parametrize(
    ("records", "phase"),
    [
        ([], Phase.STARTING),
        ([pod("Pending")], Phase.STARTING),
        ([pod("Running")], Phase.RUNNING),
        ([pod("Running"), pod("Failed")], Phase.RUNNING),
        ([pod("Running"), pod("Failed"), status(restarts=1)], Phase.RESTARTING),
        ([pod("Running"), status(restarts=1), pod("Pending", 1)], Phase.RESTARTING),
        ([pod("Running"), status(restarts=1), pod("Running", 1)], Phase.RUNNING),
        ([SUSPENDED], Phase.PAUSED),
        ([pod("Running"), SUSPENDED], Phase.PAUSED),
        ([QUEUED], Phase.QUEUED),
        ([QUEUED, PLACED], Phase.STARTING),
        ([QUEUED, PLACED, pod("Running")], Phase.RUNNING),
        ([pod("Running"), SUSPENDED, status(), QUEUED], Phase.QUEUED),
        ([pod("Running"), status(restarts=1), QUEUED], Phase.RESTARTING),
        ([pod("Succeeded")], Phase.RUNNING),
        ([pod("Running"), end(True, "AllJobsCompleted")], Phase.SUCCEEDED),
        ([pod("Running"), end(False, "FailedJobs")], Phase.FAILED),
        ([pod("Running"), end(False, "Cancelled")], Phase.CANCELLED),
    ],
)
def test_phases(records: list[Json], phase: Phase) -> None:
    assert observed(*records).phase == phase


def test_a_pod_becomes_a_node() -> None:
    record = pod("Failed", 2, "my-role-1-3", exitCode=7, restarts=4, startedAt=TIME)
    assert observed(record).nodes["my-role-1-3"] == {
        "role": "my-role",
        "job": 1,
        "rank": 3,
        "phase": "Failed",
        "ready": False,
        "restarts": 4,
        "attempt": 2,
        "exitCode": 7,
        "startTime": TIME,
        "endTime": TIME,
    }


def test_a_pod_that_runs_has_no_exit_code_though_an_init_container_has() -> None:
    record = pod("Running", exitCode=0)
    assert "exitCode" not in observed(record).nodes["node-0-0"]


def test_a_pod_that_goes_on_tells_how_its_container_failed_before() -> None:
    last = {"exitCode": 137, "reason": "OOMKilled"}
    node = observed(pod("Running", lastState=last)).nodes["node-0-0"]
    assert (node["lastExitCode"], node["lastReason"]) == (137, "OOMKilled")
    assert "lastExitCode" not in observed(pod("Failed", lastState=last)).nodes["node-0-0"]
    between = observed(pod("Running", exitCode=3)).nodes["node-0-0"]
    assert (between["lastExitCode"], "exitCode" in between) == (3, False)


@pytest.mark.parametrize(
    ("last", "code"),
    [(end(True, ""), 0), (end(False, "FailedJobs"), 9), ({"type": "other"}, None)],
)
def test_the_exit_code_is_that_of_the_pod_that_failed(last: Json, code: int | None) -> None:
    ended = pod("Succeeded", name="node-0-0", exitCode=0)
    failed = pod("Failed", name="node-0-1", exitCode=9)
    assert observed(ended, failed, last).exit_code == code


def test_the_exit_code_is_that_of_the_pod_that_failed_first() -> None:
    later = "2026-11-15T05:10:09.000001Z"
    stopped = pod("Failed", name="node-0-0", exitCode=143) | {"time": later}
    failed = pod("Failed", name="node-0-1", exitCode=9)
    again = failed | {"time": "2026-11-15T05:10:10.000001Z", "reason": "told again"}
    assert observed(failed, stopped, again, end(False, "FailedJobs")).exit_code == 9


def test_why_a_job_waits() -> None:
    queued = {"type": "waiting", "reason": "Queued", "message": "m", "queue": "q", "position": 2}
    suspended = status(conditions=[{"type": "Suspended", "status": "True"}])
    observation = observed(queued, suspended)
    assert observation.phase == Phase.QUEUED
    assert Observation.of(observation.to_dict(), "").waiting == {
        "reason": "Queued",
        "message": "m",
        "queue": "q",
        "position": 2,
    }
    observation.fold([{"type": "waiting", "reason": ""}])
    assert (observation.waiting, observation.phase) == ({}, Phase.PAUSED)
    assert "waiting" not in observation.to_dict()
    unscheduled = {"type": "waiting", "reason": "Unschedulable", "message": "no room"}
    assert observed(unscheduled).phase == Phase.STARTING


SUSPENDED = {"conditions": [{"type": "Suspended", "status": "True"}]}


def test_a_job_that_its_queue_can_never_admit_is_inadmissible() -> None:
    held = {"type": "status", "jobset": SUSPENDED}
    never = {"type": "waiting", "reason": "Inadmissible", "message": "no such", "queue": "team"}
    assert observed(held, never).phase == Phase.INADMISSIBLE
    assert observed(held, never | {"reason": "Queued"}).phase == Phase.QUEUED


def test_a_job_that_its_queue_took_back_does_not_run_and_its_time_does_not_count() -> None:
    waits = {"type": "waiting", "reason": "Queued", "message": "preempted", "queue": "team"}
    taken = observed(
        pod("Running", startedAt=TIME),
        {"type": "status", "jobset": SUSPENDED},
        waits,
        pod("Failed", exitCode=143, startedAt=TIME) | {"deleted": True},
    )
    assert (taken.phase, taken.started, taken.culprit) == (Phase.QUEUED, "", {})
    node = taken.nodes["node-0-0"]
    assert (node["phase"], node["ready"], "exitCode" in node) == ("Pending", False, False)

    taken.fold(
        [
            {"type": "status", "jobset": {}},
            {"type": "waiting", "reason": ""},
            pod("Running", startedAt="2026-11-15T06:00:00Z"),
        ]
    )
    assert (taken.phase, taken.started) == (Phase.RUNNING, "2026-11-15T06:00:00Z")


def test_a_pod_of_a_pool_has_a_host() -> None:
    assert observed({**pod("Running"), "host": "h0"}).nodes["node-0-0"]["host"] == "h0"
    assert "host" not in observed(pod("Running")).nodes["node-0-0"]


def test_links_are_no_progress() -> None:
    progress = {"type": "progress", "trainerStatus": {"progressPercentage": 5}}
    linked = {"type": "progress", "trainerStatus": {"links": {"wandb": "https://wandb.ai/1"}}}
    observation = observed(progress, linked)
    assert observation.progress == {"progressPercentage": 5}
    assert observation.links == {"wandb": "https://wandb.ai/1"}


def test_events_and_progress() -> None:
    told = {
        "type": "event",
        "time": TIME,
        "eventType": "Warning",
        "reason": "R",
        "message": "m",
        "object": "JobSet/a",
    }
    lost = {"type": "agent", "time": TIME, "event": "recovered"}
    progress = {"type": "progress", "trainerStatus": {"progressPercentage": 5}}
    observation = observed(told, lost, progress)
    assert [(e.type, e.reason, e.object) for e in observation.events] == [
        ("Warning", "R", "JobSet/a"),
        ("Warning", "AgentLost", ""),
    ]
    assert observation.progress == {"progressPercentage": 5}


def test_watching_goes_on_from_what_was_stored() -> None:
    first = observed(pod("Running"), status(restarts=1))
    second = Observation.of(first.to_dict(), first.started)
    assert (second.phase, second.nodes, second.restarts) == (first.phase, first.nodes, 1)


def test_every_pod_is_there_before_it_runs() -> None:
    planned = Observation.planned(jobset(pods=2)["spec"])
    assert list(planned.nodes) == ["node-0-0", "node-0-1"]
    assert planned.phase == Phase.STARTING


def test_what_a_pod_uses_is_known_until_its_next_attempt() -> None:
    used = {"cpu": 99.5, "memory": 2**30, "peakMemory": 2**31}
    usage = {"type": "usage", "seq": 4, "time": TIME, "pods": {"node-0-0": used, "other-0-0": used}}
    running = observed(pod("Running"), usage, pod("Running", restarts=1))
    assert running.nodes["node-0-0"]["usage"] == used
    assert list(running.nodes) == ["node-0-0"]
    ((seq, report),) = running.reports
    assert seq == 4
    assert report.values == {"system/cpu@node-0": 99.5, "system/memory@node-0": 2**30}
    running.fold([pod("Running", attempt=1)])
    assert "usage" not in running.nodes["node-0-0"]


def test_an_idle_gpu_is_remembered_until_it_works_or_its_pod_ends() -> None:
    event = {"type": "event", "eventType": "Warning", "object": "Pod/node-0-0", "time": TIME}
    idle = {**event, "reason": "GPUIdle", "message": "GPU 0 has been idle for 10 minutes"}
    seen = observed(pod("Running"), idle)
    assert seen.idle_gpu == "GPU 0 has been idle for 10 minutes (node-0-0)"
    assert Observation.of(seen.to_dict(), "").idle_gpu == seen.idle_gpu
    assert not observed(idle, {**event, "reason": "GPUBusy", "message": "m"}).idle_gpu
    assert not observed(idle, pod("Failed")).idle_gpu


def test_restarts_at_other_places_are_not_told_again() -> None:
    observed = Observation()
    status = {"restarts": 2, "restartsCountTowardsMax": 1}
    observed.fold([{"type": "status", "jobset": status, "before": True}])
    assert (observed.restarts, observed.events, observed.endings) == (2, [], [])
    observed.fold([{"type": "status", "jobset": {**status, "restarts": 3}}])
    assert [each["attempt"] for each in observed.endings] == [2]
