from dataclasses import dataclass, field
from typing import Any

import pytest

from trainway.agent.base.plan import Plan
from trainway.agent.controllers.conditions import condition, set_condition
from trainway.agent.controllers.jobset import JobSet
from trainway.agent.controllers.jobset_controller import reconcile
from trainway.agent.controllers.lingering import delays
from trainway.json_types import Json

NOW = 10.0


def make(*roles: Json, **spec: Any) -> JobSet:
    jobset = {"metadata": {"name": "js"}, "spec": {"replicatedJobs": list(roles), **spec}}
    return JobSet(Plan({"version": 1, "id": "x", "name": "js", "jobset": jobset}))


def role(name: str, **more: Any) -> Json:
    job = {"completionMode": "Indexed", "completions": 2, "parallelism": 2}
    return {"name": name, "template": {"spec": job}, **more}


def step(jobset: JobSet, **jobs: str) -> None:
    """Let Jobs come to a state, then reconcile; underscores stand for dashes."""
    for name, state in jobs.items():
        job = jobset.jobs[f"js-{name.replace('_', '-')}"]
        job.active = 2
        if state == "ready":
            job.ready = 2
        elif state == "complete":
            end(job.conditions, "Complete", "CompletionsReached", "")
        else:
            reason, _, message = state.partition(": ")
            end(job.conditions, "Failed", reason, message)
    reconcile(jobset, NOW)


def end(conditions: list[Json], type_: str, reason: str, message: str) -> None:
    set_condition(conditions, condition(type_, True, reason, message, NOW))


def drop_deleted(jobset: JobSet) -> None:
    """What happens when the last pods of deleted Jobs are gone."""
    jobset.jobs = {name: job for name, job in jobset.jobs.items() if not job.deleting}


def summary(jobset: JobSet) -> dict[str, str]:
    return {c["type"]: c["reason"] for c in jobset.conditions if c["status"] == "True"}


def names(jobset: JobSet) -> set[str]:
    return {name for name, job in jobset.jobs.items() if not job.deleting}


def test_all_jobs_are_made_at_once() -> None:
    jobset = make(role("a", replicas=2), role("b"))
    step(jobset)
    assert names(jobset) == {"js-a-0", "js-a-1", "js-b-0"}
    assert summary(jobset) == {}


def test_complete_when_all_jobs_are() -> None:
    jobset = make(role("a"), role("b"))
    step(jobset)
    step(jobset, a_0="complete")
    assert not jobset.finished
    step(jobset, b_0="complete")
    assert jobset.outcome() == (True, "AllJobsCompleted", "jobset completed successfully")
    counts = {"ready": 0, "succeeded": 1, "failed": 0, "active": 0, "suspended": 0}
    assert jobset.status()["replicatedJobsStatus"] == [
        {"name": "a", **counts},
        {"name": "b", **counts},
    ]


@pytest.mark.parametrize(
    ("policy", "done"),
    [
        ({"operator": "Any"}, "b_0"),
        ({"operator": "Any", "targetReplicatedJobs": ["a"]}, "a_0"),
        ({"operator": "All", "targetReplicatedJobs": ["a"]}, "a_0"),
    ],
    ids=["any", "any of some", "all of some"],
)
def test_success_policy_ends_the_others(policy: Json, done: str) -> None:
    jobset = make(role("a"), role("b"), successPolicy=policy)
    step(jobset)
    step(jobset, a_0="ready", b_0="ready")
    step(jobset, **{done: "complete"})
    assert jobset.terminal_state == "Completed"
    assert [job.deleting for job in jobset.jobs.values()].count(True) == 1


def test_success_of_another_role_is_not_enough() -> None:
    policy = {"operator": "Any", "targetReplicatedJobs": ["a"]}
    jobset = make(role("a"), role("b"), successPolicy=policy)
    step(jobset)
    step(jobset, b_0="complete")
    assert not jobset.finished


