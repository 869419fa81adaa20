from dataclasses import dataclass, field
from typing import Any

import pytest

from trainway.backends.kubernetes.plain_status import Step, status_of, steps, with_ready
from trainway.backends.kubernetes.testing import TIME, plain_job, pod
from trainway.json_types import Json


def policy(*roles: str, **more: Any) -> Json:
    """Roles of one Job each; `depends` has for a role what it waits for."""
    depends = more.pop("depends", {})
    return {
        "roles": [
            {"name": role, "replicas": 1, "dependsOn": depends.get(role, [])} for role in roles
        ],
        "inOrder": False,
        "successPolicy": {},
        "failing": [],
        **more,
    }


RUNNING = {"active": 1, "ready": 1}
ANY = {"operator": "Any", "targetReplicatedJobs": ["launcher"]}
BOTH = ("launcher", "worker")


@dataclass(frozen=True)
class Case:
    name: str
    policy: Json
    jobs: list[Json]
    end: tuple[str, str] | None = None
    counts: Json = field(default_factory=dict)
    """Those that are not 0."""
    steps: list[Step] = field(default_factory=list)
    held: bool = False


@pytest.mark.parametrize(
    "case",
    [
        Case("made", policy("node"), [plain_job()]),
        Case("none yet", policy("node"), []),
        Case(
            "runs",
            policy("node"),
            [plain_job(status=RUNNING)],
            counts={"node": {"ready": 1, "active": 1}},
        ),
        Case(
            "done",
            policy("node"),
            [plain_job(end="Complete")],
            ("Completed", "AllJobsCompleted"),
            {"node": {"succeeded": 1}},
        ),
        Case(
            "one of two done",
            policy(*BOTH),
            [plain_job("launcher", end="Complete"), plain_job("worker", status=RUNNING)],
            counts={"launcher": {"succeeded": 1}, "worker": {"ready": 1, "active": 1}},
        ),
        Case(
            "the launcher is enough",
            policy(*BOTH, successPolicy=ANY),
            [plain_job("launcher", end="Complete"), plain_job("worker", status=RUNNING)],
            ("Completed", "AllJobsCompleted"),
            {"launcher": {"succeeded": 1}, "worker": {"ready": 1, "active": 1}},
            [Step("delete", "demo-worker-0")],
        ),
        Case(
            "one failed",
            policy(*BOTH),
            [plain_job("launcher", status=RUNNING), plain_job("worker", end="Failed")],
            ("Failed", "FailedJobs"),
            {"launcher": {"ready": 1, "active": 1}, "worker": {"failed": 1}},
            [Step("delete", "demo-launcher-0")],
        ),
        Case(
            "a rule fails it",
            policy("node", failing=[{"onJobFailureReasons": ["PodFailurePolicy"]}]),
            [plain_job(end="Failed", why={"reason": "PodFailurePolicy"})],
            ("Failed", "FailJobSetFailurePolicyAction"),
            {"node": {"failed": 1}},
        ),
        Case(
            "a rule for another role",
            policy(*BOTH, failing=[{"targetReplicatedJobs": ["worker"]}]),
            [plain_job("launcher", end="Failed")],
            ("Failed", "FailedJobs"),
            {"launcher": {"failed": 1}},
        ),
        Case(
            "waits for the other to be ready",
            policy(*BOTH, depends={"worker": [{"name": "launcher", "status": "Ready"}]}),
            [plain_job("launcher"), plain_job("worker", spec={"suspend": True})],
            counts={"worker": {"suspended": 1}},
        ),
        Case(
            "the other is ready",
            policy(*BOTH, depends={"worker": [{"name": "launcher", "status": "Ready"}]}),
            [
                plain_job("launcher", status=RUNNING),
                plain_job("worker", spec={"suspend": True}),
            ],
            counts={"launcher": {"ready": 1, "active": 1}, "worker": {"suspended": 1}},
            steps=[Step("start", "demo-worker-0")],
        ),
        Case(
            "ready is not complete",
            policy(*BOTH, depends={"worker": [{"name": "launcher", "status": "Complete"}]}),
            [
                plain_job("launcher", status=RUNNING),
                plain_job("worker", spec={"suspend": True}),
            ],
            counts={"launcher": {"ready": 1, "active": 1}, "worker": {"suspended": 1}},
        ),
        Case(
            "in order",
            policy(*BOTH, inOrder=True),
            [
                plain_job("launcher", status=RUNNING),
                plain_job("worker", spec={"suspend": True}),
            ],
            counts={"launcher": {"ready": 1, "active": 1}, "worker": {"suspended": 1}},
            steps=[Step("start", "demo-worker-0")],
        ),
        Case(
            "suspended",
            policy("node"),
            [plain_job(spec={"suspend": True})],
            counts={"node": {"suspended": 1}},
            held=True,
        ),
        Case(
            "to be suspended",
            policy("node"),
            [plain_job(status=RUNNING)],
            counts={"node": {"ready": 1, "active": 1}},
            steps=[Step("suspend", "demo-node-0")],
            held=True,
        ),
        Case(
            "to be resumed",
            policy("node"),
            [plain_job(spec={"suspend": True})],
            counts={"node": {"suspended": 1}},
            steps=[Step("start", "demo-node-0")],
        ),
        Case(
            "being deleted",
            policy(*BOTH, successPolicy=ANY),
            [
                plain_job("launcher", end="Complete"),
                plain_job("worker", metadata={"deletionTimestamp": TIME,
                          "labels": {"jobset.sigs.k8s.io/replicatedjob-name": "worker"}}),
            ],
            ("Completed", "AllJobsCompleted"),
            {"launcher": {"succeeded": 1}},
        ),
    ],
    ids=lambda case: case.name,
)  # fmt: skip
def test_what_the_jobs_of_a_set_come_to(case: Case) -> None:
    status = status_of(case.policy, case.jobs, {}, is_suspended=case.held)
    found = {item.pop("name"): _nonzero(item) for item in map(dict, status["replicatedJobsStatus"])}
    assert {name: counts for name, counts in found.items() if counts} == case.counts
    conditions = status.get("conditions") or []
    ends = [(item["type"], item["reason"]) for item in conditions if item["type"] != "Suspended"]
    assert ends == ([case.end] if case.end else [])
    assert any(item["type"] == "Suspended" for item in conditions) == case.held
    assert steps(case.policy, case.jobs, status, is_suspended=case.held) == case.steps