@dataclass(frozen=True)
class Failure:
    """What becomes of a JobSet whose Job worker-0 fails."""

    name: str
    policy: Json | None
    failure: str = "BackoffLimitExceeded: Job has reached the specified backoff limit"
    reason: str = ""
    restarts: int = 0
    counted: int = 0
    job_restarts: list[int] | None = None
    conditions: Json = field(default_factory=dict)


def rule(action: str, **more: Any) -> Json:
    return {"maxRestarts": 3, "rules": [{"name": "r1", "action": action, **more}]}


FAILURES = (
    Failure("no policy", None, reason="FailedJobs"),
    Failure("no restarts left", {"maxRestarts": 0}, reason="ReachedMaxRestarts"),
    Failure(
        "restarts",
        {"maxRestarts": 1},
        restarts=1,
        counted=1,
        conditions={"RestartingJobSet": "DefaultFailurePolicy"},
    ),
    Failure("a rule fails it", rule("FailJobSet"), reason="FailJobSetFailurePolicyAction"),
    Failure(
        "a rule restarts it",
        rule("RestartJobSet"),
        restarts=1,
        counted=1,
        conditions={"RestartingJobSet": "FailurePolicy_r1"},
    ),
    Failure(
        "a rule restarts it for free",
        {**rule("RestartJobSetAndIgnoreMaxRestarts"), "maxRestarts": 0},
        restarts=1,
        conditions={"RestartingJobSet": "FailurePolicy_r1"},
    ),
    Failure("a rule restarts the job", rule("RestartJob"), job_restarts=[1]),
    Failure(
        "a rule restarts the job for free",
        {**rule("RestartJobAndIgnoreMaxRestarts"), "maxRestarts": 0},
        job_restarts=[1],
    ),
    Failure(
        "restarts of jobs count too", {**rule("RestartJob"), "maxRestarts": 0},
        reason="ReachedMaxRestarts",
    ),
    Failure(
        "a rule for the reason",
        rule("FailJobSet", onJobFailureReasons=["BackoffLimitExceeded"]),
        reason="FailJobSetFailurePolicyAction",
    ),
    Failure(
        "a rule for another reason",
        rule("FailJobSet", onJobFailureReasons=["DeadlineExceeded"]),
        restarts=1,
        counted=1,
        conditions={"RestartingJobSet": "DefaultFailurePolicy"},
    ),
    Failure(
        "a rule for the message",
        rule("FailJobSet", onJobFailureMessagePatterns=["nothing", "exit code 4[0-9]"]),
        failure="PodFailurePolicy: Container main failed with exit code 42",
        reason="FailJobSetFailurePolicyAction",
    ),
    Failure(
        "a pattern that cannot be read",
        rule("FailJobSet", onJobFailureMessagePatterns=["("]),
        restarts=1,
        counted=1,
        conditions={"RestartingJobSet": "DefaultFailurePolicy"},
    ),
    Failure(
        "a rule for the role",
        rule("FailJobSet", targetReplicatedJobs=["worker"]),
        reason="FailJobSetFailurePolicyAction",
    ),
    Failure(
        "a rule for another role",
        rule("FailJobSet", targetReplicatedJobs=["leader"]),
        restarts=1,
        counted=1,
        conditions={"RestartingJobSet": "DefaultFailurePolicy"},
    ),
)  # fmt: skip


@pytest.mark.parametrize("case", FAILURES, ids=lambda case: case.name)
def test_failure(case: Failure) -> None:
    jobset = make(role("leader"), role("worker"), failurePolicy=case.policy)
    step(jobset)
    step(jobset, worker_0=case.failure)
    wanted = {"Failed": case.reason} if case.reason else case.conditions
    assert summary(jobset) == wanted
    assert (jobset.restarts, jobset.restarts_count_towards_max) == (case.restarts, case.counted)
    assert jobset.job_restarts.get("worker") == case.job_restarts
    leader_goes = bool(case.reason) or case.restarts > 0
    assert jobset.jobs["js-leader-0"].deleting == leader_goes
    assert jobset.jobs["js-worker-0"].deleting == (not case.reason)
    if case.reason:
        assert jobset.outcome()[2].endswith("(first failed job: js-worker-0)")


def test_restart_waits_for_the_name_to_be_free() -> None:
    jobset = make(role("a"), role("b"), failurePolicy={"maxRestarts": 1})
    step(jobset)
    step(jobset, a_0="ready", b_0="BackoffLimitExceeded: x")
    assert names(jobset) == set()
    del jobset.jobs["js-b-0"]
    step(jobset)
    assert names(jobset) == {"js-b-0"}
    assert jobset.jobs["js-b-0"].attempt == 1
    del jobset.jobs["js-a-0"]
    step(jobset)
    step(jobset, a_0="ready", b_0="ready")
    assert summary(jobset) == {}


def test_blocking_recreate_waits_for_all() -> None:
    policy = {"maxRestarts": 1, "restartStrategy": "BlockingRecreate"}
    jobset = make(role("a"), role("b"), failurePolicy=policy)
    step(jobset)
    step(jobset, a_0="ready", b_0="BackoffLimitExceeded: x")
    del jobset.jobs["js-b-0"]
    step(jobset)
    assert names(jobset) == set()
    del jobset.jobs["js-a-0"]
    step(jobset)
    assert names(jobset) == {"js-a-0", "js-b-0"}


def test_restarted_job_leaves_the_others_alone() -> None:
    jobset = make(role("a", replicas=2), failurePolicy=rule("RestartJob"))
    step(jobset)
    step(jobset, a_1="BackoffLimitExceeded: x")
    drop_deleted(jobset)
    step(jobset)
    assert (jobset.jobs["js-a-0"].job_attempt, jobset.jobs["js-a-1"].job_attempt) == (0, 1)
    assert jobset.status()["replicatedJobsStatus"][0]["jobRestarts"] == [0, 1]


def test_the_first_failure_is_named() -> None:
    jobset = make(role("a"), role("b"))
    step(jobset)
    jobset.jobs["js-b-0"].conditions.append(condition("Failed", True, "R", "m", 3.0))
    jobset.jobs["js-a-0"].conditions.append(condition("Failed", True, "R", "m", 5.0))
    step(jobset)
    assert "js-b-0" in jobset.outcome()[2]


@pytest.mark.parametrize(("status", "state"), [("Complete", "complete"), ("Ready", "ready")])
def test_depends_on(status: str, state: str) -> None:
    after = [{"name": "a", "status": status}]
    jobset = make(role("a"), role("b", dependsOn=after), failurePolicy={"maxRestarts": 1})
    step(jobset)
    assert names(jobset) == {"js-a-0"}
    step(jobset, a_0=state)
    assert names(jobset) == {"js-a-0", "js-b-0"}
    step(jobset, b_0="BackoffLimitExceeded: x")
    drop_deleted(jobset)
    step(jobset)
    assert names(jobset) == {"js-a-0"}


def test_ready_is_not_complete() -> None:
    after = [{"name": "a", "status": "Complete"}]
    jobset = make(role("a"), role("b", dependsOn=after))
    step(jobset)
    step(jobset, a_0="ready")
    assert names(jobset) == {"js-a-0"}


def test_startup_in_order() -> None:
    startup = {"startupPolicyOrder": "InOrder"}
    jobset = make(role("a", replicas=2), role("b"), startupPolicy=startup)
    step(jobset)
    step(jobset, a_0="ready")
    assert names(jobset) == {"js-a-0", "js-a-1"}
    assert summary(jobset) == {"StartupPolicyInProgress": "InOrderStartupPolicyInProgress"}
    step(jobset, a_1="ready")
    assert names(jobset) == {"js-a-0", "js-a-1", "js-b-0"}
    step(jobset, b_0="ready")
    assert summary(jobset) == {"StartupPolicyCompleted": "InOrderStartupPolicyCompleted"}


def test_suspend_and_resume() -> None:
    jobset = make(role("a"), role("b"), suspend=True)
    step(jobset)
    step(jobset)
    assert all(job.suspend for job in jobset.jobs.values())
    assert jobset.counts["a"]["suspended"] == 1
    assert summary(jobset) == {"Suspended": "SuspendedJobs"}
    jobset.suspend = False
    step(jobset)
    assert not any(job.suspend for job in jobset.jobs.values())
    assert jobset.conditions[0]["reason"] == "ResumeJobs"
    jobset.suspend = True
    step(jobset)
    assert all(job.suspend for job in jobset.jobs.values())