def _nonzero(counts: Json) -> Json:
    return {name: number for name, number in counts.items() if number}


def test_an_end_stays_when_the_other_jobs_are_gone() -> None:
    gang = policy(*BOTH, successPolicy=ANY)
    jobs = [plain_job("launcher", end="Complete"), plain_job("worker", status=RUNNING)]
    ended = status_of(gang, jobs, {}, is_suspended=False)
    later = status_of(gang, jobs[:1], ended, is_suspended=False)
    assert later["conditions"] == ended["conditions"]
    assert [item["active"] for item in later["replicatedJobsStatus"]] == [0, 0]


def test_a_set_that_was_suspended_says_that_it_is_no_more() -> None:
    jobs = [plain_job(spec={"suspend": True})]
    held = status_of(policy("node"), jobs, {}, is_suspended=True)
    assert held["conditions"][0]["status"] == "True"
    again = status_of(policy("node"), jobs, held, is_suspended=True)
    assert again["conditions"] == held["conditions"]
    resumed = status_of(policy("node"), [plain_job()], held, is_suspended=False)
    assert [(item["type"], item["status"]) for item in resumed["conditions"]] == [
        ("Suspended", "False")
    ]


def test_a_failure_names_the_job_that_failed_first() -> None:
    early = {"lastTransitionTime": "2026-11-15T04:00:00Z"}
    jobs = [plain_job("launcher", end="Failed"), plain_job("worker", end="Failed", why=early)]
    condition = status_of(policy(*BOTH), jobs, {}, is_suspended=False)["conditions"][0]
    assert condition["message"].endswith("(first failed job: demo-worker-0)")
    assert condition["lastTransitionTime"] == early["lastTransitionTime"]


def test_a_pod_that_is_ready_counts_before_its_job_has_counted_it() -> None:
    told = {"conditions": [{"type": "Ready", "status": "True"}]}
    ready, other = pod(status=told), pod()
    for each in (ready, other):
        each["metadata"]["labels"]["batch.kubernetes.io/job-name"] = "demo-node-0"
    jobs = [plain_job(), plain_job("worker", status={"ready": 1})]
    seen = with_ready(jobs, [ready, other])
    assert [job["status"].get("ready") for job in seen] == [1, 1]
    assert with_ready(jobs, [other]) == jobs