def test_resume_in_order() -> None:
    startup = {"startupPolicyOrder": "InOrder"}
    jobset = make(role("a"), role("b"), startupPolicy=startup, suspend=True)
    step(jobset)
    jobset.suspend = False
    step(jobset)
    assert [job.suspend for job in jobset.jobs.values()] == [False, True]
    step(jobset, a_0="ready")
    assert [job.suspend for job in jobset.jobs.values()] == [False, False]


def test_in_place_restart_recreates() -> None:
    policy = {"maxRestarts": 1, "restartStrategy": "InPlaceRestart"}
    big = role("a")
    big["template"]["spec"]["backoffLimit"] = 2**31 - 1
    assert make(big, failurePolicy=policy).roles[0].job.backoff_limit == 0


def test_status_survives_the_journal() -> None:
    jobset = make(role("a", replicas=2), failurePolicy=rule("RestartJob"))
    step(jobset)
    step(jobset, a_1="BackoffLimitExceeded: x", a_0="ready")
    again = make(role("a", replicas=2))
    again.restore(jobset.status())
    assert again.status() == jobset.status()
    assert again.restarts_of("a", 1) == 1


def test_every_change_of_a_condition_is_told() -> None:
    jobset = make(role("a"), failurePolicy={"maxRestarts": 1})
    step(jobset)
    step(jobset, a_0="BackoffLimitExceeded: x")
    assert [(kind, reason) for kind, reason, _ in jobset.events] == [
        ("Warning", "DefaultFailurePolicy"),
        ("Warning", "RestartJobSetFailurePolicyAction"),
    ]


def test_who_may_linger_goes_on_after_the_success() -> None:
    policy = {"operator": "All", "targetReplicatedJobs": ["main"]}
    jobset = make(role("main"), role("short"), role("long"), role("other"), successPolicy=policy)
    jobset.delays = {"short": 5.0, "long": 20.0}
    step(jobset)
    step(jobset, main_0="complete")
    assert not jobset.finished
    assert names(jobset) == {"js-main-0", "js-short-0", "js-long-0"}
    assert jobset.wake_at == NOW + 5
    drop_deleted(jobset)
    reconcile(jobset, NOW + 5)
    assert names(jobset) == {"js-main-0", "js-long-0"}
    assert jobset.wake_at == NOW + 20
    reconcile(jobset, NOW + 20)
    assert jobset.outcome() == (True, "AllJobsCompleted", "jobset completed successfully")
    assert names(jobset) == {"js-main-0"}
    assert jobset.wake_at is None


@pytest.mark.parametrize("state", ["complete", "BackoffLimitExceeded: it failed"])
def test_who_lingers_may_end_earlier_in_any_way(state: str) -> None:
    policy = {"operator": "All", "targetReplicatedJobs": ["main"]}
    jobset = make(role("main"), role("other"), successPolicy=policy)
    jobset.delays = {"other": 60.0}
    step(jobset)
    step(jobset, main_0="complete")
    assert not jobset.finished
    step(jobset, other_0=state)
    assert jobset.outcome()[0]


def test_who_may_linger_fails_the_jobset_before_its_success() -> None:
    policy = {"operator": "All", "targetReplicatedJobs": ["main"]}
    jobset = make(role("main"), role("other"), successPolicy=policy)
    jobset.delays = {"other": 60.0}
    step(jobset)
    step(jobset, other_0="BackoffLimitExceeded: it failed")
    assert not jobset.outcome()[0]
    assert jobset.finished


def test_delays_are_read_from_the_annotation() -> None:
    metadata = {"annotations": {"trainway.dev/termination-delays": '{"other": 60}'}}
    assert delays(metadata) == {"other": 60.0}
    assert delays({}) == {}
    for text in ("x", "[]", '{"a": "b"}'):
        assert delays({"annotations": {"trainway.dev/termination-delays": text}}) == {}
